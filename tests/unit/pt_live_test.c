/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F5.live. Stage 2 that changes while guests run: hal/pt/pt_live.c, on one core. Literal words of a hole, a leaf put and a leaf taken;
 * each wrong argument; and, for every stage-2 format, ten thousand random steps against a list of what each page should be. What several
 * cores do to each other is pt_live_race_test.c's.
 */
#include <string.h>

#include "check.h"
#include "frames.h"
#include "geometries.h"
#include "hal/pt/pt_live.h"

enum { FRAMES = 64, CORES = 2, STEPS = 10000, PAGES = 96, BLOCKS = 4 };
#define KiB4   UINT64_C(0x1000)
#define MiB2   UINT64_C(0x200000)
#define SMALL  UINT64_C(0x401f0000) /* across the edge of a table: pages */
#define LARGE  UINT64_C(0x50000000) /* blocks */
#define BESIDE UINT64_C(0x60000000) /* mapped by start-up, for good */

static const struct pt_format *const formats[] = { &pt_ept, &pt_npt, &pt_stage2, &pt_lpae, &geometry_sv39x4 };
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static struct hal_arena arena;
static struct pt pt;
static struct pt_live live;
static uint64_t root[512], tables;

static void prepare(const struct pt_format *format)
{
	arena = frames_arena(FRAMES);
	check_context.subject = format->name;
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_OK);
	CHECK_EQ(pt_map(&pt, BESIDE, (hpa_t){ BESIDE }, MiB2, RW, HAL_MEMORY_RAM), HAL_OK);
	pt_live_create(&live, &pt, CORES);
	CHECK_EQ(pt_live_reserve(&live, &pt, SMALL, PAGES * KiB4, 0), HAL_OK);
	CHECK_EQ(pt_live_reserve(&live, &pt, LARGE, BLOCKS * MiB2, 1), HAL_OK);
	memcpy(root, pt.root, sizeof(root));
	tables = pt.table_bytes;
}

/* Both cores have invalidated. */
static void acknowledge(void)
{
	uint32_t generation;

	for (uint32_t slot = 0; slot < CORES; slot++)
		if (pt_live_pending(&live, slot, &generation))
			pt_live_acknowledge(&live, slot, generation);
	CHECK(pt_live_is_clear(&live));
}

/* The word at the end of the way to `ia`, found by hand: `shift` is what an address stands further right in an entry. */
static uint64_t word_at(uint64_t ia, unsigned levels, unsigned last, uint64_t address, unsigned shift)
{
	const uint64_t *table = pt.root;

	for (unsigned level = levels - 1; level > last; level--)
		table = (const uint64_t *)(uintptr_t)((table[ia >> (12 + 9 * level) & 511] & address) << shift);
	return table[ia >> (12 + 9 * last) & 511];
}

static void test_words(void)
{
	static const struct {
		const struct pt_format *format;
		uint64_t page, block; /* 0x12345000, read and write; 0x12400000, all */
	} rows[] = {
		{ &pt_ept, 0x0000000012345033, 0x00000000124000b7 },          { &pt_npt, 0x8000000012345067, 0x00000000124000e7 },
		{ &pt_stage2, 0x00400000123457ff, 0x00000000124007fd },       { &pt_lpae, 0x00400000123457ff, 0x00000000124007fd },
		{ &geometry_sv39x4, 0x00000000048d14d7, 0x00000000049000df },
	};

	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct pt_format *format = rows[n].format;
		const uint64_t address = n == 4 ? UINT64_C(0x003ffffffffffc00) : UINT64_C(0x0000fffffffff000);
		const unsigned levels = n < 2 ? 4 : 3, shift = n == 4 ? 2 : 0;

		prepare(format);
		CHECK_EQ(word_at(SMALL + KiB4, levels, 0, address, shift), 0);
		CHECK_EQ(pt_live_put(&live, SMALL + KiB4, (hpa_t){ 0x12345000 }, KiB4, RW, HAL_MEMORY_RAM), HAL_OK);
		CHECK_EQ(word_at(SMALL + KiB4, levels, 0, address, shift), rows[n].page);
		CHECK_EQ(word_at(SMALL, levels, 0, address, shift), 0);
		CHECK_EQ(word_at(SMALL + 2 * KiB4, levels, 0, address, shift), 0);
		CHECK_EQ(pt_live_take(&live, SMALL + KiB4, KiB4), HAL_OK);
		CHECK_EQ(word_at(SMALL + KiB4, levels, 0, address, shift), 0);
		acknowledge();
		CHECK_EQ(pt_live_put(&live, LARGE + MiB2, (hpa_t){ 0x12400000 }, MiB2, RWX, HAL_MEMORY_RAM), HAL_OK);
		CHECK_EQ(word_at(LARGE + MiB2, levels, 1, address, shift), rows[n].block);
		CHECK_EQ(pt_live_take(&live, LARGE + MiB2, MiB2), HAL_OK);
		CHECK_EQ(word_at(LARGE + MiB2, levels, 1, address, shift), 0);
	}
}

