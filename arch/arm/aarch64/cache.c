/* SPDX-License-Identifier: Apache-2.0 */
/* ARM ARM D7.5 "Caches": what a monitor wrote with its caches on, a guest may read with its own off. */
#include "arch/arch.h"

/* CTR_EL0.DminLine: log2 of the words in the smallest data cache line. */
static uint64_t data_line_bytes(void)
{
	return UINT64_C(4) << (SYSREG_READ(CTR_EL0) >> 16 & 15);
}

void arch_cache_clean(const void *start, size_t size)
{
	uint64_t line = data_line_bytes();
	uint64_t end = (uintptr_t)start + size;

	for (uint64_t address = (uintptr_t)start & ~(line - 1); address < end; address += line)
		__asm__ volatile("dc civac, %0" : : "r"(address) : "memory");
	arch_barrier();
}
