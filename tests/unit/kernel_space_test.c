/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.memory. Address spaces of the sandbox kernel against a model of pages: random map, unmap, create, destroy, activate on two cores,
 * with as many frames as there are or few; the same answers, the same leaves to the bit, the same number of tables, and no core's TLB holds
 * what is not there. Once for each format; the words are literals. kernel/core/space.c
 */
#include "kernel/core/space.h"

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/lock.h"
#include "kernel/core/memory.h"
#include "kernel/core/space_entry.h"
#include "kernel_ram.h"
#include "kernel_scarcity.h"
#include "kernel_tlb.h"
#include "kernel_words.h"
#include "random.h"

enum { STEPS = 10000, SPACES = 4, PARTS = 2, PAGES = 2048, LARGE_PAGES = 512, NO_KIND = 0xff };
enum { KERNEL_PART, USER_PART };
#define RAM_START (KERNEL_RAM + 0x5000)

/* ---- Model: two windows of 8 MiB around a boundary between entries of 1 GiB or of the root ----------------------------- */

static struct page {
	uint64_t physical;
	uint8_t kind; /* NO_KIND: a hole */
	bool large;
} model[SPACES][PARTS][PAGES];
static bool lives[SPACES];  /* 0: kernel_space */
static bool kept[PARTS];    /* tables that the root's kernel part leads to, once made, stay: by half of the window */
static uint32_t on[SPACES]; /* cores that may hold it */
static unsigned active[TLB_CORES];
static struct space user_spaces[SPACES];
static unsigned cores;
static uint64_t seen[SPACE_E_ELSEWHERE + 1][2];

static struct space *space_of(unsigned s)
{
	return s ? &user_spaces[s] : &kernel_space;
}

static uint64_t window(unsigned part)
{
	return (part == KERNEL_PART ? GIB : words.user_start + (1ULL << words.root_shift)) - PAGES / 2 * 4096;
}

static unsigned others(void)
{
	unsigned count = 0;

	for (unsigned s = 1; s < SPACES; s++)
		count += lives[s];
	return count;
}

static bool any(unsigned s, unsigned part, unsigned first, unsigned count, bool small)
{
	for (unsigned n = first; n < first + count; n++)
		if (model[s][part][n].kind != NO_KIND && !(small && model[s][part][n].large))
			return true;
	return false;
}

/* A table of pages for 2 MiB that have one, and those above it. Halves of a window lie in different entries of 1 GiB. */
static uint32_t tables_of(unsigned s)
{
	uint32_t count = 1;

	for (unsigned part = s ? USER_PART : KERNEL_PART; part < PARTS; part++) {
		for (unsigned n = 0; n < PAGES; n += LARGE_PAGES)
			count += any(s, part, n, LARGE_PAGES, true);
		for (unsigned half = 0; half < 2; half++) {
			bool filled = any(s, part, half * PAGES / 2, PAGES / 2, false);

			if (words.levels == 3)
				count += part == KERNEL_PART ? kept[half] : filled;
			else if (part == USER_PART)
				count += 2 * filled; /* each half has a root entry of its own */
			else
				count += filled;
		}
		if (words.levels == 4 && part == KERNEL_PART)
			count += kept[0];
	}
	return count;
}

static uint32_t all_tables(void)
{
	uint32_t count = 0;

	for (unsigned s = 0; s < SPACES; s++)
		count += lives[s] ? tables_of(s) : 0;
	return count;
}

static uint32_t table_frames(void)
{
	uint32_t count = 0;

	for (uint64_t at = RAM_START & ~4095ULL; at < KERNEL_RAM + KERNEL_RAM_BYTES; at += 4096)
		count += frames_owner(at) == FRAME_TABLE;
	return count;
}

