/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.memory. What lies in memory after a mapping, word for word as the processor manuals want it. Nothing here is computed from a
 * format's description: every expected word is written out, one row for each permission set, memory type and leaf size.
 */
#include "frames.h"
#include "check.h"
#include "hal/pt/pt.h"

enum { R = 1, W = 2, X = 4 };
#define RAM  HAL_MEMORY_RAM
#define DEV  HAL_MEMORY_DEVICE
#define KiB4 UINT64_C(0x1000)
#define MiB2 UINT64_C(0x200000)
#define GiB1 UINT64_C(0x40000000)

struct row {
	unsigned permissions;
	enum hal_memory memory;
	uint64_t oa, size;
	uint64_t leaf;
};

/* clang-format off: columns. */
/* SDM vol. 3C, tables 29-2 to 29-7: bits 0 R, 1 W, 2 X, 5:3 type (6 WB, 0 UC), 6 ignore PAT, 7 large. */
static const struct row ept[] = {
	{ R, RAM, 0x12345000, KiB4, 0x0000000012345031 },
	{ R | W, RAM, 0x12345000, KiB4, 0x0000000012345033 },
	{ R | X, RAM, 0x12345000, KiB4, 0x0000000012345035 },
	{ R | W | X, RAM, 0x12345000, KiB4, 0x0000000012345037 },
	{ R, DEV, 0xfee00000, KiB4, 0x00000000fee00001 },
	{ R | W, DEV, 0xfee00000, KiB4, 0x00000000fee00003 },
	{ R | W | X, RAM, 0x12400000, MiB2, 0x00000000124000b7 },
	{ R | W, DEV, 0xfe000000, MiB2, 0x00000000fe000083 },
	{ R | W | X, RAM, 0x80000000, GiB1, 0x00000000800000b7 },
	{ R | W, DEV, 0xc0000000, GiB1, 0x00000000c0000083 },
	{ R | W | X, RAM, 0xffffffffff000, KiB4, 0x000ffffffffff037 },
};

/* APM vol. 2, figures 5-17 to 5-26: bits 0 P, 1 R/W, 2 U/S, 3 PWT, 4 PCD, 5 A, 6 D, 7 PS, 63 NX. */
static const struct row npt[] = {
	{ R, RAM, 0x12345000, KiB4, 0x8000000012345025 },
	{ R | W, RAM, 0x12345000, KiB4, 0x8000000012345067 },
	{ R | X, RAM, 0x12345000, KiB4, 0x0000000012345025 },
	{ R | W | X, RAM, 0x12345000, KiB4, 0x0000000012345067 },
	{ R, DEV, 0xfee00000, KiB4, 0x80000000fee0003d },
	{ R | W, DEV, 0xfee00000, KiB4, 0x80000000fee0007f },
	{ R | W | X, RAM, 0x12400000, MiB2, 0x00000000124000e7 },
	{ R | W, DEV, 0xfe000000, MiB2, 0x80000000fe0000ff },
	{ R | W | X, RAM, 0x80000000, GiB1, 0x00000000800000e7 },
	{ R | W, DEV, 0xc0000000, GiB1, 0x80000000c00000ff },
	{ R | W | X, RAM, 0xffffffffff000, KiB4, 0x000ffffffffff067 },
};

/* IOMMU 48882, 2.2.3: bits 0 PR, 11:9 next level (0 in a leaf of any size), 60 FC, 61 IR, 62 IW. */
static const struct row amdvi[] = {
	{ R, RAM, 0x12345000, KiB4, 0x3000000012345001 },          { R | W, RAM, 0x12345000, KiB4, 0x7000000012345001 },
	{ R | W, RAM, 0x12400000, MiB2, 0x7000000012400001 },      { R | W, RAM, 0x80000000, GiB1, 0x7000000080000001 },
	{ R | W, RAM, 0xffffffffff000, KiB4, 0x700ffffffffff001 },
};

/* VT-d 9.8: bits 0 R, 1 W, 7 large. */
static const struct row vtd[] = {
	{ R, RAM, 0x12345000, KiB4, 0x0000000012345001 },          { R | W, RAM, 0x12345000, KiB4, 0x0000000012345003 },
	{ R | W, RAM, 0x12400000, MiB2, 0x0000000012400083 },      { R | W, RAM, 0x80000000, GiB1, 0x0000000080000083 },
	{ R | W, RAM, 0xffffffffff000, KiB4, 0x000ffffffffff003 },
};

static const struct row long_mode[] = {
	{ R, RAM, 0x12345000, KiB4, 0x8000000012345021 },     { R | W, RAM, 0x12345000, KiB4, 0x8000000012345063 },
	{ R | X, RAM, 0x12345000, KiB4, 0x0000000012345021 }, { R, DEV, 0xfee00000, KiB4, 0x80000000fee00039 },
	{ R | W, DEV, 0xfee00000, KiB4, 0x80000000fee0007b }, { R | X, RAM, 0x12400000, MiB2, 0x00000000124000a1 },
	{ R | W, DEV, 0xfe000000, MiB2, 0x80000000fe0000fb }, { R | W, RAM, 0x80000000, GiB1, 0x80000000800000e3 },
	{ R | W, DEV, 0xc0000000, GiB1, 0x80000000c00000fb },
};

/*
 * ARM ARM D8.3, ARMv7 ARM B3.6: bits 1:0 3 page, 1 block; 5:2 MemAttr (15 write-back, 1 Device-nGnRE); 7:6 S2AP (1 read, 3 both);
 * 9:8 SH (3 inner); 10 AF; 54 XN.
 */
