/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "bulkhead.h"

/* What every processor's entry point does with its argument. */
static inline _Noreturn void enter(const struct bh_info *info)
{
	bulkhead_main(info);
	bulkhead_call(BH_CALL_PARK, 0);
	for (;;)
		bulkhead_sleep();
}
