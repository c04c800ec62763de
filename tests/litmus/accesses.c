/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. Prints what the shipping code of a channel's ends (abi/channel_inline.h, channel_wait.h) and of its monitors
 * (monitor/tell.h) reads and writes, access by access: test_litmus.py makes litmus tests of it.
 *
 *   record NAME
 *   load|store|fence ORDER NAME VALUE     in program order; NAME is - for a fence
 */
#include <stdio.h>

static void note(const char *what, const volatile void *place, int order, unsigned long value);
#define __atomic_load_n(place, order)                               \
	({                                                          \
		__typeof__(*(place)) found;                         \
		__atomic_load((place), &found, order);              \
		note("load", place, order, (unsigned long)(found)); \
		found;                                              \
	})
#define __atomic_store_n(place, value, order)                        \
	({                                                           \
		const __typeof__(*(place)) given = (value);          \
		note("store", place, order, (unsigned long)(given)); \
		__atomic_store((place), &given, order);              \
	})
#define __atomic_thread_fence(order) (note("fence", NULL, order, 0), __atomic_thread_fence(order))
#include "abi/channel_wait.h"
#include "monitor/tell.h"
#include "tests/unit/channel_scene.h"

enum { SLOT_BYTES = 64 };
static struct scene scene;
static struct bh_end end[2];
static struct bh_message message;
static bool noting;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint32_t offset;
} controls[] = { { "epoch", 0 },    { "peer", 4 },     { "waits", 8 },    { "sent", 64 },       { "taken", 128 },    { "slot0_", 192 },
		 { "slot1_", 196 }, { "slot2_", 200 }, { "latest", 224 }, { "reading0_", 228 }, { "reading1_", 232 } };

static void print_name(uint64_t offset)
{
	const uint64_t area = scene.page_offset + BH_PAGE_BYTES, side = offset / area, within = offset % area;
	const uint64_t slots = within - sizeof(struct bh_channel_control), stride = sizeof(struct bh_channel_slot) + SLOT_BYTES;

	if (offset >= scene.page_offset && offset < area) {
		const uint64_t word = offset - scene.page_offset - offsetof(struct bh_channel, end);

		printf("%s%u", word % sizeof(struct bh_channel_end) ? "state" : "life", (unsigned)(word / sizeof(struct bh_channel_end)));
		return;
	}
	for (unsigned n = 0; n < sizeof(controls) / sizeof(controls[0]); n++) {
		if (within == controls[n].offset) {
			printf("%s%u", controls[n].name, (unsigned)side);
			return;
		}
	}
	if (slots % stride >= sizeof(struct bh_channel_slot))
		printf("data%u_%u", (unsigned)(slots / stride), (unsigned)((slots % stride - sizeof(struct bh_channel_slot)) / 8));
	else
		printf("head%u_%u", (unsigned)(slots / stride), (unsigned)(slots % stride / 4));
}

static const char *name_of_order(int order)
{
	return order == __ATOMIC_RELAXED   ? "relaxed"
	       : order == __ATOMIC_ACQUIRE ? "acquire"
	       : order == __ATOMIC_RELEASE ? "release"
					   : "seq_cst";
}

