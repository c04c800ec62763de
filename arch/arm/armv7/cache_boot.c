/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: makes memory that was written fetchable (arch_cache_publish, arch/arch.h). */
#include "arch/arch.h"

void arch_cache_publish(const void *start, size_t size)
{
	arch_cache_clean(start, size);
	SYSREG_WRITE(ICIALLUIS, 0);
	SYSREG_WRITE(BPIALLIS, 0);
	arch_barrier();
	arch_isb();
}
