/* SPDX-License-Identifier: Apache-2.0 */
/* Other cores, by PSCI (DEN 0022) 5.4 "CPU_ON". They come in at core_start, entry_boot.S of the architecture. */
#include "hal/hal.h"

#include "arch/arm/firmware.h"

extern char core_start[];

enum hal_status hal_core_start(uint64_t hardware_id, uint32_t argument)
{
	return firmware_call(PSCI_CPU_ON, (uintptr_t)hardware_id, (uintptr_t)core_start, argument) ? HAL_E_UNSUPPORTED : HAL_OK;
}
