/* SPDX-License-Identifier: Apache-2.0 */
/* What memory.c asks of AArch64 and ARMv7, whose tables have the same form (aarch64/memory_hw.c, armv7/memory_hw.c). */
#pragma once
#include <stdint.h>

/* What tables name by number: ARM ARM D24.2 "MAIR_EL1"; ARMv7 ARM B4.1 "MAIR0, MAIR1". Device-nGnRE; write-back, allocating. */
enum { MAIR_DEVICE, MAIR_NORMAL };
#define MAIR_VALUE (0x04U << (8 * MAIR_DEVICE) | 0xffU << (8 * MAIR_NORMAL))

/* Has caches forget what they hold of [start, start + bytes), which was written with caches off. Requires: that is the program's to write.
 */
void memory_hw_forget_cached(uint64_t start, uint64_t bytes);

/* Turns the MMU and caches on. `root` is the table for 512 GiB, by 1 GiB; its first four entries are the one for 4 GiB. */
void memory_hw_turn_on(const uint64_t *root);
