/* SPDX-License-Identifier: Apache-2.0 */
/* Performance monitors, for counters.c. ARM ARM D24.5 has each register by name. */
#pragma once
#include "sysreg.h"

#define PMU_READ(name)         SYSREG_READ(name##_EL0)
#define PMU_WRITE(name, value) SYSREG_WRITE(name##_EL0, value)

/* A set bit: the counter interrupts when it overflows; it has overflowed. */
static inline uint32_t pmu_interrupting(void)
{
	return (uint32_t)SYSREG_READ(PMINTENSET_EL1);
}

static inline void pmu_let_interrupt(uint32_t counters)
{
	SYSREG_WRITE(PMINTENSET_EL1, counters);
}

static inline uint32_t pmu_overflowed(void)
{
	return (uint32_t)SYSREG_READ(PMOVSCLR_EL0);
}

static inline void pmu_clear_overflow(uint32_t counters)
{
	SYSREG_WRITE(PMOVSCLR_EL0, counters);
}
