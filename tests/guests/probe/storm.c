/* SPDX-License-Identifier: Apache-2.0 */
/* Storms: exits of one kind, as many as the processor can make. */
#include "probe/storm.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"

static uint64_t do_nothing(uint64_t a, uint64_t b)
{
	return 0;
}

static uint64_t call_version(uint64_t a, uint64_t b)
{
	return (uint64_t)info_call_monitor(BH_CALL_VERSION, 0, 0);
}

/* Sandbox 0, which has to be another. */
static uint64_t call_kick(uint64_t a, uint64_t b)
{
	return (uint64_t)info_call_monitor(BH_CALL_KICK, a, 0);
}

/* What is open is opened anew, and what is closed is closed again: the same work each time. */
static uint64_t call_open(uint64_t a, uint64_t b)
{
	return (uint64_t)info_call_monitor(BH_CALL_OPEN, a, 0);
}

static uint64_t call_close(uint64_t a, uint64_t b)
{
	return (uint64_t)info_call_monitor(BH_CALL_CLOSE, a, 0);
}

static const struct storm storms[] = {
	{ "call", call_version, 0, NULL },        { "open", call_open, 0, NULL },
	{ "close", call_close, 0, NULL },         { "open-largest", call_open, 1, NULL },
	{ "close-largest", call_close, 1, NULL }, { "open-huge", call_open, 2, NULL },
	{ "close-huge", call_close, 2, NULL },    { "kick", call_kick, 0, NULL },
	{ "none", do_nothing, 0, NULL },          { NULL, NULL, 0, NULL },
};

static const struct storm *find(const struct storm *storm, const char *kind)
{
	for (; storm->kind; storm++)
		if (text_equal(kind, storm->kind))
			return storm;
	return NULL;
}

bool storm_prepare(const char *kind, struct strike *strike)
{
	const struct storm *storm = *kind ? find(storms, kind) : storms;

	if (!storm)
		storm = find(arch_storms, kind);
	if (!storm)
		return false;
	*strike = (struct strike){ storm, { storm->operand, 0 } };
	if (storm->prepare)
		storm->prepare(strike->operands);
	return true;
}

void storm_strike(const struct strike *strike)
{
	uint64_t value;

	if (!cpu_attempt(strike->storm->attempt, strike->operands[0], strike->operands[1], &value) && fault_last()->is_sent)
		fault_take(fault_last(), false);
}