static const struct row arm_stage2[] = {
	{ R, RAM, 0x12345000, KiB4, 0x004000001234577f },           { R | W, RAM, 0x12345000, KiB4, 0x00400000123457ff },
	{ R | X, RAM, 0x12345000, KiB4, 0x000000001234577f },       { R | W | X, RAM, 0x12345000, KiB4, 0x00000000123457ff },
	{ R, DEV, 0x09000000, KiB4, 0x0040000009000447 },           { R | W, DEV, 0x09000000, KiB4, 0x00400000090004c7 },
	{ R | W | X, RAM, 0x12400000, MiB2, 0x00000000124007fd },   { R | W, DEV, 0x08000000, MiB2, 0x00400000080004c5 },
	{ R | W | X, RAM, 0x80000000, GiB1, 0x00000000800007fd },   { R | W, DEV, 0xc0000000, GiB1, 0x00400000c00004c5 },
	{ R | W | X, RAM, 0xfffffff000, KiB4, 0x000000fffffff7ff },
};

/* As above, with 4:2 AttrIndx (0 write-back, 1 device), 6 AP[1] always, 7 AP[2] read-only. */
static const struct row arm_host[] = {
	{ R, RAM, 0x12345000, KiB4, 0x00400000123457c3 },     { R | W, RAM, 0x12345000, KiB4, 0x0040000012345743 },
	{ R | X, RAM, 0x12345000, KiB4, 0x00000000123457c3 }, { R, DEV, 0x09000000, KiB4, 0x00400000090004c7 },
	{ R | W, DEV, 0x09000000, KiB4, 0x0040000009000447 }, { R | X, RAM, 0x12400000, MiB2, 0x00000000124007c1 },
	{ R | W, DEV, 0x08000000, MiB2, 0x0040000008000445 }, { R | W, RAM, 0x80000000, GiB1, 0x0040000080000741 },
	{ R | W, DEV, 0xc0000000, GiB1, 0x00400000c0000445 },
};

/* clang-format on */

#define ROWS(array) (array), sizeof(array) / sizeof((array)[0])
static const struct {
	const struct pt_format *format;
	uint64_t control; /* EPTP, N_CR3, words of IOMMU entries, CR3, VTCR_EL2, VTCR, TCR_EL2, HTCR */
	uint64_t table;   /* entry that points to a table, without its address */
	uint64_t level;   /* times the level of the table, from 1 */
	unsigned levels;
	const struct row *rows;
	size_t row_count;
} goldens[] = {
	{ &pt_ept, 0x1e, 0x07, 0, 4, ROWS(ept) },
	{ &pt_npt, 0, 0x27, 0, 4, ROWS(npt) },
	{ &pt_amdvi, 0x6000000000000803, 0x6000000000000003, 0x200, 4, ROWS(amdvi) },
	{ &pt_vtd, 2, 0x03, 0, 4, ROWS(vtd) },
	{ &pt_long, 0, 0x23, 0, 4, ROWS(long_mode) },
	{ &pt_stage2, 0x80023559, 0x03, 0, 3, ROWS(arm_stage2) },
	{ &pt_lpae, 0x80003540, 0x03, 0, 3, ROWS(arm_stage2) },
	{ &pt_el2, 0x80823519, 0x03, 0, 3, ROWS(arm_host) },
	{ &pt_hyp, 0x80803500, 0x03, 0, 3, ROWS(arm_host) },
};

/* The processor's walk, written out: 9 bits of the address a level, tables at bits 51:12 of an entry. */
static uint64_t walk(const struct pt *pt, unsigned levels, uint64_t size, uint64_t ia, uint64_t table_word, uint64_t level_word)
{
	unsigned shift = 12 + 9 * (levels - 1);
	const uint64_t *table = pt->root;

	for (; UINT64_C(1) << shift != size; shift -= 9) {
		uint64_t entry = table[ia >> shift & 511];

		CHECK_EQ(entry & ~UINT64_C(0x000ffffffffff000), table_word | (shift - 12) / 9 * level_word);
		table = (const uint64_t *)(uintptr_t)(entry & UINT64_C(0x000ffffffffff000));
	}
	return table[ia >> shift & 511];
}

static void test_row(unsigned n, const struct row *row)
{
	const uint64_t pml4_slot = goldens[n].levels == 4 ? UINT64_C(0x2a8000000000) : 0;
	const uint64_t ia = pml4_slot + (0xc0a07000 & ~(row->size - 1)); /* another slot at every level */
	struct hal_arena arena = frames_arena(8);
	struct pt pt;

	CHECK_EQ(pt_init(&pt, goldens[n].format, &arena), HAL_OK);
	CHECK_EQ(pt_map(&pt, ia, (hpa_t){ row->oa }, row->size, row->permissions, row->memory), HAL_OK);
	CHECK_EQ(walk(&pt, goldens[n].levels, row->size, ia, goldens[n].table, goldens[n].level), row->leaf);
}

int main(void)
{
	for (unsigned n = 0; n < sizeof(goldens) / sizeof(goldens[0]); n++) {
		check_context.subject = goldens[n].format->name;
		CHECK_EQ(goldens[n].format->control, goldens[n].control);
		for (check_context.round = 0; check_context.round < goldens[n].row_count; check_context.round++)
			test_row(n, &goldens[n].rows[check_context.round]);
	}
	return 0;
}
