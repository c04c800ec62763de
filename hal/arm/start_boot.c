/* SPDX-License-Identifier: Apache-2.0 */
/* Other cores, as the board starts them: a row a method. */
#include "hal/hal.h"

#include "arch/arm/firmware.h"
#include "board.h"
#include "hal/arm/spin_table.h"

extern char core_start[];

/* PSCI (DEN 0022) 5.4 "CPU_ON". The core comes in at core_start, entry_boot.S of the architecture. */
static enum hal_status start_by_psci(uint64_t hardware_id, uint32_t argument)
{
	return firmware_call(PSCI_CPU_ON, (uintptr_t)hardware_id, (uintptr_t)core_start, argument) ? HAL_E_UNSUPPORTED : HAL_OK;
}

static enum hal_status start_by_spin_table(uint64_t hardware_id, uint32_t argument)
{
	return spin_table_start(board.start.releases, hardware_id, argument);
}

static enum hal_status (*const methods[])(uint64_t hardware_id, uint32_t argument) = {
	[BOARD_START_PSCI] = start_by_psci,
	[BOARD_START_SPIN_TABLE] = start_by_spin_table,
};

enum hal_status hal_core_start(uint64_t hardware_id, uint32_t argument)
{
	return methods[board.start.by](hardware_id, argument);
}
