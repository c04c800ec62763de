// SPDX-License-Identifier: Apache-2.0
/* Takes what a sandbox says of itself, or refuses it (value.h). */
#include "value.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are used as they come");

#define NS_PER_S 1e9
enum { LONGEST_S = 3600 }; /* between two values that are compared */

static void make_printable(uint8_t *name, size_t room)
{
	size_t n = 0;

	for (; n < room - 1 && name[n]; n++)
		if (name[n] <= ' ' || name[n] > '~')
			name[n] = '?';
	memset(name + n, 0, room - n);
}

static const char *why_not(const struct bh_telemetry *value)
{
	if (value->magic != BH_TELEMETRY_MAGIC)
		return "it is something else";
	if (value->version != BH_TELEMETRY_VERSION)
		return "it is of another version";
	if (value->vcpu_count > BH_TELEMETRY_VCPUS)
		return "it claims too many VCPUs";
	if (value->channel_count > BH_TELEMETRY_CHANNELS)
		return "it claims too many channels";
	if (value->exit_kinds > BH_EXIT_SLOTS)
		return "it claims too many kinds of exits";
	return NULL;
}

const char *value_take(struct bh_telemetry *value, const void *bytes, size_t length)
{
	struct bh_telemetry found;
	const char *why;

	if (length != sizeof(found))
		return "it has another length";
	memcpy(&found, bytes, sizeof(found));
	why = why_not(&found);
	if (why)
		return why;
	for (uint32_t n = 0; n < found.vcpu_count; n++) {
		make_printable(found.vcpu[n].name, sizeof(found.vcpu[n].name));
		make_printable(found.vcpu[n].program, sizeof(found.vcpu[n].program));
	}
	for (uint32_t n = 0; n < found.channel_count; n++) {
		make_printable(found.channel[n].name, sizeof(found.channel[n].name));
		make_printable(found.channel[n].peer, sizeof(found.channel[n].peer));
	}
	*value = found;
	return NULL;
}

double value_seconds(const struct bh_telemetry *now, const struct bh_telemetry *before)
{
	const double seconds = (double)(now->time - before->time) / NS_PER_S; /* back in time is far ahead */

	if (now->life != before->life || now->number <= before->number)
		return 0;
	return seconds <= LONGEST_S ? seconds : 0;
}

double value_rate(uint64_t now, uint64_t before, double seconds)
{
	return seconds > 0 && now >= before ? (double)(now - before) / seconds : -1;
}
