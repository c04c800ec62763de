/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F5.alike. Roots of several frames, and addresses that stand elsewhere in an entry: literal words of formats that live in geometries.h
 * alone. */
#include "check.h"
#include "formats.h"
#include "frames.h"
#include "geometries.h"

enum { FRAMES = 32, SKEWED = 3 };
#define KiB4 UINT64_C(0x1000)
#define MiB2 UINT64_C(0x200000)
#define GiB1 UINT64_C(0x40000000)

static struct hal_arena arena;

/* In an arena that begins, but for one, with every misalignment. */
static struct pt empty(const struct pt_format *format, unsigned skip, uint64_t root_bytes)
{
	struct pt pt;

	arena = frames_arena(FRAMES);
	arena.next += skip * BH_PAGE_BYTES;
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_OK);
	CHECK_EQ((uintptr_t)pt.root % root_bytes, 0);
	CHECK_EQ(pt.table_bytes, root_bytes);
	CHECK_EQ(arena.next - (uintptr_t)pt.root, root_bytes);
	for (uint64_t n = 0; n < root_bytes / sizeof(*pt.root); n++)
		CHECK_EQ(pt.root[n], 0);
	return pt;
}

static void test_root(const struct pt_format *format, uint64_t root_bytes)
{
	const uint64_t last = (UINT64_C(1) << format->ia_bits) - GiB1;

	check_context.subject = format->name;
	for (unsigned skip = 0; skip < SKEWED; skip++) {
		struct pt pt = empty(format, skip, root_bytes);
		struct hal_leaf leaf;

		CHECK_EQ(pt_map(&pt, last, (hpa_t){ 2 * GiB1 }, GiB1, RW, HAL_MEMORY_RAM), HAL_OK);
		for (uint64_t n = 0; n < root_bytes / sizeof(*pt.root); n++)
			CHECK_EQ(pt.root[n] != 0, n == root_bytes / sizeof(*pt.root) - 1);
		CHECK(pt_query(&pt, last + 0x1234, &leaf));
		CHECK_EQ(leaf.hpa.v, 2 * GiB1 + 0x1234);
		CHECK_EQ(pt_map(&pt, last + GiB1, (hpa_t){ 0 }, KiB4, RW, HAL_MEMORY_RAM), HAL_E_RANGE);
		CHECK_EQ(pt_unmap(&pt, last, GiB1), HAL_OK);
		CHECK(!pt_query(&pt, last, &leaf));
	}
	arena = frames_arena((unsigned)(root_bytes / BH_PAGE_BYTES) - 1);
	CHECK_EQ(pt_init(&(struct pt){ 0 }, format, &arena), HAL_E_NOMEM);
}

static const struct row {
	unsigned permissions;
	enum hal_memory memory;
	uint64_t oa, size, leaf;
} sv39x4[] = {
	{ R, HAL_MEMORY_RAM, 0x80201000, KiB4, 0x0000000020080453 },
	{ RW, HAL_MEMORY_RAM, 0x80201000, KiB4, 0x00000000200804d7 },
	{ RX, HAL_MEMORY_RAM, 0x80201000, KiB4, 0x000000002008045b },
	{ RWX, HAL_MEMORY_RAM, 0x80201000, KiB4, 0x00000000200804df },
	{ RW, HAL_MEMORY_DEVICE, 0x10000000, KiB4, 0x40000000040000d7 },
	{ RWX, HAL_MEMORY_RAM, 0x80200000, MiB2, 0x00000000200800df },
	{ RWX, HAL_MEMORY_RAM, 0x80000000, GiB1, 0x00000000200000df },
	{ RWX, HAL_MEMORY_RAM, 0x00fffffffffff000, KiB4, 0x003ffffffffffcdf },
};

/* Tables point as leaves do: PPN and V. */
static void test_sv39x4(void)
{
	const uint64_t ia = 5 * GiB1;

	check_context.subject = "Sv39x4, words";
	for (check_context.round = 0; check_context.round < sizeof(sv39x4) / sizeof(sv39x4[0]); check_context.round++) {
		const struct row *row = &sv39x4[check_context.round];
		struct pt pt = empty(&geometry_sv39x4, 1, 0x4000);
		const uint64_t *entry = pt.root + 5;
		struct hal_leaf leaf;

		CHECK_EQ(pt_map(&pt, ia, (hpa_t){ row->oa }, row->size, row->permissions, row->memory), HAL_OK);
		for (uint64_t table = (uintptr_t)pt.root + 0x4000, bytes = GiB1; bytes > row->size; bytes /= 512, table += KiB4) {
			CHECK_EQ(*entry, table / 4 | 1);
			entry = (const uint64_t *)(uintptr_t)table;
		}
		CHECK_EQ(*entry, row->leaf);
		CHECK(pt_query(&pt, ia + row->size - 1, &leaf));
		CHECK_EQ(leaf.hpa.v, row->oa + row->size - 1);
		CHECK_EQ(leaf.permissions, row->permissions);
		CHECK_EQ(leaf.memory, row->memory);
	}
}

int main(void)
{
	test_root(&geometry_sv39x4, 0x4000);
	test_root(&geometry_concatenated, 0x2000);
	for (unsigned n = 0; n < FORMATS; n++) {
		check_context.subject = every_format[n]->name;
		empty(every_format[n], n, BH_PAGE_BYTES);
	}
	test_sv39x4();
	return 0;
}
