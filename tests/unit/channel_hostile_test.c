/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. An end whose other end, or both, write anything anywhere they can, before any access of it: it reads and writes nothing
 * but its own memory and the channel, each operation ends after a bounded number of accesses and returns one of its results, and when the
 * other end lives anew and keeps to the protocol, so does the channel.
 */
#include <stdbool.h>

static void step(void);
#define __atomic_load_n(place, order)         (step(), __atomic_load_n(place, order))
#define __atomic_store_n(place, value, order) (step(), __atomic_store_n(place, value, order))
#include "channel_scene.h"
#include "random.h"

enum { SLOT_BYTES = 128, RUNS = 600, OPERATIONS = 60, MOST_ACCESSES = 60 + 3 * SLOT_BYTES };

static struct scene scene;
static struct bh_end end, other;
static unsigned side;
static uint32_t kind, slots;
static bool wild;           /* somebody writes anything now */
static bool page_too;       /* also to the page, which no end can: nothing may go wrong even so */
static bool own_too;        /* also to the end's own area */
static uint64_t chance;     /* one of so many accesses finds a word changed */
static uint64_t accesses;   /* of the operation */
static uint64_t executions; /* operations that met them */
static uint64_t changes, results[BH_END_INVALID + 1];

static uint32_t any_word(void)
{
	static const uint32_t some[] = {
		0, 1, 2, 3, 4, 5, 8, SLOT_BYTES, SLOT_BYTES + 1, INT32_MAX, UINT32_MAX, UINT32_MAX - 1, 0x80000000
	};

	return below(3) ? some[below(sizeof(some) / sizeof(some[0]))] : (uint32_t)random_u64();
}

static void change_area(unsigned whose)
{
	uint32_t *control = (uint32_t *)scene.control[whose];
	static const uint8_t words[] = { 0, 1, 16, 32, 48, 49, 50, 51, 55, 56, 57, 58, 63 };
	uint32_t *slot;

	if (!scene.slots[whose] || below(2)) {
		uint32_t *word = &control[words[below(sizeof(words))]];

		*word = below(2) ? *word + (uint32_t)below(5) - 2 : any_word();
		return;
	}
	slot = (uint32_t *)scene_slot(&scene, whose, (uint32_t)below(scene.slots[whose]));
	slot[below(3) ? below(4) : below((sizeof(struct bh_channel_slot) + SLOT_BYTES) / 4)] = any_word();
}

static void change_page(void)
{
	struct bh_channel_end *one = &scene.page->end[below(2)];

	switch (below(3)) {
	case 0:
		one->epoch = below(2) ? one->epoch + 1 : any_word();
		break;
	case 1:
		one->state = below(2) ? (uint32_t)below(3) : any_word();
		break;
	default:
		((uint32_t *)scene.page)[below(32)] = any_word();
	}
}

static void step(void)
{
	accesses++;
	if (!wild || below(chance))
		return;
	changes++;
	change_area(own_too && below(2) ? side : !side);
	if (page_too && below(4) == 0)
		change_page();
}

/* Every byte of a slot that was given may be used. */
static void use(const void *data, uint32_t length, bool writes)
{
	const uint8_t *start = writes ? end.own_slots : end.peer_slots;
	const uint64_t offset = (uint64_t)((const uint8_t *)data - start);
	volatile uint8_t *bytes = (volatile uint8_t *)(uintptr_t)data;

	CHECK(length <= SLOT_BYTES);
	CHECK(offset < scene.slots[writes ? side : !side] * (uint64_t)(SLOT_BYTES + 64));
	CHECK_EQ(offset % (SLOT_BYTES + 64), 64);
	for (uint32_t n = 0; n < length; n++) {
		if (writes)
			bytes[n] = (uint8_t)n;
		else
			(void)bytes[n];
	}
}

static enum bh_end_result operate(struct bh_end *one, uint8_t *buffer, uint32_t length)
{
	const uint32_t flags = below(8) ? (uint32_t)below(4) : any_word();
	struct bh_message message;
	enum bh_end_result result;
	void *data;

	switch (one->role) {
	case BH_END_RING_SENDER:
		switch (below(4)) {
		case 0:
			return bh_ring_publish(one);
		case 1:
			return bh_ring_commit(one, length, flags);
		default:
			result = bh_ring_reserve(one, &data);
			if (result == BH_END_OK && one == &end)
				use(data, SLOT_BYTES, true);
			return below(2) && result == BH_END_OK ? bh_ring_send(one, length, flags) : result;
		}
	case BH_END_RING_READER:
		if (below(3) == 0)
			return bh_ring_release(one);
		result = bh_ring_peek(one, &message);
		if ((result == BH_END_OK || result == BH_END_CHECK) && one == &end)
			use(message.data, message.length, false);
		return result;
	case BH_END_MAILBOX:
		return below(2) ? bh_mailbox_send(one, buffer, length, flags) : bh_mailbox_receive(one, buffer, length, &message);
	case BH_END_LATEST_WRITER:
		return bh_latest_write(one, buffer, length);
	default:
		return bh_latest_read(one, buffer, length, &message);
	}
}

/* By a buffer that is as long as it says: ASan looks at that. */
static void operate_once(struct bh_end *one)
{
	const uint32_t length = (uint32_t)below(SLOT_BYTES + 8);
	uint8_t *buffer = malloc(length);
	enum bh_end_result result;

	CHECK(buffer || !length);
	memset(buffer, 0x33, length);
	accesses = 0;
	result = operate(one, buffer, length);
	CHECK((unsigned)result <= BH_END_INVALID);
	CHECK(accesses <= MOST_ACCESSES);
	if (one == &end)
		results[result]++;
	free(buffer);
}

