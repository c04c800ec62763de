/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for the descriptions of formats, formats_*_boot.c. */
#pragma once
#include "hal/pt/pt.h"

#define BIT(n) (UINT64_C(1) << (n))
/* Bits last:first, of an output address or of the entry that holds it. */
#define BITS(last, first) ((UINT64_C(2) << (last)) - BIT(first))

enum {
	R = HAL_READ,
	RW = HAL_READ | HAL_WRITE,
	RX = HAL_READ | HAL_EXECUTE,
	RWX = HAL_READ | HAL_WRITE | HAL_EXECUTE,

	/* pt_format.permissions */
	SETS_WITHOUT_RWX = 1 << R | 1 << RW | 1 << RX,
	SETS_WITH_RWX = SETS_WITHOUT_RWX | 1 << RWX,

	/* pt_format.leaf_levels: all of them, in every format here; probes narrow struct pt */
	LEAVES = PT_LEAF_4K | PT_LEAF_2M | PT_LEAF_1G,
};