static void set(unsigned s, unsigned part, unsigned first, unsigned count, uint64_t physical, unsigned kind)
{
	for (unsigned n = first; n < first + count; n++) {
		unsigned start = n & ~(LARGE_PAGES - 1U);
		bool whole = start >= first && start + LARGE_PAGES <= first + count;
		uint64_t at = physical + (uint64_t)(n - first) * 4096;
		bool aligned = (at - (uint64_t)(n - start) * 4096) % (2 << 20) == 0;

		model[s][part][n] = (struct page){ kind == NO_KIND ? 0 : at, (uint8_t)kind, kind != NO_KIND && whole && aligned };
		if (part == KERNEL_PART && kind != NO_KIND)
			kept[words.levels == 3 ? n / (PAGES / 2) : 0] = true;
	}
}

static uint64_t expected_word(unsigned part, const struct page *page)
{
	if (page->kind == NO_KIND)
		return 0;
	return words.leaf[page->kind] | (part == USER_PART ? words.user_part : 0) | (page->large ? words.large : words.page);
}

/* To where one table's holes end, or its leaves no longer lead on. */
static uint64_t alike_from(unsigned s, uint64_t virtual, unsigned shift)
{
	const uint64_t step = 1ULL << shift, table_end = (virtual | (512 * step - 1)) + 1;
	uint64_t end = (virtual | (step - 1)) + 1;
	unsigned other;
	uint64_t entry = tlb_walk(space_of(s), virtual, &other);

	for (; end < table_end; end += step) {
		entry += entry ? step : 0;
		if (tlb_walk(space_of(s), end, &other) != entry || other != shift)
			break;
	}
	return (end < words.end ? end : words.end) - virtual;
}

/* What a walk finds, and what the kernel says, is what the model has. */
static void check_page(unsigned s, unsigned part, unsigned n)
{
	const struct page *page = &model[part == KERNEL_PART ? 0 : s][part][n]; /* the kernel's part is in every space */
	uint64_t virtual = window(part) + (uint64_t)n * 4096, offset = below(4096);
	struct space_view view = space_query(space_of(s), virtual + offset);
	unsigned shift;
	uint64_t entry = tlb_walk(space_of(s), virtual, &shift);
	uint64_t leaf = page->large ? page->physical & ~0x1fffffULL : page->physical;

	CHECK_EQ(entry, page->kind == NO_KIND ? 0 : expected_word(part, page) | leaf);
	CHECK_EQ(view.mapped, page->kind != NO_KIND);
	if (!below(16))
		CHECK_EQ(view.bytes, alike_from(s, virtual + offset, shift));
	if (!view.mapped)
		return;
	CHECK_EQ(shift, page->large ? 21 : 12);
	CHECK_EQ(view.physical, page->physical + offset);
	CHECK_EQ(view.attributes, expected_word(part, page));
}

static void check_everything(void)
{
	for (unsigned s = 0; s < SPACES; s++)
		for (unsigned part = 0; lives[s] && part < PARTS; part++)
			for (unsigned n = 0; n < PAGES; n++)
				check_page(s, part, n);
}

