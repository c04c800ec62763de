/* SPDX-License-Identifier: Apache-2.0 */
/* Is this a machine that can be split? Every feature is looked at before any is used. Then, core by core, stops what a loader left on. */
#include "hal/arm/disarm.h"
#include "hal/arm/stage2.h"
#include "hal/iommu/iommu.h"

#include "arch/arch.h"

static const char *core_disarm(void)
{
	const struct disarm_control *on = disarm(&disarm_this_core);

	return on ? disarm_refusal(on->name, 0) : NULL;
}

static const char *(*const steps[])(void) = { processor_missing, gic_missing, core_disarm, gic_disarm, iommu_missing };

enum hal_status hal_probe(const char **missing)
{
	for (size_t n = 0; n < sizeof(steps) / sizeof(steps[0]); n++) {
		const char *why = steps[n]();

		if (!why)
			continue;
		*missing = why;
		return HAL_E_UNSUPPORTED;
	}
	return HAL_OK;
}

bool hal_core_disarm(struct hal_core *core)
{
	core->guest.trap = disarm(&disarm_this_core) != NULL;
	return !core->guest.trap;
}

uint64_t hal_machine_core_id(void)
{
	return arch_core_id();
}
