/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: starts a core that waits in the boot loader for a word of RAM to change (spin_table.h). */
#include "hal/arm/spin_table.h"

#include "arch/arch.h"
#include "tlb.h"

uint64_t spin_table_cores[BH_MAX_CORES];

/* The word is read with caches off, and so is what the core looks up first. The number goes before the entry. */
static void release(uint64_t *word, uint64_t hardware_id, uint32_t argument)
{
	spin_table_cores[argument] = hardware_id;
	arch_cache_clean(&spin_table_cores[argument], sizeof(spin_table_cores[argument]));
	arch_barrier();
	__atomic_store_n(word, (uintptr_t)core_start_released, __ATOMIC_RELEASE);
	arch_cache_clean(word, sizeof(*word));
	arch_barrier();
	stage2_wake();
}

enum hal_status spin_table_start(struct board_releases releases, uint64_t hardware_id, uint32_t argument)
{
	for (uint32_t n = 0; n < releases.count; n++)
		if (releases.at[n].core == hardware_id) {
			release((uint64_t *)(uintptr_t)releases.at[n].address, hardware_id, argument);
			return HAL_OK;
		}
	return HAL_E_UNSUPPORTED;
}