static void check_counts(void)
{
	for (unsigned s = 0; s < SPACES; s++)
		if (lives[s])
			CHECK_EQ(space_of(s)->tables, tables_of(s));
	CHECK_EQ(table_frames(), all_tables());
	tlb_check();
	CHECK(fake_cpu.enabled);
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

static enum space_status expected_map(unsigned s, unsigned part, unsigned first, unsigned count, unsigned kind, uint64_t physical,
				      uint64_t room)
{
	struct page before[PAGES];
	bool kept_before[PARTS];
	uint32_t tables = tables_of(s), needed;

	if (s && part == KERNEL_PART)
		return SPACE_E_RANGE;
	if (kind >= SPACE_USER_TEXT ? part == KERNEL_PART : s != 0)
		return SPACE_E_KIND;
	for (unsigned n = first; n < first + count; n++) {
		if (model[s][part][n].kind != NO_KIND)
			return SPACE_E_OVERLAP;
		if (part == KERNEL_PART && others() && !kept[words.levels == 3 ? n / (PAGES / 2) : 0])
			return SPACE_E_SHARED;
	}
	memcpy(before, model[s][part], sizeof(before));
	memcpy(kept_before, kept, sizeof(kept));
	set(s, part, first, count, physical, kind);
	needed = tables_of(s) - tables;
	memcpy(model[s][part], before, sizeof(before));
	memcpy(kept, kept_before, sizeof(kept));
	return needed <= room ? SPACE_OK : SPACE_E_NOMEM;
}

static unsigned some_length(void)
{
	return 1 + (unsigned)(below(4) ? below(20) : below(3 * LARGE_PAGES));
}

static void random_run(unsigned *first, unsigned *count)
{
	*first = below(2) ? (unsigned)below(PAGES) : (unsigned)below(PAGES / LARGE_PAGES) * LARGE_PAGES;
	*count = below(3) ? some_length() : LARGE_PAGES * (1 + (unsigned)below(2));
	if (*count > PAGES - *first)
		*count = PAGES - *first;
}

static void step_map(unsigned s, unsigned part, unsigned first, unsigned count)
{
	unsigned kind = below(8) ? (s || (part == USER_PART && below(2)) ? SPACE_USER_TEXT : 0) + (unsigned)below(4)
				 : (unsigned)below(SPACE_KINDS);
	uint64_t virtual = window(part) + (uint64_t)first * 4096, physical = 1ULL << 39 | below(1 << 20) << 21, room, writes = tlb_writes;
	enum space_status expected, status;
	bool scarce = !below(3);

	if (below(3))
		physical += (uint64_t)(first % LARGE_PAGES) * 4096;
	if (!below(4))
		physical += 4096;
	if (scarce)
		leave(below(4));
	room = frames_free();
	expected = expected_map(s, part, first, count, kind, physical, room);
	status = space_map(space_of(s), virtual, physical, (uint64_t)count * 4096, (enum space_kind)kind);
	CHECK_EQ(status, expected);
	if (status == SPACE_OK) {
		set(s, part, first, count, physical, kind);
	} else {
		CHECK_EQ(frames_free(), room);
		CHECK_EQ(tlb_writes, writes);
	}
	if (scarce)
		release();
	seen[status][0]++;
}

static bool is_cut(unsigned s, unsigned part, unsigned edge)
{
	return edge < PAGES && edge % LARGE_PAGES && model[s][part][edge].large;
}

static void step_unmap(unsigned s, unsigned part, unsigned first, unsigned count)
{
	enum space_status expected = SPACE_OK, status;
	uint64_t writes = tlb_writes;

	if ((s && part == KERNEL_PART) || is_cut(s, part, first) || is_cut(s, part, first + count))
		expected = SPACE_E_RANGE;
	else if (on[s] & ~(1U << fake_cpu.slot))
		expected = SPACE_E_ELSEWHERE;
	status = space_unmap(space_of(s), window(part) + (uint64_t)first * 4096, (uint64_t)count * 4096);
	CHECK_EQ(status, expected);
	if (status == SPACE_OK)
		set(s, part, first, count, 0, NO_KIND);
	else
		CHECK_EQ(tlb_writes, writes);
	seen[status][1]++;
}

static void step_create(unsigned s)
{
	bool scarce = !below(4);
	enum space_status status;

	if (scarce)
		leave(0);
	status = space_create(space_of(s));
	CHECK_EQ(status, scarce ? SPACE_E_NOMEM : SPACE_OK);
	lives[s] = !scarce;
	if (scarce)
		release();
	if (!lives[s])
		return;
	tlb_check_forgotten(space_of(s)->asid);
	for (unsigned other = 0; other < SPACES; other++)
		CHECK(other == s || !lives[other] || space_of(other)->asid != space_of(s)->asid);
	on[s] = 0;
	for (unsigned n = 0; n < PAGES; n++)
		model[s][USER_PART][n] = (struct page){ .kind = NO_KIND };
}

static void step_destroy(unsigned s)
{
	bool elsewhere = on[s] & ~(1U << fake_cpu.slot);
	unsigned asid = space_of(s)->asid;

	if (active[fake_cpu.slot] == s)
		return;
	CHECK_EQ(space_destroy(space_of(s)), elsewhere ? SPACE_E_ELSEWHERE : SPACE_OK);
	if (elsewhere)
		return;
	lives[s] = false;
	tlb_check_forgotten(asid);
}

static void step_core(unsigned s)
{
	if (below(2) || active[fake_cpu.slot] == s || !s) {
		space_activate(space_of(s));
		active[fake_cpu.slot] = s;
		on[s] |= 1U << fake_cpu.slot;
	} else {
		space_forget(space_of(s));
		on[s] &= ~(1U << fake_cpu.slot);
	}
	CHECK_EQ(space_cores(space_of(s)), on[s]);
}

static void touch_some(void)
{
	for (unsigned n = 0; n < 6; n++) {
		fake_cpu.slot = (unsigned)below(cores);
		tlb_touch(space_of(active[fake_cpu.slot]), window(n % PARTS) + below(PAGES) * 4096);
	}
}

static void begin(unsigned with_cores)
{
	kernel_ram_soil();
	CHECK(frames_init(RAM_START, RAM_START + 100 * 4096));
	CHECK_EQ(space_init(), SPACE_OK);
	memset(lives, 0, sizeof(lives));
	memset(kept, 0, sizeof(kept));
	memset(on, 0, sizeof(on));
	memset(active, 0, sizeof(active));
	lives[0] = true;
	for (unsigned s = 0; s < SPACES; s++)
		for (unsigned n = 0; n < PARTS * PAGES; n++)
			model[s][n / PAGES][n % PAGES] = (struct page){ .kind = NO_KIND };
	cores = with_cores;
	for (fake_cpu.slot = 0; fake_cpu.slot < cores; fake_cpu.slot++) {
		tlb_reset();
		space_expect_core(fake_cpu.slot);
		on[0] |= 1U << fake_cpu.slot;
	}
	fake_cpu.slot = 0;
}

static void end(void)
{
	for (fake_cpu.slot = 0; fake_cpu.slot < cores; fake_cpu.slot++) {
		active[fake_cpu.slot] = 0;
		space_activate(&kernel_space);
		for (unsigned s = 1; s < SPACES; s++)
			if (lives[s])
				space_forget(space_of(s));
	}
	fake_cpu.slot = 0;
	for (unsigned s = 1; s < SPACES; s++)
		if (lives[s]) {
			CHECK_EQ(space_destroy(space_of(s)), SPACE_OK);
			lives[s] = false;
		}
	CHECK_EQ(table_frames(), tables_of(0));
}

static void step(void)
{
	unsigned s = (unsigned)below(SPACES), part = (s ? below(16) : below(2)) ? USER_PART : KERNEL_PART, first, count;

	random_run(&first, &count);
	fake_cpu.slot = (unsigned)below(cores);
	for (unsigned n = 0; n < 4; n++)
		tlb_watch(space_of(active[fake_cpu.slot]), window(n % PARTS) + below(PAGES) * 4096);
	if (!lives[s])
		step_create(s);
	else if (s && !below(60))
		step_destroy(s);
	else if (!below(4))
		step_core(s);
	else if (below(2))
		step_map(s, part, first, count);
	else if (below(8))
		step_unmap(s, part, first, count);
	else
		step_unmap(s, part, below(2) * PAGES / 2, PAGES / 2);
	tlb_watch(NULL, 0);
}

/* The second core goes off, which counts it in no space, or is about to be started. */
static void step_off(void)
{
	fake_cpu.slot = 1;
	if (cores == 2) {
		space_activate(&kernel_space);
		active[1] = 0;
		for (unsigned s = 1; s < SPACES; s++)
			if (lives[s])
				space_forget(space_of(s));
		fake_cpu.enabled = false;
		space_leave_core();
		CHECK(!fake_cpu.enabled);
		fake_cpu.enabled = true;
	}
	fake_cpu.slot = 0;
	if (cores == 1)
		space_expect_core(1);
	cores = 3 - cores;
	for (unsigned s = 0; s < SPACES; s++) {
		on[s] = (on[s] & 1) | (s || cores == 1 ? 0 : 2);
		CHECK(!lives[s] || space_cores(space_of(s)) == on[s]);
	}
}

static void test_random(unsigned with_cores)
{
	begin(with_cores);
	CHECK_EQ(space_map(&kernel_space, window(KERNEL_PART), GIB, 4096, SPACE_DATA), SPACE_OK); /* before others have copies */
	set(0, KERNEL_PART, 0, 1, GIB, SPACE_DATA);
	memset(seen, 0, sizeof(seen));
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++) {
		if (below(2))
			touch_some();
		step();
		if (with_cores == 2 && !below(100))
			step_off();
		check_counts();
		if (check_context.round % 100 == 0)
			check_everything();
	}
	check_everything();
	if (cores < with_cores)
		step_off();
	for (unsigned status = 0; status <= SPACE_E_SHARED; status++)
		CHECK(seen[status][0] > 10 || status == SPACE_E_SHARED); /* of the rest of the root, which a format may not have: below */
	CHECK(seen[SPACE_OK][1] > 100 && seen[SPACE_E_RANGE][1] > 10);
	CHECK(with_cores == 1 || seen[SPACE_E_ELSEWHERE][1] > 100);
	end();
}

