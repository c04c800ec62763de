/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/arch.h"

void arch_cache_publish(const void *start, size_t size) {}
