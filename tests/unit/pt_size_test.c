/* SPDX-License-Identifier: Apache-2.0 */
/* BH-P1.tables. What tables cost: the figures the project promises, and the geometry they rest on. */
#include "check.h"
#include "formats.h"
#include "frames.h"

#define GiB1 UINT64_C(0x40000000)
enum { BUDGET_BYTES = 12 * 1024, RW = HAL_READ | HAL_WRITE, RX = HAL_READ | HAL_EXECUTE, ENOUGH_FRAMES = 1100 };

static struct hal_arena arena;

static struct pt empty(const struct pt_format *format)
{
	struct pt pt;

	arena = frames_arena(ENOUGH_FRAMES);
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_OK);
	return pt;
}

/* RAM of an aligned 1 GiB sandbox, with 1 GiB leaves and on a machine that has none. */
static void test_one_gigabyte(const struct pt_format *format, unsigned leaf_levels)
{
	struct pt pt = empty(format);

	pt.leaf_levels = (uint8_t)leaf_levels;
	CHECK_EQ(pt_map(&pt, GiB1, (hpa_t){ 2 * GiB1 }, GiB1, RW, HAL_MEMORY_RAM), HAL_OK);
	CHECK(pt.table_bytes <= BUDGET_BYTES);
	CHECK_EQ(pt.table_bytes, arena.next - (uintptr_t)pt.root);
}

/* Where large executable leaves are forbidden, data keeps them. */
static void test_small_executable_leaves(const struct pt_format *format)
{
	struct pt pt = empty(format);
	struct hal_leaf leaf;

	pt.executable_leaf_levels = PT_LEAF_4K;
	CHECK_EQ(pt_map(&pt, 0, (hpa_t){ 0 }, 0x200000, RX, HAL_MEMORY_RAM), HAL_OK);
	CHECK_EQ(pt_map(&pt, GiB1, (hpa_t){ GiB1 }, GiB1, RW, HAL_MEMORY_RAM), HAL_OK);
	CHECK(pt_query(&pt, 0x1ff000, &leaf));
	CHECK_EQ(leaf.size, 0x1000);
	CHECK(pt_query(&pt, GiB1, &leaf));
	CHECK_EQ(leaf.size, GiB1);
}

/* The greatest address fits, and no word of a format stands where an address or another field belongs. */
static void test_fields_apart(const struct pt_format *format)
{
	const uint64_t address = format->address, greatest = (UINT64_C(1) << format->oa_bits) - 0x1000;
	uint64_t permissions = 0, memory = format->memory[HAL_MEMORY_RAM] | format->memory[HAL_MEMORY_DEVICE];
	uint64_t fixed = format->page | format->block | format->table;

	for (unsigned set = 0; set < 8; set++)
		permissions |= format->permission[set];
	CHECK_EQ(address & (permissions | memory | fixed), 0);
	CHECK_EQ(permissions & memory, 0);
	CHECK_EQ((format->page | format->block) & (permissions | memory), 0);
	CHECK_EQ((greatest >> format->address_shift) & ~address, 0);
	CHECK(format->leaf_levels & PT_LEAF_4K);
}

int main(void)
{
	for (unsigned n = 0; n < FORMATS; n++) {
		check_context.subject = every_format[n]->name;
		test_one_gigabyte(every_format[n], PT_LEAF_4K | PT_LEAF_2M | PT_LEAF_1G);
		test_one_gigabyte(every_format[n], PT_LEAF_4K | PT_LEAF_2M);
		if (n < PROCESSOR_FORMATS)
			test_small_executable_leaves(every_format[n]);
		test_fields_apart(every_format[n]);
	}
	return 0;
}
