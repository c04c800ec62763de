/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: how many counters a guest has. */
#include "pmu.h"

#include "hal/arm/stage2.h"

/* Of them the monitor keeps none: HPMN = N, as the register's description asks of those who use none. */
unsigned pmu_grant(void)
{
	return pmu_is_there() ? pmu_counters() : PMU_TPM | PMU_TPMCR;
}
