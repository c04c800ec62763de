/* SPDX-License-Identifier: Apache-2.0 */
/* Is this a machine that can be split? Every feature is looked at before any is used. */
#include "hal/stage2/stage2.h"

#include "arch/arch.h"

enum hal_status hal_probe(const char **missing)
{
	const char *why = processor_missing();

	if (!why)
		why = gic_missing();
	if (!why)
		return HAL_OK;
	*missing = why;
	return HAL_E_UNSUPPORTED;
}

uint64_t hal_machine_core_id(void)
{
	return arch_core_id();
}