/* ---- Wrong arguments ---- */

static void test_reserve(void)
{
	static const struct {
		uint64_t ia, size;
		unsigned level;
		enum hal_status expected;
	} rows[] = {
		{ 0x48000000, 2 * KiB4, 0, HAL_OK },
		{ 0x48000000, KiB4 + 8, 0, HAL_E_RANGE },
		{ 0x48000000, 0, 0, HAL_E_RANGE },
		{ 0x48001000, MiB2, 1, HAL_E_RANGE },
		{ 0x40000000, 0x40000000, 3, HAL_E_RANGE },
		{ BESIDE, KiB4, 0, HAL_E_OVERLAP },
		{ BESIDE - MiB2, 2 * MiB2, 1, HAL_E_OVERLAP },
		{ SMALL, KiB4, 0, HAL_E_OVERLAP },          /* reserved */
		{ LARGE + MiB2, KiB4, 0, HAL_E_OVERLAP },   /* reserved, for larger leaves */
		{ 0x40000000, 2 * MiB2, 1, HAL_E_OVERLAP }, /* a table divides it */
	};

	for (check_context.round = 0; check_context.round < sizeof(rows) / sizeof(rows[0]); check_context.round++) {
		prepare(&pt_ept);
		CHECK_EQ(pt_live_reserve(&live, &pt, rows[check_context.round].ia, rows[check_context.round].size,
					 rows[check_context.round].level),
			 rows[check_context.round].expected);
		CHECK_EQ(live.range_count, rows[check_context.round].expected == HAL_OK ? 3 : 2);
	}
	prepare(&pt_npt);
	CHECK_EQ(pt_reserve(&pt, 0x48001000, MiB2, 1), HAL_E_RANGE);
	pt.executable_leaf_levels = PT_LEAF_4K;
	CHECK_EQ(pt_live_reserve(&live, &pt, 0x48000000, MiB2, 1), HAL_E_PERMISSION);
	arena.end = arena.next;
	CHECK_EQ(pt_live_reserve(&live, &pt, 0x10000000, KiB4, 0), HAL_E_NOMEM);
	CHECK_EQ(live.range_count, 2);
}

