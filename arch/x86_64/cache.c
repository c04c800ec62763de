/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: cache maintenance of arch/arch.h, of which this processor needs none. */
#include "arch/arch.h"

/* Caches are coherent, with instruction fetch too: APM vol. 2, 7.6.1 "Cache Organization and Operation". */
void arch_cache_clean(const void *start, size_t size) {}
