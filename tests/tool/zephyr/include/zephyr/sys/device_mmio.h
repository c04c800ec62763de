/* SPDX-License-Identifier: Apache-2.0 */
/* As kernel.h beside it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t mm_reg_t;

void device_map(mm_reg_t *virt_addr, uintptr_t phys_addr, size_t size, uint32_t flags);