static void test_refused(void)
{
	static const struct {
		uint64_t ia, oa, size;
		unsigned permissions;
		enum hal_memory memory;
		enum hal_status put, take;
	} rows[] = {
		{ SMALL, 0, 2 * KiB4, RW, HAL_MEMORY_RAM, HAL_E_OVERLAP, HAL_E_OVERLAP }, /* its second page alone is a leaf */
		{ BESIDE, 0, MiB2, RW, HAL_MEMORY_RAM, HAL_E_DENIED, HAL_E_DENIED },
		{ SMALL - KiB4, 0, 2 * KiB4, RW, HAL_MEMORY_RAM, HAL_E_DENIED, HAL_E_DENIED },
		{ SMALL, 0, (PAGES + 1) * KiB4, RW, HAL_MEMORY_RAM, HAL_E_DENIED, HAL_E_DENIED },
		{ SMALL + KiB4, 0, -KiB4, RW, HAL_MEMORY_RAM, HAL_E_DENIED, HAL_E_DENIED },
		{ SMALL, 0, 0, RW, HAL_MEMORY_RAM, HAL_E_RANGE, HAL_E_RANGE },
		{ SMALL, 0, 8, RW, HAL_MEMORY_RAM, HAL_E_RANGE, HAL_E_RANGE },
		{ SMALL, 8, KiB4, RW, HAL_MEMORY_RAM, HAL_E_RANGE, HAL_E_OVERLAP },
		{ SMALL, UINT64_C(1) << 60, KiB4, RW, HAL_MEMORY_RAM, HAL_E_RANGE, HAL_E_OVERLAP },
		{ LARGE, KiB4, MiB2, RW, HAL_MEMORY_RAM, HAL_E_RANGE, HAL_E_OVERLAP },
		{ LARGE, 0, KiB4, RW, HAL_MEMORY_RAM, HAL_E_RANGE, HAL_E_RANGE },
		{ SMALL, 0, KiB4, HAL_WRITE, HAL_MEMORY_RAM, HAL_E_PERMISSION, HAL_E_OVERLAP },
		{ SMALL, 0, KiB4, 8, HAL_MEMORY_RAM, HAL_E_PERMISSION, HAL_E_OVERLAP },
		{ SMALL, 0, KiB4, RX, HAL_MEMORY_DEVICE, HAL_E_PERMISSION, HAL_E_OVERLAP },
	};
	struct hal_leaf leaf;

	for (size_t n = 0; n < FORMATS; n++)
		for (check_context.round = 0; check_context.round < sizeof(rows) / sizeof(rows[0]); check_context.round++) {
			prepare(formats[n]);
			CHECK_EQ(pt_live_put(&live, SMALL + KiB4, (hpa_t){ 0x1000 }, KiB4, RW, HAL_MEMORY_RAM), HAL_OK);
			CHECK_EQ(pt_live_put(&live, rows[check_context.round].ia, (hpa_t){ rows[check_context.round].oa },
					     rows[check_context.round].size, rows[check_context.round].permissions,
					     rows[check_context.round].memory),
				 rows[check_context.round].put);
			CHECK_EQ(pt_live_take(&live, rows[check_context.round].ia, rows[check_context.round].size),
				 rows[check_context.round].take);
			CHECK(!pt_live_query(&live, SMALL, &leaf));
			CHECK(pt_live_query(&live, SMALL + KiB4, &leaf));
			CHECK(pt_live_query(&live, BESIDE, &leaf));
			CHECK(!pt_live_query(&live, UINT64_C(1) << 60, &leaf));
			CHECK(pt_live_is_clear(&live));
		}
}

/* Nothing comes to a place that a core may still translate in the old way. */
static void test_not_clear(void)
{
	uint32_t generation;

	prepare(&pt_ept);
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x1000 }, KiB4, RW, HAL_MEMORY_RAM), HAL_OK);
	CHECK_EQ(pt_live_take(&live, SMALL, KiB4), HAL_OK);
	for (uint32_t slot = 0; slot < CORES; slot++) {
		CHECK(!pt_live_is_clear(&live));
		CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x2000 }, KiB4, RW, HAL_MEMORY_RAM), HAL_E_DENIED);
		CHECK(pt_live_pending(&live, slot, &generation));
		pt_live_acknowledge(&live, slot, generation);
		CHECK(!pt_live_pending(&live, slot, &generation));
	}
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x2000 }, KiB4, RW, HAL_MEMORY_RAM), HAL_OK);
}

/* ---- Retries ---- */

static void test_retry(void)
{
	enum { PATIENCE = 100 };

	prepare(&pt_npt);
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x1000 }, KiB4, R, HAL_MEMORY_RAM), HAL_OK);
	CHECK(!pt_live_retry(&live, 0, SMALL + KiB4, R, 0, PATIENCE));
	CHECK(!pt_live_retry(&live, 0, BESIDE, R, 0, PATIENCE));
	CHECK(!pt_live_retry(&live, 0, SMALL, RW, 0, PATIENCE)); /* it is read-only: that is a fault */
	pt_live_replace_begin(&live, SMALL, KiB4);
	CHECK(!pt_live_retry(&live, 0, SMALL + KiB4, R, 0, PATIENCE));
	for (uint64_t now = 7; now <= 7 + PATIENCE; now++)
		CHECK(pt_live_retry(&live, 0, SMALL, R, now, PATIENCE));
	CHECK(!pt_live_retry(&live, 0, SMALL, R, 8 + PATIENCE, PATIENCE));
	CHECK(pt_live_retry(&live, 1, SMALL, R, 8 + PATIENCE, PATIENCE));
	pt_live_replace_end(&live);
	CHECK(pt_live_retry(&live, 0, SMALL, R, 500, PATIENCE)); /* a leaf by now */
	pt_live_replace_begin(&live, SMALL, KiB4);
	CHECK(pt_live_retry(&live, 0, SMALL, R, 900, PATIENCE)); /* another change */
	pt_live_restore(&live);
	CHECK(!pt_live_retry(&live, 0, SMALL, R, 900, PATIENCE));
	CHECK(!pt_live_is_clear(&live));
}

