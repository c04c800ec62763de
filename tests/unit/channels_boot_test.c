/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.memory. Channels as start-up makes them: their memory is emptied, nothing beside it, each page says what the channel is, behind
 * the caches, and each monitor is told of the ends that its sandbox has, and of the doorbells by which it rings the others
 * (BH-F6.doorbells). And what monitors say there, in which order. monitor/boot/channels_boot.c, monitor/tell.h
 */
#include <stdio.h>
#include <string.h>

#include "caches.h"
#include "check.h"
#include "monitor/boot/boot.h"

/* Each word that is told, and in which order of memory. */
static char told[80];
static void tell(const volatile uint32_t *word, uint32_t value, int order);
#define __atomic_store_n(word, value, order) tell(word, value, order)
#include "monitor/tell.h"
#undef __atomic_store_n

enum { PAGES = 9, FIRST = 1, SECOND = 4, LEFT = 0xee, HZ = 62500000 };

static _Alignas(BH_PAGE_BYTES) uint8_t ram[PAGES][BH_PAGE_BYTES], behind[PAGES][BH_PAGE_BYTES];
static struct bh_table table;
static struct hal_gate gates[BH_MAX_CHANNELS];

static struct bh_channel_row row(unsigned page, uint64_t pages, uint32_t from, uint32_t to, enum bh_channel_kind kind)
{
	return (struct bh_channel_row){
		.hpa = (uintptr_t)ram[page],
		.area_bytes = { pages * BH_PAGE_BYTES, BH_PAGE_BYTES },
		.sandbox = { from, to },
		.kind = kind,
		.slots = 4,
		.slot_bytes = 128,
		.name = "samples",
	};
}

static void check_page(const uint8_t *at, const struct bh_channel_row *row)
{
	const struct bh_channel *page = (const struct bh_channel *)at;

	CHECK(page->magic == BH_CHANNEL_MAGIC && page->version == BH_CHANNEL_VERSION);
	CHECK(page->kind == row->kind && page->slots == 4 && page->slot_bytes == 128 && page->slot_stride == 192);
	CHECK(!strcmp((const char *)page->name, "samples"));
	for (unsigned end = 0; end < 2; end++) {
		CHECK(page->area_bytes[end] == row->area_bytes[end] && page->end[end].sandbox == row->sandbox[end]);
		CHECK(page->end[end].epoch == 0 && page->end[end].state == (row->flags ? BH_CHANNEL_CLOSED : BH_CHANNEL_COMING));
	}
}

static bool is_filled(const uint8_t *page, uint8_t with)
{
	for (unsigned n = 0; n < BH_PAGE_BYTES; n++)
		if (page[n] != with)
			return false;
	return true;
}

static void test_pages(void)
{
	memset(ram, LEFT, sizeof(ram));
	caches_watch(ram, behind, sizeof(ram));
	channels_prepare(&table);
	for (unsigned page = 0; page < PAGES; page++)
		if (page == FIRST + 1 || page == SECOND + 2)
			check_page(ram[page], &table.channels[page == SECOND + 2]);
		else
			CHECK(is_filled(ram[page], page < FIRST || page == PAGES - 1 ? LEFT : 0));
	CHECK(!memcmp(ram[FIRST], behind[FIRST], (PAGES - 2) * BH_PAGE_BYTES));
}

static void check_end(const struct channel_end *end, unsigned page, unsigned side, unsigned area)
{
	CHECK(end->seen == &((struct bh_channel *)ram[page])->end[side]);
	CHECK(end->peer == &((struct bh_channel_control *)ram[area])->peer);
}

static void test_ends(void)
{
	struct monitor monitors[3] = { { .end_count = 0 } };

	for (unsigned n = 0; n < 3; n++)
		channels_grant(&table, n, HZ, gates, &monitors[n]);
	CHECK(monitors[0].end_count == 1 && monitors[1].end_count == 2 && monitors[2].end_count == 1);
	check_end(&monitors[0].ends[0], FIRST + 1, 0, FIRST);
	check_end(&monitors[1].ends[0], FIRST + 1, 1, FIRST + 2);
	check_end(&monitors[1].ends[1], SECOND + 2, 1, SECOND + 3);
	check_end(&monitors[2].ends[0], SECOND + 2, 0, SECOND);
}

/* ---- On request --------------------------------------------------------------------------------------------------------- */

