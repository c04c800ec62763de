/* SPDX-License-Identifier: Apache-2.0 */
/* What every processor's entry point has in common: it runs bulkhead_main, then parks. */
#pragma once
#include "bulkhead.h"

/*
 * No debug information for the entry: by the time a backtrace shows its argument, the register that held it has another value, and the
 * debugger would show that one.
 */
#define BACKTRACES_END __attribute__((nodebug))

/* What every processor's entry point does with its argument. */
BACKTRACES_END static inline _Noreturn void enter(const struct bh_info *info)
{
	bulkhead_main(info);
	bulkhead_call(BH_CALL_PARK, 0);
	for (;;)
		bulkhead_sleep();
}