static void note(const char *what, const volatile void *place, int order, unsigned long value)
{
	const uint8_t *views[] = { scene.view[0], scene.view[1], scene.memory };

	if (!noting)
		return;
	if (!place) {
		printf("%s %s - 0\n", what, name_of_order(order));
		return;
	}
	for (unsigned n = 0; n < 3; n++) {
		const uint64_t offset = (uint64_t)((uintptr_t)place - (uintptr_t)views[n]);

		if (offset >= scene.bytes)
			continue;
		printf("%s %s ", what, name_of_order(order));
		print_name(offset);
		printf(" %lu\n", value);
		return;
	}
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void record(const char *name)
{
	printf("record %s\n", name);
	noting = true;
}

static void opens(uint32_t kind, uint32_t slots)
{
	noting = false;
	if (scene.bytes)
		scene_close(&scene);
	scene_open(&scene, kind, slots, SLOT_BYTES);
	for (unsigned side = 0; side < 2; side++)
		scene_attach(&scene, side, &end[side]);
	for (unsigned n = 0; n < 4; n++)
		bh_end_look(&end[n & 1]);
	CHECK(end[0].connected && end[1].connected);
}

static void puts_one(uint64_t value)
{
	void *data;

	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
	bh_copy_to_slot(data, &value, sizeof(value));
	CHECK_EQ(bh_ring_send(&end[0], sizeof(value), 0), BH_END_OK);
}

static void gets_one(void)
{
	uint64_t value;

	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
	bh_copy_from_slot(&value, message.data, sizeof(value));
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
}

static void tells(enum bh_channel_state state)
{
	channel_tell(&(struct channel_end){ .seen = &scene.page->end[0], .peer = &scene.control[0]->peer }, state);
}

static void rings(void)
{
	opens(BH_CHANNEL_RING, 1);
	record("ring-send");
	puts_one(7);
	record("ring-receive");
	gets_one();
	record("ring-send-again");
	puts_one(8);
	opens(BH_CHANNEL_RING, 1);
	record("ring-empty");
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	noting = false;
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	record("ring-gone");
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	opens(BH_CHANNEL_RING, 1);
	record("send-and-go");
	puts_one(7);
	tells(BH_CHANNEL_GONE);
}

/* Who sleeps says so and looks once more; who has sent, or given back, looks whether somebody sleeps. */
static void sleepers(void)
{
	void *data;

	opens(BH_CHANNEL_RING, 1);
	record("asks-to-be-rung");
	bh_end_wants_ring(&end[1], true);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	opens(BH_CHANNEL_RING, 1);
	record("send-and-ring");
	puts_one(7);
	CHECK(!bh_end_is_wanted(&end[0]));
	record("asks-for-room");
	bh_end_wants_ring(&end[0], true);
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_AGAIN);
	noting = false;
	bh_end_wants_ring(&end[0], false);
	record("receive-and-ring");
	gets_one();
	CHECK(!bh_end_is_wanted(&end[1]));
}

static void mailboxes(void)
{
	uint64_t value = 7;

	opens(BH_CHANNEL_MAILBOX, 1);
	record("mail-send");
	CHECK_EQ(bh_mailbox_send(&end[0], &value, sizeof(value), 0), BH_END_OK);
	record("mail-receive");
	CHECK_EQ(bh_mailbox_receive(&end[1], &value, sizeof(value), &message), BH_END_OK);
	value = 8;
	record("mail-send-again");
	CHECK_EQ(bh_mailbox_send(&end[0], &value, sizeof(value), 0), BH_END_OK);
}

/* A life of end 0 that has sent, and says what only the next one may; its end, by its monitor; the next one, which end 1 meets. */
static void lives(void)
{
	opens(BH_CHANNEL_RING, 1);
	puts_one(7);
	gets_one();
	record("end-of-life");
	__atomic_store_n(&scene.control[0]->epoch, 2, __ATOMIC_RELAXED);
	tells(BH_CHANNEL_LIVES);
	record("begin");
	scene_attach(&scene, 0, &end[0]);
	CHECK_EQ(bh_end_look(&end[0]), BH_END_NEW);
	noting = false;
	bh_end_look(&end[1]);
	record("meet");
	CHECK_EQ(bh_end_look(&end[1]), BH_END_OK);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
}

static void writes(uint64_t value)
{
	CHECK_EQ(bh_latest_write(&end[0], &value, sizeof(value)), BH_END_OK);
}

static void reads(void)
{
	uint64_t value;

	CHECK_EQ(bh_latest_read(&end[1], &value, sizeof(value), &message), BH_END_OK);
}

/* The first value goes to slot 3: of pair 1 the second one. */
static void latest_values(void)
{
	opens(BH_CHANNEL_LATEST, 4);
	record("write");
	writes(7);
	record("read");
	reads();
	opens(BH_CHANNEL_LATEST, 4);
	writes(5);
	record("write-twice"); /* no reader says its pair: slots 2 and 3 */
	writes(6);
	writes(7);
	opens(BH_CHANNEL_LATEST, 4);
	writes(5);
	reads();
	scene.control[0]->sent = 9; /* so that it looks for the latest pair */
	scene.control[0]->latest = 0;
	record("read-elsewhere");
	bh_latest_read(&end[1], &(uint64_t){ 0 }, 8, &message);
	opens(BH_CHANNEL_LATEST, 6);
	writes(5);
	record("life-that-writes");
	tells(BH_CHANNEL_LIVES);
	scene_attach(&scene, 0, &end[0]);
	CHECK_EQ(bh_end_look(&end[0]), BH_END_NEW);
	writes(7);
	opens(BH_CHANNEL_LATEST, 6);
	writes(5);
	record("read-of-two");
	reads();
}

int main(void)
{
	rings();
	sleepers();
	mailboxes();
	lives();
	latest_values();
	return 0;
}
