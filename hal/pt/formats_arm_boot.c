/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ARM processors walk: the long-descriptor format, the same bits from ARMv7's LPAE to AArch64. A table and a page have
 * bits 1:0 = 3, a block 1. Walks are write-back, inner shareable, as start-up code writes the tables with its caches on.
 *
 * ARM ARM: DDI 0487 (A-profile). ARMv7 ARM: DDI 0406C.
 */
#include "hal/pt/format.h"

/* ARM ARM D8.3 "Translation table descriptor formats"; ARMv7 ARM B3.6.1 "Long-descriptor translation table format descriptors". */
#define VALID         BIT(0)
#define TABLE_OR_PAGE BIT(1)
#define SH_INNER      (UINT64_C(3) << 8)
#define AF            BIT(10)
#define XN            BIT(54)
#define DESCRIPTORS                                                                                                              \
	.address = BITS(47, 12), .leaf_levels = LEAVES, .present = VALID, .kind = TABLE_OR_PAGE, .table = VALID | TABLE_OR_PAGE, \
	.page = VALID | TABLE_OR_PAGE | AF, .block = VALID | AF

/*
 * Stage 2: ARM ARM D8.4 "Memory access control" (S2AP, XN), D8.5 "Memory region attributes" (MemAttr); ARMv7 ARM B3.6.2 "Memory
 * attributes in the Long-descriptor translation table format descriptors". RAM is Normal write-back inside and out, inner
 * shareable; a guest may weaken it. Devices are Device-nGnRE.
 */
#define S2AP_READ            (UINT64_C(1) << 6)
#define S2AP_READ_WRITE      (UINT64_C(3) << 6)
#define MEMATTR_NORMAL_WB    (UINT64_C(0xf) << 2)
#define MEMATTR_DEVICE_nGnRE (UINT64_C(1) << 2)
#define STAGE2_ATTRIBUTES                                                                                               \
	.permissions = SETS_WITH_RWX,                                                                                   \
	.permission = { [R] = XN | S2AP_READ, [RW] = XN | S2AP_READ_WRITE, [RX] = S2AP_READ, [RWX] = S2AP_READ_WRITE }, \
	.memory = { [HAL_MEMORY_RAM] = SH_INNER | MEMATTR_NORMAL_WB, [HAL_MEMORY_DEVICE] = MEMATTR_DEVICE_nGnRE }

/* VTCR_EL2: RES1 (31) | PS = 40 bits | TG0 = 4 KiB | SH0 inner | ORGN0, IRGN0 write-back | SL0 = level 1 | T0SZ = 64 - 39. */
const struct pt_format pt_stage2 = {
	.name = "VMSAv8-64 stage 2",
	.control = 0x80023559,
	.ia_bits = 39,
	.oa_bits = 40,
	.levels = 3,
	DESCRIPTORS,
	STAGE2_ATTRIBUTES,
};

/* VTCR: RES1 (31) | SH0 inner | ORGN0, IRGN0 write-back | SL0 = level 1 | T0SZ = 0: 32 bits, four slots at level 1. */
const struct pt_format pt_lpae = {
	.name = "LPAE stage 2",
	.control = 0x80003540,
	.ia_bits = 32,
	.oa_bits = 40,
	.levels = 3,
	DESCRIPTORS,
	STAGE2_ATTRIBUTES,
};

/*
 * Stage 1 of the monitor itself: ARM ARM D8.4 "Memory access control": in a regime of one exception level AP[1] is RES1
 * and AP[2] means read-only. AttrIndx counts in PT_HOST_MAIR.
 */
#define AP_RES1         BIT(6)
#define AP_READ_ONLY    BIT(7)
#define ATTRINDX_NORMAL (UINT64_C(0) << 2)
#define ATTRINDX_DEVICE (UINT64_C(1) << 2)
#define HOST_ATTRIBUTES                                                                                          \
	.permissions = SETS_WITHOUT_RWX,                                                                         \
	.permission = { [R] = XN | AP_RES1 | AP_READ_ONLY, [RW] = XN | AP_RES1, [RX] = AP_RES1 | AP_READ_ONLY }, \
	.memory = { [HAL_MEMORY_RAM] = SH_INNER | ATTRINDX_NORMAL, [HAL_MEMORY_DEVICE] = ATTRINDX_DEVICE }

/* TCR_EL2: RES1 (31, 23) | PS = 40 bits | TG0 = 4 KiB | SH0 inner | ORGN0, IRGN0 write-back | T0SZ = 64 - 39. */
const struct pt_format pt_el2 = {
	.name = "VMSAv8-64 EL2",
	.control = 0x80823519,
	.ia_bits = 39,
	.oa_bits = 40,
	.levels = 3,
	DESCRIPTORS,
	HOST_ATTRIBUTES,
};

/* HTCR: RES1 (31, 23) | SH0 inner | ORGN0, IRGN0 write-back | T0SZ = 0: 32 bits. */
const struct pt_format pt_hyp = {
	.name = "LPAE PL2",
	.control = 0x80803500,
	.ia_bits = 32,
	.oa_bits = 40,
	.levels = 3,
	DESCRIPTORS,
	HOST_ATTRIBUTES,
};