static struct asked {
	uint64_t gpa, size;
} asked[4];
static unsigned asked_count;

enum hal_status hal_partition_gate(struct hal_partition *partition, gpa_t gpa, uint64_t size, struct hal_gate *out)
{
	asked[asked_count++] = (struct asked){ gpa.v, size };
	out->open = gpa.v;
	return HAL_OK;
}

void build_must(enum hal_status status, const char *what)
{
	CHECK_EQ(status, HAL_OK);
}

/* The second channel, which sandboxes 1 and 2 see in two parts each, whichever of them the table has first. */
static void test_gates(void)
{
	static struct build build;
	struct monitor one = { .end_count = 0 };
	uint64_t hpa = table.channels[1].hpa, size = UINT64_C(4) * BH_PAGE_BYTES;

	check_context.subject = "on request";
	table.channels[1].flags = BH_CHANNEL_ON_REQUEST;
	table.region_count = 6;
	table.regions[0] = (struct bh_region){ .kind = BH_REGION_CHANNEL, .sandbox = 1, .gpa = 0x600000, .hpa = hpa, .size = 0x3000 };
	table.regions[1] = (struct bh_region){
		.kind = BH_REGION_CHANNEL, .sandbox = 1, .gpa = 0x603000, .hpa = hpa + 0x3000, .size = 0x1000
	};
	table.regions[2] = (struct bh_region){
		.kind = BH_REGION_CHANNEL, .sandbox = 2, .gpa = 0x202000, .hpa = hpa + 0x2000, .size = 0x2000
	};
	table.regions[3] = (struct bh_region){ .kind = BH_REGION_CHANNEL, .sandbox = 2, .gpa = 0x200000, .hpa = hpa, .size = 0x2000 };
	table.regions[4] = (struct bh_region){ .kind = BH_REGION_CHANNEL, .sandbox = 1, .gpa = 0x1000, .hpa = table.channels[0].hpa };
	table.regions[5] = (struct bh_region){ .kind = BH_REGION_RAM, .sandbox = 1, .gpa = 0x2000, .hpa = hpa, .size = 0x1000 };
	channels_gate(&table, 2, &build);
	CHECK(asked_count == 1 && asked[0].gpa == 0x200000 && asked[0].size == size);
	asked_count = 0;
	channels_gate(&table, 1, &build);
	CHECK(asked_count == 1 && asked[0].gpa == 0x600000 && asked[0].size == size);
	CHECK(build.gates[1].open == 0x600000 && build.gates[0].open == 0);
	channels_gate(&table, 0, &build); /* it has no end there */
	CHECK_EQ(asked_count, 1);
	channels_grant(&table, 1, HZ, build.gates, &one);
	CHECK(one.ends[0].gate.open == 0 && one.ends[1].gate.open == 0x600000);
	test_pages(); /* closed */
	table.channels[1].flags = 0;
}

/* ---- Doorbells ---------------------------------------------------------------------------------------------------------- */

/* End 0 of the first rings end 1 by line 80; both ends of the second ring: 0 by line 90, 1 by line 91. */
static void check_doorbell(const struct hal_doorbell *one, uint64_t gap, unsigned page, unsigned side, uint32_t line)
{
	CHECK_EQ(one->gap, gap);
	CHECK_EQ(one->next, 0);
	CHECK(one->told == &((struct bh_channel *)ram[page])->end[side]);
	CHECK_EQ(one->line, line);
}

static void test_doorbells(void)
{
	struct monitor monitors[3] = { { .end_count = 0 } };

	check_context.subject = "doorbells";
	table.channels[0].gap_us[0] = 100;
	table.channels[0].rung_line[1] = 80;
	table.channels[1].gap_us[0] = 1000;
	table.channels[1].gap_us[1] = 1;
	table.channels[1].rung_line[0] = 91;
	table.channels[1].rung_line[1] = 90;
	for (unsigned n = 0; n < 3; n++)
		channels_grant(&table, n, HZ, gates, &monitors[n]);
	check_doorbell(&monitors[0].doorbells[0], 6250, FIRST + 1, 1, 80);
	check_doorbell(&monitors[1].doorbells[0], 0, FIRST + 1, 0, 0); /* it does not ring */
	check_doorbell(&monitors[1].doorbells[1], 63, SECOND + 2, 0, 91);
	check_doorbell(&monitors[2].doorbells[0], 62500, SECOND + 2, 1, 90);
	for (unsigned n = 0; n < 3; n++)
		for (unsigned other = monitors[n].end_count; other < BH_MAX_CHANNELS; other++)
			CHECK_EQ(monitors[n].doorbells[other].gap, 0);

	check_context.subject = "the end that a line rings";
	CHECK(channels_rung(&table, &(struct bh_line){ .sandbox = 1, .line = 80 }) == &((struct bh_channel *)ram[FIRST + 1])->end[1]);
	CHECK(channels_rung(&table, &(struct bh_line){ .sandbox = 1, .line = 90 }) == &((struct bh_channel *)ram[SECOND + 2])->end[1]);
	CHECK(channels_rung(&table, &(struct bh_line){ .sandbox = 2, .line = 91 }) == &((struct bh_channel *)ram[SECOND + 2])->end[0]);
}