/* ---- Single cases ------------------------------------------------------------------------------------------------- */

/* A map that needs a table for each level, once with each number of frames that does not suffice. */
static void test_exhaustion(void)
{
	const uint64_t at = window(USER_PART) + PAGES / 2 * 4096 - 4096;
	const uint32_t needed = 2 * (words.levels - 1);
	struct space space;
	unsigned shift;

	begin(1);
	CHECK_EQ(space_create(&space), SPACE_OK);
	for (uint32_t room = 0; room <= needed; room++) {
		uint64_t writes = tlb_writes;

		check_context.round = room;
		leave(room);
		if (room < needed) {
			CHECK_EQ(space_map(&space, at, 0, 8192, SPACE_USER_DATA), SPACE_E_NOMEM);
			CHECK_EQ(tlb_writes, writes);
			CHECK_EQ(frames_free(), room);
			CHECK_EQ(tlb_walk(&space, at, &shift), 0);
			CHECK_EQ(shift, words.root_shift);
			CHECK_EQ(space.tables, 1);
		} else {
			CHECK_EQ(space_map(&space, at, 0, 8192, SPACE_USER_DATA), SPACE_OK);
			CHECK_EQ(frames_free(), 0);
		}
		release();
	}
	CHECK_EQ(space_destroy(&space), SPACE_OK);
	leave(0);
	CHECK_EQ(space_create(&space), SPACE_E_NOMEM);
	release();
}

