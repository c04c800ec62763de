/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance monitors are the guest's, and its core is nobody else's, so all there is to do is that no life finds what another left.
 * PMSELR 31 selects the cycle counter's filter. The registers have these names in both architectures: pmu.h.
 */
#include "pmu.h"

#include "hal/arm/stage2.h"

enum { CYCLE_COUNTER = 31 };

static void clear_filter(unsigned counter)
{
	PMU_WRITE(PMSELR, counter);
	arch_isb();
	PMU_WRITE(PMXEVTYPER, 0);
}

void guest_clear_counters(void)
{
	unsigned granted = pmu_granted(), left = granted & PMU_HPMN;
	uint32_t guests = UINT32_C(1) << CYCLE_COUNTER | ~(UINT32_MAX << left);

	if (granted & PMU_TPM)
		return;
	PMU_WRITE(PMCR, PMU_RESET);
	PMU_WRITE(PMUSERENR, 0);
	PMU_WRITE(PMCNTENCLR, guests);
	pmu_clear_overflow(guests);
	clear_filter(CYCLE_COUNTER);
	while (left--) {
		clear_filter(left);
		PMU_WRITE(PMXEVCNTR, 0);
	}
	PMU_WRITE(PMSELR, 0);
}
