/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that firmware, or a loader, has left waiting on a word of RAM each: Devicetree Specification 0.4, 3.8.1 "General Properties of
 * /cpus/cpu* nodes", `enable-method` "spin-table" and `cpu-release-addr`; Linux, Documentation/arch/arm64/booting.rst, 4 "Call the kernel
 * image".
 */
#pragma once
#include "abi/table.h"
#include "arch/board.h"
#include "hal/hal.h"

/* Hardware numbers of the cores that were released, by machine core number: such a core arrives without an argument, and looks here. */
extern uint64_t spin_table_cores[BH_MAX_CORES];
/* entry_boot.S: where they enter. */
extern char core_start_released[];

/*
 * Starts the core of that hardware number, which becomes machine core `argument`: writes its entry where the core waits for it, and wakes
 * it. Requires: boot core, one to one; `argument` below BH_MAX_CORES. Returns HAL_OK, even if no core waits there, because a core does not
 * answer; or HAL_E_UNSUPPORTED (the board names no word for it).
 */
HAL_CHECKED enum hal_status spin_table_start(struct board_releases releases, uint64_t hardware_id, uint32_t argument);
