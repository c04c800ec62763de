/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.memory. What the builder does when it cannot: no frames left at any allocation, a refused request, an order it must keep. */
#include "check.h"
#include "fake_arch.h"
#include "formats.h"
#include "frames.h"

#define MiB2 UINT64_C(0x200000)
#define GiB1 UINT64_C(0x40000000)
enum { ENOUGH_FRAMES = 32, MISSING_TABLES = 4, RW = HAL_READ | HAL_WRITE, RX = HAL_READ | HAL_EXECUTE };

static struct pt pt;
static struct hal_arena arena;

/*
 * From the 2 MiB block of a neighbour, whose tables it shares, across a 1 GiB edge. oa is aligned to nothing, so what is
 * missing are three tables of 4 KiB leaves and one above them.
 */
static const uint64_t neighbour = GiB1 - 2 * MiB2;
static const uint64_t start = GiB1 - MiB2 - 0x3000, size = 2 * MiB2 + 0x5000;

static void prepare(const struct pt_format *format)
{
	arena = frames_arena(ENOUGH_FRAMES);
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_OK);
	CHECK_EQ(pt_map(&pt, neighbour, (hpa_t){ 0x8000000 }, 0x1000, RW, HAL_MEMORY_RAM), HAL_OK);
}

static enum hal_status attempt(void)
{
	return pt_map(&pt, start, (hpa_t){ 0x10000000 }, size, pt.format->permissions >> RX & 1 ? RX : RW, HAL_MEMORY_RAM);
}

static void check_unchanged(void)
{
	struct hal_leaf leaf;

	CHECK(pt_query(&pt, neighbour, &leaf));
	CHECK_EQ(leaf.hpa.v, 0x8000000);
	CHECK_EQ(leaf.permissions, RW);
	for (uint64_t ia = neighbour + 0x1000; ia < start + size + 2 * MiB2; ia += 0x1000)
		CHECK(!pt_query(&pt, ia, &leaf));
}

static uint64_t frames_needed(const struct pt_format *format)
{
	uint64_t before;

	prepare(format);
	before = arena.next;
	CHECK_EQ(attempt(), HAL_OK);
	return (arena.next - before) / BH_PAGE_BYTES;
}

/* With every number of frames that is too small: nothing mapped, and with the last frame back the same request succeeds. */
static void test_exhaustion(const struct pt_format *format)
{
	const uint64_t needed = frames_needed(format);
	struct hal_leaf leaf;

	CHECK_EQ(needed, MISSING_TABLES);
	for (check_context.round = 0; check_context.round < needed; check_context.round++) {
		prepare(format);
		arena.end = arena.next + check_context.round * BH_PAGE_BYTES;
		CHECK_EQ(attempt(), HAL_E_NOMEM);
		check_unchanged();
		arena.end = arena.next + (needed - check_context.round) * BH_PAGE_BYTES;
		CHECK_EQ(attempt(), HAL_OK);
		CHECK(pt_query(&pt, start + size - 1, &leaf));
	}
}

static void test_no_root(const struct pt_format *format)
{
	arena = frames_arena(0);
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_E_NOMEM);
}

/* A refused request takes no frame. */
static void test_refusal_is_free(const struct pt_format *format)
{
	uint64_t next;

	prepare(format);
	next = arena.next;
	CHECK_EQ(pt_map(&pt, neighbour - MiB2, (hpa_t){ 0x10001000 }, MiB2 + 0x1000, HAL_READ, HAL_MEMORY_RAM), HAL_E_OVERLAP);
	CHECK_EQ(pt_map(&pt, start, (hpa_t){ 0 }, size, RX, HAL_MEMORY_DEVICE), HAL_E_PERMISSION);
	CHECK_EQ(pt_map(&pt, start, (hpa_t){ 0 }, size, HAL_WRITE, HAL_MEMORY_RAM), HAL_E_PERMISSION);
	CHECK_EQ(pt_map(&pt, start, (hpa_t){ 0x800 }, size, RW, HAL_MEMORY_RAM), HAL_E_RANGE);
	CHECK_EQ(arena.next, next);
	check_unchanged();
}

static uint64_t arena_at_last_barrier;

/* Fails if a table that was taken since the last barrier can be reached. 'level': of the table's entries. */
static void check_no_new_table(uint64_t table, unsigned level)
{
	CHECK(table < arena_at_last_barrier);
	for (unsigned n = 0; level && n < 512; n++) {
		uint64_t entry = ((const uint64_t *)(uintptr_t)table)[n];
		bool is_table = entry & pt.format->present && (entry & pt.format->kind) == (pt.format->table & pt.format->kind);

		if (is_table)
			check_no_new_table(entry & UINT64_C(0xffffff000), level - 1);
	}
}

/* The frame just taken is all zero and nobody can reach it yet. */
static void on_barrier(void)
{
	check_no_new_table((uintptr_t)pt.root, pt.format->levels - 1u);
	for (uint64_t word = arena_at_last_barrier; word < arena.next; word += 8)
		CHECK_EQ(*(const uint64_t *)(uintptr_t)word, 0);
	arena_at_last_barrier = arena.next;
}

static void test_fenced_before_linked(const struct pt_format *format)
{
	prepare(format);
	arena_at_last_barrier = arena.next;
	fake_arch = (struct fake_arch){ .on_barrier = on_barrier };
	CHECK_EQ(attempt(), HAL_OK);
	CHECK_EQ(fake_arch.barriers, MISSING_TABLES + 1); /* one for each, one for all leaves */
	fake_arch = (struct fake_arch){ 0 };
	CHECK_EQ(pt_unmap(&pt, start, size), HAL_OK);
	CHECK_EQ(fake_arch.barriers, 1);
	check_unchanged();
}

int main(void)
{
	for (unsigned n = 0; n < FORMATS; n++) {
		check_context.subject = every_format[n]->name;
		test_no_root(every_format[n]);
		test_exhaustion(every_format[n]);
		test_refusal_is_free(every_format[n]);
		test_fenced_before_linked(every_format[n]);
	}
	return 0;
}
