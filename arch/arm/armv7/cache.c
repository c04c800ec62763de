/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv7 ARM B2.2 "Caches and branch predictors": what a monitor wrote with its caches on, a guest may read with its own off. */
#include "arch/arch.h"

/* CTR.DminLine: log2 of the words in the smallest data cache line. */
static uintptr_t data_line_bytes(void)
{
	return (uintptr_t)4 << (SYSREG_READ(CTR) >> 16 & 15);
}

void arch_cache_clean(const void *start, size_t size)
{
	uintptr_t line = data_line_bytes();
	uintptr_t first = (uintptr_t)start & ~(line - 1);
	uintptr_t last = ((uintptr_t)start + size - 1) & ~(line - 1);

	if (!size)
		return;
	for (uintptr_t address = first; address != last + line; address += line)
		SYSREG_WRITE(DCCIMVAC, address);
	arch_barrier();
}
