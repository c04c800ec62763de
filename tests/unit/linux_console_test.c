/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.terminal. bulkhead-console between a sandbox and who types: nobody is kept, however much the sandbox says, and what is typed goes
 * in messages as long as a slot. tools/linux/console/carry.c
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "tools/linux/console/carry.h"

enum { LEAVES = 0x1c, SLOTS = 4, SLOT_BYTES = 8, MOST_CALLS = 1000, SENT = 64 };

static int next, calls; /* what bulkhead_receive returns: bytes or -errno; how often it was asked */
static char sent[SENT];

int bulkhead_receive(const struct bulkhead_channel *channel, void *data, size_t room, int limit_ms)
{
	CHECK(calls++ < MOST_CALLS && limit_ms == 0);
	if (next > 0)
		memset(data, 'x', (size_t)next);
	return next;
}

int bulkhead_send(const struct bulkhead_channel *channel, const void *data, size_t length, int limit_ms)
{
	CHECK(length <= SLOT_BYTES && strlen(sent) + length + 1 < SENT);
	strncat(sent, data, length);
	strcat(sent, "|");
	return (int)length;
}

const char *bulkhead_error_text(int error)
{
	return strerror(-error);
}

/* Both ways, with `text` typed and then the end of input, while each message is of that length, or -errno. Returns the program's status. */
static int carried(int message, const char *text)
{
	struct bulkhead_channel says = { .info.slots = SLOTS }, hears = { .info.slot_bytes = SLOT_BYTES };
	int typed[2], out = open("/dev/null", O_WRONLY), status;

	CHECK(out >= 0 && pipe(typed) == 0);
	says.file = open("/dev/zero", O_RDONLY); /* there is always more */
	CHECK(write(typed[1], text, strlen(text)) == (ssize_t)strlen(text));
	close(typed[1]);
	next = message;
	calls = 0;
	sent[0] = '\0';
	status = carry(&says, &hears, typed[0], out, LEAVES, 0);
	close(typed[0]);
	close(says.file);
	close(out);
	return status;
}

int main(void)
{
	static const int unending[] = { SLOT_BYTES, -EBADMSG, -ECONNRESET };

	for (unsigned n = 0; n < sizeof(unending) / sizeof(unending[0]); n++) {
		CHECK_EQ(carried(unending[n], "\x1c"), ENDED);
		CHECK_EQ(calls, SLOTS);
	}
	CHECK_EQ(carried(-ETIMEDOUT, "0123456789\r"), ENDED);
	CHECK(!strcmp(sent, "01234567|89\r|"));
	CHECK_EQ(carried(-ETIMEDOUT, "ab\x1c"), ENDED);
	CHECK(!*sent);
	CHECK_EQ(carried(-EPIPE, ""), GONE);
	CHECK_EQ(carried(-EPROTO, ""), REFUSED);
	return 0;
}
