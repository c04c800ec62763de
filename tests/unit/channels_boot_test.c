/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.memory. Channels as start-up makes them: their memory is emptied, nothing beside it, each page says what the channel is, behind
 * the caches, and each monitor is told of the ends that its sandbox has. And what monitors say there, in which order.
 * monitor/boot/channels_boot.c, monitor/tell.h
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

enum { PAGES = 9, FIRST = 1, SECOND = 4, LEFT = 0xee };

static _Alignas(BH_PAGE_BYTES) uint8_t ram[PAGES][BH_PAGE_BYTES], behind[PAGES][BH_PAGE_BYTES];
static struct bh_table table;

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
		CHECK(page->end[end].state == BH_CHANNEL_COMING && page->end[end].epoch == 1);
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
		channels_grant(&table, n, &monitors[n]);
	CHECK(monitors[0].end_count == 1 && monitors[1].end_count == 2 && monitors[2].end_count == 1);
	check_end(&monitors[0].ends[0], FIRST + 1, 0, FIRST);
	check_end(&monitors[1].ends[0], FIRST + 1, 1, FIRST + 2);
	check_end(&monitors[1].ends[1], SECOND + 2, 1, SECOND + 3);
	check_end(&monitors[2].ends[0], SECOND + 2, 0, SECOND);
}

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
	const struct channel_end end = { &seen, &peer };

	told[0] = '\0';
	channel_tell(&end, state, 7);
	CHECK(!strcmp(told, expected));
}

static void test_telling(void)
{
	check_told(BH_CHANNEL_LIVES, "peer 0, r epoch 7, r state 1, ");
	check_told(BH_CHANNEL_GONE, "r state 2, "); /* what it has sent can still be taken */
}

int main(void)
{
	table = (struct bh_table){ .channel_count = 2 };
	table.channels[0] = row(FIRST, 1, 0, 1, BH_CHANNEL_RING);
	table.channels[1] = row(SECOND, 2, 2, 1, BH_CHANNEL_LATEST);
	test_pages();
	test_ends();
	test_telling();
	return 0;
}
