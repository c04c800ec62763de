/* SPDX-License-Identifier: Apache-2.0 */
/* The performance monitors of this core. ARM ARM D24.5 has each register by name. */
#pragma once
#include "arch/arm/aarch64/sysreg.h"

/* PMCR_EL0: the cycle counter 0, counting nothing; LC, which is RES1 where there is no AArch32. */
enum { PMU_RESET = 1 << 2 | 1 << 6 };

#define PMU_WRITE(name, value) SYSREG_WRITE(name##_EL0, value)

/* ID_AA64DFR0_EL1.PMUVer: 0 none, 15 one that is not the architecture's. */
static inline bool pmu_is_there(void)
{
	unsigned version = SYSREG_READ(ID_AA64DFR0_EL1) >> 8 & 15;

	return version && version != 15;
}

/* PMCR_EL0.N, as EL2 reads it: all of the core's. */
static inline unsigned pmu_counters(void)
{
	return SYSREG_READ(PMCR_EL0) >> 11 & 31;
}

/* What pmu_grant says of this core. */
static inline unsigned pmu_granted(void)
{
	return (unsigned)SYSREG_READ(MDCR_EL2);
}

/* Overflows of these neither stand nor interrupt. */
static inline void pmu_clear_overflow(uint32_t counters)
{
	SYSREG_WRITE(PMINTENCLR_EL1, counters);
	SYSREG_WRITE(PMOVSCLR_EL0, counters);
}
