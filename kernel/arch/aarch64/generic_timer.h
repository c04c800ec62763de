/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual timer's registers: Arm ARM, chapter D12 "The Generic Timer in AArch64 state". */
#pragma once
#include <stdint.h>

#include "sysreg.h"

static inline uint64_t generic_timer_hz(void)
{
	return SYSREG_READ(cntfrq_el0);
}

static inline void generic_timer_compare(uint64_t deadline)
{
	SYSREG_WRITE(cntv_cval_el0, deadline);
}

static inline void generic_timer_control(uint32_t value)
{
	SYSREG_WRITE(cntv_ctl_el0, value);
}
