/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "bulkhead.h"

/*
 * Of what stands here no debugger knows a variable: the argument's register has long been used for something else when a backtrace would show it.
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