static void test_refused(void)
{
	const uint64_t user = words.user_start, last = words.end - 4096;
	struct space space;
	uint64_t free;

	begin(1);
	CHECK_EQ(space_format.grants_end, words.grants_end);
	CHECK_EQ(space_format.user_start, user);
	CHECK_EQ(space_format.end, words.end);
	CHECK_EQ(space_create(&space), SPACE_OK);
	free = frames_free();
	CHECK_EQ(space_map(&space, user + 1, 0, 4096, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user, 1, 4096, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user, 0, 4097, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user, 0, 0, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, words.end, 0, 4096, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, last, 0, 8192, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user, 0, -4096ULL, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user - 4096, 0, 8192, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user, 1ULL << 48, 4096, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&space, user, (1ULL << 48) - 4096, 8192, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&kernel_space, user - 4096, 0, 8192, SPACE_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_map(&kernel_space, 0, 0, 4096, SPACE_USER_DATA), SPACE_E_KIND);
	CHECK_EQ(space_map(&space, user, 0, 4096, SPACE_DATA), SPACE_E_KIND);
	CHECK_EQ(space_map(&space, user, 0, 4096, SPACE_KINDS), SPACE_E_KIND);
	CHECK_EQ(space_map(&space, user - 4096, 0, 4096, SPACE_USER_DATA), SPACE_E_RANGE);
	CHECK_EQ(space_unmap(&space, 0, 4096), SPACE_E_RANGE);
	CHECK_EQ(space_unmap(&space, last, 8192), SPACE_E_RANGE);
	CHECK_EQ(space_unmap(&space, user, 1), SPACE_E_RANGE);
	CHECK_EQ(frames_free(), free);
	CHECK_EQ(space_map(&space, last, (1ULL << 48) - 4096, 4096, SPACE_USER_TEXT), SPACE_OK);
	CHECK_EQ(space_unmap(&space, last, 4096), SPACE_OK);
	CHECK_EQ(frames_free(), free);
	CHECK_EQ(space_destroy(&space), SPACE_OK);
}

/* ASIDs end before frames do, and come back. */
static void test_asids(void)
{
	enum { ASIDS = 255 };
	static struct space space[ASIDS + 1];

	begin(1);
	CHECK(frames_init(RAM_START, RAM_START + 400 * 4096));
	CHECK_EQ(space_init(), SPACE_OK);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned n = 0; n < ASIDS; n++)
			CHECK_EQ(space_create(&space[n]), SPACE_OK);
		CHECK_EQ(space_create(&space[ASIDS]), SPACE_E_NOMEM);
		for (unsigned n = 0; n < ASIDS; n++)
			CHECK_EQ(space_destroy(&space[n]), SPACE_OK);
	}
}

