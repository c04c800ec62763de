/* SPDX-License-Identifier: Apache-2.0 */
/* Performance monitors, for counters.c. ARMv7 ARM B4.1 has each register by name. */
#pragma once
#include "sysreg.h"

#define PMU_READ(name)         SYSREG_READ(name)
#define PMU_WRITE(name, value) SYSREG_WRITE(name, value)

/* A set bit: the counter interrupts when it overflows; it has overflowed. */
static inline uint32_t pmu_interrupting(void)
{
	return SYSREG_READ(PMINTENSET);
}

static inline void pmu_let_interrupt(uint32_t counters)
{
	SYSREG_WRITE(PMINTENSET, counters);
}

static inline uint32_t pmu_overflowed(void)
{
	return SYSREG_READ(PMOVSR);
}

static inline void pmu_clear_overflow(uint32_t counters)
{
	SYSREG_WRITE(PMOVSR, counters);
}
