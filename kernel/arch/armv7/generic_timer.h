/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual timer's registers: ARMv7 ARM, chapter B8 "The Generic Timer". */
#pragma once
#include <stdint.h>

#include "sysreg.h"

static inline uint64_t generic_timer_hz(void)
{
	return SYSREG_READ(CNTFRQ);
}

static inline void generic_timer_compare(uint64_t deadline)
{
	SYSREG_WRITE64(CNTV_CVAL, deadline);
}

static inline void generic_timer_control(uint32_t value)
{
	SYSREG_WRITE(CNTV_CTL, value);
}