/* While a space has a copy of the root's entries none comes to them. */
static void test_shared(void)
{
	struct space space;

	begin(1);
	CHECK_EQ(space_create(&space), SPACE_OK);
	CHECK_EQ(space_map(&kernel_space, GIB, GIB, 4096, SPACE_DATA), SPACE_E_SHARED);
	CHECK_EQ(space_map(&kernel_space, words.user_start, GIB, 4096, SPACE_DATA), SPACE_OK);
	CHECK_EQ(space_destroy(&space), SPACE_OK);
	CHECK_EQ(space_map(&kernel_space, GIB, GIB, 4096, SPACE_DATA), SPACE_OK);
}

/* What the probe takes its liberties with. */
static void test_entries(void)
{
	unsigned shift;

	begin(1);
	CHECK(!space_entry(&kernel_space, GIB, 12));
	CHECK(!space_entry(&kernel_space, GIB, 30) == (words.root_shift != 30));
	CHECK_EQ(space_map(&kernel_space, GIB, GIB, 4096, SPACE_DATA), SPACE_OK);
	CHECK_EQ(*space_entry(&kernel_space, GIB + 17, 12), tlb_walk(&kernel_space, GIB, &shift));
	CHECK(space_entry(&kernel_space, GIB, 30) && space_entry(&kernel_space, GIB + 4096, 12));
	CHECK(!space_entry(&kernel_space, GIB + (2 << 20), 12));
	CHECK_EQ(*space_entry(&kernel_space, GIB + (2 << 20), 21), 0);
}

/* A hole ends where addresses do, though tables have entries for more. */
static void test_last_hole(void)
{
	struct space space;

	begin(1);
	CHECK_EQ(space_create(&space), SPACE_OK);
	CHECK_EQ(space_query(&space, words.user_start).bytes, words.end - words.user_start);
	CHECK_EQ(space_query(&space, words.end - 1).bytes, 1);
	CHECK_EQ(space_map(&space, words.end - 8192, 0, 4096, SPACE_USER_DATA), SPACE_OK);
	CHECK_EQ(space_query(&space, words.end - 8192).bytes, 4096);
	CHECK_EQ(space_query(&space, words.end - 4096).bytes, 4096);
	CHECK_EQ(space_destroy(&space), SPACE_OK);
}

int main(void)
{
	for (unsigned locked = 0; locked < 2; locked++) {
		check_context.subject = locked ? "two cores, locks" : "one core";
		test_random(1 + locked);
		check_context.subject = "single cases";
		test_exhaustion();
		test_refused();
		test_asids();
		test_shared();
		test_entries();
		test_last_hole();
		lock_begin();
	}
	return 0;
}
