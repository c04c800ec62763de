/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats whose geometry none of hal/pt/pt.h has: what a new family or board would bring. They live here alone, so that the builder is
 * known to take them.
 */
#pragma once
#include "hal/pt/format.h"

/*
 * RISC-V Privileged Architecture, "Sv39: Page-Based 39-bit Virtual-Memory System": PPN 53:10, D 7, A 6, U 4, X 3, W 2, R 1, V 0; an entry
 * without R, W and X points to a table. "Svpbmt": 62:61, 2 = IO. "Two-Stage Address Translation": Sv39x4 has 41 bits and a root of 16 KiB,
 * and every guest access counts as a user's. Control: hgatp, MODE 8.
 */
#define SV_VALID    BIT(0)
#define SV_READ     BIT(1)
#define SV_WRITE    BIT(2)
#define SV_EXECUTE  BIT(3)
#define SV_USER     BIT(4)
#define SV_ACCESSED BIT(6)
#define SV_DIRTY    BIT(7)
static const struct pt_format geometry_sv39x4 = {
	.name = "Sv39x4",
	.control = UINT64_C(8) << 60,
	.address = BITS(53, 10),
	.address_shift = 2,
	.ia_bits = 41,
	.oa_bits = 56,
	.levels = 3,
	.leaf_levels = LEAVES,
	.permissions = SETS_WITH_RWX,
	.present = SV_VALID,
	.kind = SV_READ | SV_WRITE | SV_EXECUTE,
	.table = SV_VALID,
	.page = SV_VALID | SV_USER | SV_ACCESSED,
	.block = SV_VALID | SV_USER | SV_ACCESSED,
	.permission = {
		[R] = SV_READ,
		[RW] = SV_READ | SV_WRITE | SV_DIRTY,
		[RX] = SV_READ | SV_EXECUTE,
		[RWX] = SV_READ | SV_WRITE | SV_EXECUTE | SV_DIRTY,
	},
	.memory = { [HAL_MEMORY_RAM] = 0, [HAL_MEMORY_DEVICE] = UINT64_C(2) << 61 },
};

/* VMSAv8-64 stage 2 of 40 bits that begins at level 1: two tables side by side. ARM ARM D8.2.2 "Concatenated translation tables". */
static const struct pt_format geometry_concatenated = {
	.name = "VMSAv8-64 stage 2, concatenated",
	.control = 0x80023558,
	.address = BITS(47, 12),
	.ia_bits = 40,
	.oa_bits = 40,
	.levels = 3,
	.leaf_levels = LEAVES,
	.permissions = SETS_WITH_RWX,
	.present = BIT(0),
	.kind = BIT(1),
	.table = BIT(0) | BIT(1),
	.page = BIT(0) | BIT(1) | BIT(10),
	.block = BIT(0) | BIT(10),
	.permission = { [R] = BIT(54) | BIT(6), [RW] = BIT(54) | UINT64_C(3) << 6, [RX] = BIT(6), [RWX] = UINT64_C(3) << 6 },
	.memory = { [HAL_MEMORY_RAM] = UINT64_C(3) << 8 | UINT64_C(0xf) << 2, [HAL_MEMORY_DEVICE] = UINT64_C(1) << 2 },
};
