/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is published before the machine has been refused. */
#include "arch/arch.h"

void arch_cache_clean(const void *start, size_t size) {}

void arch_cache_publish(const void *start, size_t size) {}