/* Replacements that never end: each is another change, and each time the access finds a hole. */
static void test_series(void)
{
	enum { PATIENCE = 100, STEP = PATIENCE / 2 };
	uint64_t now = 1000;

	prepare(&pt_npt);
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x1000 }, KiB4, R, HAL_MEMORY_RAM), HAL_OK);
	for (unsigned life = 0; life < 2; life++) {
		const uint64_t first = now;

		for (; now - first <= PT_LIVE_SERIES * PATIENCE; now += STEP) {
			pt_live_replace_begin(&live, SMALL, KiB4);
			CHECK(pt_live_retry(&live, 0, SMALL, R, now, PATIENCE));
			pt_live_replace_end(&live);
		}
		CHECK(!pt_live_retry(&live, 0, SMALL, R, now, PATIENCE));
		CHECK(pt_live_retry(&live, 1, SMALL, R, now, PATIENCE)); /* the other core's patience is its own */
		if (!life)
			now += PATIENCE + 1; /* it has got on: another series */
		else
			pt_live_restore(&live);
	}
	pt_live_replace_begin(&live, SMALL, KiB4);
	CHECK(pt_live_retry(&live, 0, SMALL, R, now, PATIENCE));
	now += PATIENCE + 1;
	CHECK(!pt_live_retry(&live, 0, SMALL, R, now, PATIENCE)); /* a pause does not lengthen the same change */
	pt_live_restore(&live);
	pt_live_replace_begin(&live, SMALL, KiB4);
	CHECK(pt_live_retry(&live, 0, SMALL, R, now, PATIENCE));
}

/* A core that meets a hole at every step, for a long migration that pauses as pt_live.h says, never faults. */
static void test_pauses(void)
{
	enum { PATIENCE = 100, STEP = PATIENCE / 2, MIGRATION = 100 };
	uint64_t now = 7;

	check_context.subject = "pauses";
	prepare(&pt_npt);
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x1000 }, KiB4, R, HAL_MEMORY_RAM), HAL_OK);
	for (unsigned round = 0; round < MIGRATION; round++) {
		const uint64_t first = now;

		check_context.round = round;
		for (; now - first <= (PT_LIVE_SERIES - 2) * PATIENCE; now += STEP) {
			pt_live_replace_begin(&live, SMALL, KiB4);
			CHECK(pt_live_retry(&live, 0, SMALL, R, now, PATIENCE));
			pt_live_replace_end(&live);
		}
		now = first + PT_LIVE_SERIES * PATIENCE;
	}
	check_context.round = 0;
}

/* ---- Kicks ---- */

enum { VALID = 1 };

/* As hal/arm/kick.c does, to entries that are in use. */
static void poison(void)
{
	for (unsigned n = 0; n < 4; n++)
		pt.root[n] &= ~(uint64_t)VALID;
}

/* What a kick takes from the root for a while, an editor and a look find all the same. */
static void test_poisoned(const struct pt_format *format)
{
	const uint64_t at_root = 0x80000000, nowhere = 0xc0000000;
	uint64_t poisoned[4];
	struct hal_leaf leaf;

	prepare(format);
	CHECK_EQ(pt_map(&pt, at_root, (hpa_t){ at_root }, 0x40000000, RW, HAL_MEMORY_RAM), HAL_OK);
	poison();
	memcpy(poisoned, pt.root, sizeof(poisoned));
	CHECK(!(poisoned[at_root >> 30] & VALID) && poisoned[at_root >> 30]);
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x12345000 }, 2 * KiB4, RW, HAL_MEMORY_RAM), HAL_OK);
	CHECK(pt_live_query(&live, SMALL + KiB4, &leaf));
	CHECK_EQ(leaf.hpa.v, 0x12346000);
	CHECK(pt_live_query(&live, BESIDE, &leaf));
	CHECK(pt_live_query(&live, at_root, &leaf));
	CHECK_EQ(leaf.size, 0x40000000);
	CHECK_EQ(leaf.permissions, RW);
	CHECK(!pt_live_query(&live, nowhere, &leaf));
	CHECK(pt_live_retry(&live, 0, SMALL, RW, 0, 1)); /* it is there: the access is tried again */
	CHECK_EQ(pt_live_put(&live, SMALL, (hpa_t){ 0x12345000 }, KiB4, RW, HAL_MEMORY_RAM), HAL_E_OVERLAP);
	CHECK_EQ(pt_live_take(&live, SMALL, 2 * KiB4), HAL_OK);
	CHECK(!pt_live_query(&live, SMALL, &leaf));
	acknowledge();
	CHECK_EQ(pt_live_put(&live, LARGE, (hpa_t){ MiB2 }, MiB2, RW, HAL_MEMORY_RAM), HAL_OK);
	pt_live_restore(&live);
	CHECK(!pt_live_query(&live, LARGE, &leaf));
	CHECK(!memcmp(poisoned, pt.root, sizeof(poisoned)));
}

