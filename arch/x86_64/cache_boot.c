/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: arch_cache_publish of arch/arch.h, for which this processor has nothing to do. */
#include "arch/arch.h"

void arch_cache_publish(const void *start, size_t size) {}