/* Whatever the clock's rate, no gap is shorter than granted, and none is longer by a tick. Literal numbers first. */
static void test_ticks(void)
{
	static const struct {
		uint32_t us;
		uint64_t hz, ticks;
	} literal[] = {
		{ 1, 1000000, 1 },
		{ 1, 1000001, 2 },
		{ 1000000, 1000001, 1000001 },
		{ 1000000, 2399998123, 2399998123 },
		{ 3, 19200000, 58 },
		{ UINT32_MAX, 1000000000, UINT64_C(4294967295000) },
		{ UINT32_MAX, UINT64_C(8000000000), UINT64_C(34359738360000) },
	};
	static const uint64_t clocks[] = { 1000000, 1193182, 3579545, 19200000, 24000000, 54000000, 62500000, 2399998123, 3800000999 };

	check_context.subject = "ticks";
	for (unsigned n = 0; n < sizeof(literal) / sizeof(literal[0]); n++) {
		struct monitor one = { .end_count = 0 };

		check_context.round = n;
		table.channels[0].gap_us[0] = literal[n].us;
		channels_grant(&table, 0, literal[n].hz, gates, &one);
		CHECK_EQ(one.doorbells[0].gap, literal[n].ticks);
	}
	for (unsigned clock = 0; clock < sizeof(clocks) / sizeof(clocks[0]); clock++)
		for (uint64_t us = 1; us <= UINT32_MAX; us = us * 17 / 11 + 1) {
			struct monitor one = { .end_count = 0 };
			__uint128_t wanted = (__uint128_t)us * clocks[clock];

			check_context.round = us;
			table.channels[0].gap_us[0] = (uint32_t)us;
			channels_grant(&table, 0, clocks[clock], gates, &one);
			CHECK((__uint128_t)one.doorbells[0].gap * 1000000 >= wanted);
			CHECK((__uint128_t)(one.doorbells[0].gap - 1) * 1000000 < wanted);
		}
	check_context.round = 0;
}

/* ---- What monitors say -------------------------------------------------------------------------------------------------- */

static struct bh_channel_end seen;
static uint32_t peer;

static void tell(const volatile uint32_t *word, uint32_t value, int order)
{
	size_t length = strlen(told);
	const char *name = word == &peer ? "peer" : word == &seen.epoch ? "epoch" : "state";

	CHECK(word == &peer || word == &seen.epoch || word == &seen.state);
	snprintf(told + length, sizeof(told) - length, "%s%s %u, ", order == __ATOMIC_RELEASE ? "r " : "", name, (unsigned)value);
}

static void check_told(enum bh_channel_state state, const char *expected)
{
	const struct channel_end end = { .seen = &seen, .peer = &peer };

	told[0] = '\0';
	seen.epoch = 6;
	channel_tell(&end, state);
	CHECK(!strcmp(told, expected));
}

static void test_telling(void)
{
	check_told(BH_CHANNEL_LIVES, "peer 0, r epoch 7, r state 1, ");
	check_told(BH_CHANNEL_GONE, "r state 2, "); /* what it has sent can still be taken */
	check_told(BH_CHANNEL_CLOSED, "r state 3, ");
}

int main(void)
{
	table = (struct bh_table){ .channel_count = 2 };
	table.channels[0] = row(FIRST, 1, 0, 1, BH_CHANNEL_RING);
	table.channels[1] = row(SECOND, 2, 2, 1, BH_CHANNEL_LATEST);
	test_pages();
	test_ends();
	test_doorbells();
	test_ticks();
	test_telling();
	test_gates();
	return 0;
}
