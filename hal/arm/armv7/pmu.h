/* SPDX-License-Identifier: Apache-2.0 */
/* The performance monitors of this core. ARMv7 ARM B4.1 has each register by name. */
#pragma once
#include "arch/arm/armv7/sysreg.h"

/* PMCR: the cycle counter 0, counting nothing. */
enum { PMU_RESET = 1 << 2 };

#define PMU_WRITE(name, value) SYSREG_WRITE(name, value)

/* ID_DFR0.PerfMon: 0 none, 15 one that is not the architecture's. */
static inline bool pmu_is_there(void)
{
	unsigned version = SYSREG_READ(ID_DFR0) >> 24 & 15;

	return version && version != 15;
}

/* PMCR.N, as Hyp mode reads it: all of the core's. */
static inline unsigned pmu_counters(void)
{
	return SYSREG_READ(PMCR) >> 11 & 31;
}

/* What pmu_grant says of this core. */
static inline unsigned pmu_granted(void)
{
	return (unsigned)SYSREG_READ(HDCR);
}

/* Overflows of these neither stand nor interrupt. */
static inline void pmu_clear_overflow(uint32_t counters)
{
	SYSREG_WRITE(PMINTENCLR, counters);
	SYSREG_WRITE(PMOVSR, counters);
}