/* ---- Ten thousand steps ---- */

static struct model_page {
	bool leaf;
	uint64_t oa;
	unsigned permissions;
	enum hal_memory memory;
} pages[PAGES], blocks[BLOCKS];
static uint64_t random_state;
static unsigned done[2], refused;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t below(uint64_t bound)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % bound;
}

static void check_place(uint64_t ia, uint64_t size, const struct model_page *model)
{
	struct hal_leaf leaf = { .size = 1 };

	CHECK_EQ(pt_live_query(&live, ia + size - 1, &leaf), model->leaf);
	CHECK_EQ(leaf.size, model->leaf ? size : 1);
	if (!model->leaf)
		return;
	CHECK_EQ(leaf.hpa.v, model->oa + size - 1);
	CHECK_EQ(leaf.permissions, model->permissions);
	CHECK_EQ(leaf.memory, model->memory);
}

/* Start-up's tables and leaves are as they were. */
static void check_all(void)
{
	struct hal_leaf leaf;

	for (unsigned n = 0; n < PAGES; n++)
		check_place(SMALL + n * KiB4, KiB4, &pages[n]);
	for (unsigned n = 0; n < BLOCKS; n++)
		check_place(LARGE + n * MiB2, MiB2, &blocks[n]);
	CHECK(!memcmp(root, pt.root, sizeof(root)));
	CHECK_EQ(pt.table_bytes, tables);
	CHECK(pt_query(&pt, BESIDE, &leaf));
	CHECK_EQ(leaf.size, MiB2);
}

static void step(void)
{
	static const unsigned sets[] = { R, RW, RX, RWX };
	const bool large = !below(4), put = below(2), clear = pt_live_is_clear(&live);
	struct model_page *model = large ? blocks : pages;
	const uint64_t span = large ? MiB2 : KiB4, base = large ? LARGE : SMALL, count = large ? BLOCKS : PAGES;
	const uint64_t first = below(count), number = 1 + below(large ? 2 : 5), oa = below(256) * span;
	const enum hal_memory memory = below(4) ? HAL_MEMORY_RAM : HAL_MEMORY_DEVICE;
	const unsigned permissions = memory == HAL_MEMORY_DEVICE ? sets[below(2)] : sets[below(4)];
	enum hal_status expected = first + number > count ? HAL_E_DENIED : HAL_OK, status;

	for (uint64_t n = first; n < first + number && expected == HAL_OK; n++)
		if (model[n].leaf == put)
			expected = HAL_E_OVERLAP;
	if (put && !clear)
		expected = HAL_E_DENIED;
	status = put ? pt_live_put(&live, base + first * span, (hpa_t){ oa }, number * span, permissions, memory)
		     : pt_live_take(&live, base + first * span, number * span);
	CHECK_EQ(status, expected);
	if (status != HAL_OK) {
		refused++;
		return;
	}
	done[put]++;
	for (uint64_t n = 0; n < number; n++)
		model[first + n] = (struct model_page){ put, oa + n * span, permissions, memory };
}

static void test_steps(const struct pt_format *format)
{
	prepare(format);
	memset(pages, 0, sizeof(pages));
	memset(blocks, 0, sizeof(blocks));
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++) {
		step();
		if (below(3))
			acknowledge();
		if (!below(500)) {
			pt_live_restore(&live);
			memset(pages, 0, sizeof(pages));
			memset(blocks, 0, sizeof(blocks));
		}
		if (!(check_context.round % 16))
			check_all();
	}
	check_all();
}

int main(void)
{
	test_words();
	test_reserve();
	test_refused();
	test_not_clear();
	test_retry();
	test_series();
	test_pauses();
	test_poisoned(&pt_stage2);
	test_poisoned(&pt_lpae);
	for (size_t n = 0; n < FORMATS; n++)
		test_steps(formats[n]);
	printf("%u put, %u taken, %u refused\n", done[1], done[0], refused);
	CHECK(done[0] > STEPS / 2 && done[1] > STEPS / 2 && refused > STEPS / 2);
	return 0;
}