/* The page as monitors write it, and new lives at both ends: messages come again. */
static void recovers(const struct bh_channel *good)
{
	uint8_t data[SLOT_BYTES] = { 1, 2, 3 };
	struct bh_message message;
	struct bh_end *ends[2];
	void *place;
	uint32_t epochs[] = { end.epoch + 1, other.epoch + 1 };

	*scene.page = *good;
	scene_unsay(&scene, 0);
	scene_unsay(&scene, 1);
	scene.page->end[side].epoch = epochs[0] ? epochs[0] : 1;
	scene.page->end[!side].epoch = epochs[1] ? epochs[1] : 1;
	ends[side] = &end;
	ends[!side] = &other;
	CHECK_EQ(bh_end_look(&other), BH_END_NEW);
	CHECK_EQ(bh_end_look(&end), BH_END_NEW);
	CHECK_EQ(bh_end_look(&other), BH_END_OK);
	CHECK_EQ(bh_end_look(&end), BH_END_OK);
	if (kind == BH_CHANNEL_RING) {
		CHECK_EQ(bh_ring_reserve(ends[0], &place), BH_END_OK);
		memcpy(place, data, 3);
		CHECK_EQ(bh_ring_send(ends[0], 3, 0), BH_END_OK);
		CHECK_EQ(bh_ring_peek(ends[1], &message), BH_END_OK);
		CHECK_EQ(memcmp(message.data, data, 3), 0);
	} else if (kind == BH_CHANNEL_MAILBOX) {
		CHECK_EQ(bh_mailbox_send(ends[0], data, 3, 0), BH_END_OK);
		CHECK_EQ(bh_mailbox_receive(ends[1], data, 3, &message), BH_END_OK);
	} else {
		CHECK_EQ(bh_latest_write(ends[0], data, 3), BH_END_OK);
		CHECK_EQ(bh_latest_read(ends[1], data, 3, &message), BH_END_OK);
	}
	CHECK_EQ(message.length, 3);
}

static void set_checked(bool checked)
{
	bh_end_set_checked(&end, checked);
	bh_end_set_checked(&other, checked);
}

static void run(void)
{
	static const uint64_t chances[] = { 1, 3, 10, 40 };
	struct bh_channel good;

	scene_open(&scene, kind, slots, SLOT_BYTES);
	good = *scene.page;
	scene_attach(&scene, side, &end);
	scene_attach(&scene, !side, &other);
	chance = chances[below(4)];
	page_too = below(4) == 0;
	own_too = below(4) == 0;
	set_checked(below(2));
	for (unsigned n = 0; n < OPERATIONS; n++) {
		wild = n > 12;
		executions += wild;
		operate_once(&end);
		wild = false;
		operate_once(&other);
		if (below(8) == 0)
			scene_new_life(&scene, !side);
	}
	set_checked(false);
	recovers(&good);
	scene_close(&scene);
}

/* A page of anything is an end or none; nothing outside is touched. */
static void attaches_anything(void)
{
	struct bh_channel good;

	scene_open(&scene, BH_CHANNEL_RING, 4, SLOT_BYTES);
	good = *scene.page;
	for (unsigned n = 0; n < 20000; n++) {
		enum bh_end_result result;

		*scene.page = good;
		for (uint64_t words = below(4); words; words--)
			((uint32_t *)scene.page)[below(10)] = any_word();
		result = bh_end_attach(&end, scene.view[0], scene.bytes, scene.page_offset, (unsigned)below(2));
		CHECK(result == BH_END_OK || result == BH_END_INVALID);
		CHECK(result == BH_END_OK || memcmp(&good, scene.page, sizeof(good)) != 0);
		if (result == BH_END_OK)
			CHECK(sizeof(struct bh_channel_control) + (uint64_t)scene.page->slots * (64 + scene.page->slot_bytes) <=
			      scene.page_offset);
	}
	scene_close(&scene);
}

/* Argument: how many executions at least; without one, a few hundred thousand. */
int main(int argc, char **argv)
{
	const uint64_t asked = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	static const struct {
		uint32_t kind, slots;
	} rows[] = { { BH_CHANNEL_MAILBOX, 1 }, { BH_CHANNEL_RING, 4 },   { BH_CHANNEL_RING, 1 },
		     { BH_CHANNEL_LATEST, 4 },  { BH_CHANNEL_LATEST, 6 }, { BH_CHANNEL_LATEST, 16 } };

	check_context.subject = "attaching";
	attaches_anything();
	for (unsigned n = 0; n < 12 * RUNS || executions < asked; n++) {
		kind = rows[n / 2 % 6].kind;
		slots = rows[n / 2 % 6].slots;
		side = n % 2;
		check_context.subject = "hostile ends";
		check_context.round = n;
		random_state = n;
		run();
	}
	for (unsigned n = 0; n <= BH_END_INVALID; n++)
		printf("%u: %" PRIu64 "\n", n, results[n]);
	printf("%" PRIu64 " executions, %" PRIu64 " changes\n", executions, changes);
	for (unsigned n = 0; n <= BH_END_INVALID; n++)
		CHECK(results[n] > 100);
	return 0;
}
