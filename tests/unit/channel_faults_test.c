/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. What an end makes of words and data that should not be so, each alone; and in literal words which shared words each
 * operation reads and writes, and in which order of memory. abi/channel_inline.h
 */
#include <stddef.h>

static void note(char what, const volatile void *place, int order);
#define __atomic_load_n(place, order)         (note('L', place, order), __atomic_load_n(place, order))
#define __atomic_store_n(place, value, order) (note('S', place, order), __atomic_store_n(place, value, order))
#include "channel_ends.h"

enum { NOTES = 4096 };
static char notes[NOTES];
static const char *awaited; /* before it is loaded, `meanwhile` happens, once */
static void (*meanwhile)(void);

/* ---- Broken ends ------------------------------------------------------------------------------------------------- */

/* The word at `offset` of end `side`'s area becomes `word`: BROKEN until a new life, and the other end's words as they should be help no
 * more. */
static void breaks(const char *what, uint32_t kind, unsigned side, uint32_t *word, uint32_t wrong, enum bh_end_result (*operation)(void))
{
	const uint32_t right = *word;

	check_context.subject = what;
	*word = wrong;
	CHECK_EQ(operation(), BH_END_BROKEN);
	*word = right;
	CHECK_EQ(operation(), BH_END_BROKEN);
	CHECK_EQ(end[!side].refused, 1);
	scene_new_life(&scene, side);
	scene_attach(&scene, side, &end[side]);
	CHECK_EQ(operation(), BH_END_NEW);
	CHECK_EQ(look(side), BH_END_NEW);
	CHECK_EQ(look(side), BH_END_OK);
	CHECK_EQ(look(!side), BH_END_OK);
	scene_close(&scene);
	connected(kind, kind == BH_CHANNEL_RING ? SLOTS : kind == BH_CHANNEL_LATEST ? 4 : 1);
}

static enum bh_end_result peek(void)
{
	return bh_ring_peek(&end[1], &message);
}

static enum bh_end_result reserve(void)
{
	void *data;

	return bh_ring_reserve(&end[0], &data);
}

static enum bh_end_result receive(void)
{
	static uint8_t buffer[SLOT_BYTES];

	return bh_mailbox_receive(&end[1], buffer, sizeof(buffer), &message);
}

static enum bh_end_result answer(void)
{
	return mail(1, 0, 10, 0);
}

static enum bh_end_result read_latest(void)
{
	static uint8_t buffer[SLOT_BYTES];

	return bh_latest_read(&end[1], buffer, sizeof(buffer), &message);
}

static void breaks_ring(void)
{
	connected(BH_CHANNEL_RING, SLOTS);
	breaks("more than all slots", BH_CHANNEL_RING, 0, &scene.control[0]->sent, SLOTS + 1, peek);
	breaks("less than was taken", BH_CHANNEL_RING, 0, &scene.control[0]->sent, UINT32_MAX, peek);
	for (unsigned n = 0; n < SLOTS; n++)
		CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
	breaks("more taken than sent", BH_CHANNEL_RING, 1, &scene.control[1]->taken, SLOTS + 1, reserve);
	for (unsigned n = 0; n < SLOTS; n++)
		CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
	ring_get(0, 10, 0);
	ring_get(1, 10, 0);
	for (unsigned n = 0; n < 2; n++) { /* committed, not published */
		CHECK_EQ(reserve(), BH_END_OK);
		CHECK_EQ(bh_ring_commit(&end[0], 10, 0), BH_END_OK);
	}
	breaks("taken back", BH_CHANNEL_RING, 1, &scene.control[1]->taken, 1, reserve);
	CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
	breaks("a message too long", BH_CHANNEL_RING, 0, &scene_slot(&scene, 0, 0)->length, SLOT_BYTES + 1, peek);
	CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
	breaks("unknown flags", BH_CHANNEL_RING, 0, &scene_slot(&scene, 0, 0)->flags, 8, peek);
	CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
	breaks("another number", BH_CHANNEL_RING, 0, &scene_slot(&scene, 0, 0)->number, 4, peek);
	scene_close(&scene);
}

static void breaks_others(void)
{
	connected(BH_CHANNEL_MAILBOX, 1);
	breaks("two in a slot", BH_CHANNEL_MAILBOX, 0, &scene.control[0]->sent, 2, receive);
	breaks("two in a slot, sending", BH_CHANNEL_MAILBOX, 0, &scene.control[0]->sent, 2, answer);
	breaks("taken before it was sent", BH_CHANNEL_MAILBOX, 0, &scene.control[0]->taken, 1, answer);
	CHECK_EQ(mail(0, 0, 10, 0), BH_END_OK);
	breaks("a letter too long", BH_CHANNEL_MAILBOX, 0, &scene_slot(&scene, 0, 0)->length, SLOT_BYTES + 1, receive);
	CHECK_EQ(mail(0, 0, 10, 0), BH_END_OK);
	breaks("another letter", BH_CHANNEL_MAILBOX, 0, &scene_slot(&scene, 0, 0)->number, 1, receive);
	scene_close(&scene);
	/* The first value goes to slot 1 of pair 1: the reader says that it reads pair 0. */
	connected(BH_CHANNEL_LATEST, 4);
	CHECK_EQ(value(0, 10), BH_END_OK);
	breaks("a value too long", BH_CHANNEL_LATEST, 0, &scene_slot(&scene, 0, 3)->length, SLOT_BYTES + 1, read_latest);
	CHECK_EQ(value(0, 10), BH_END_OK);
	breaks("a value to come", BH_CHANNEL_LATEST, 0, &scene_slot(&scene, 0, 3)->number, 2, read_latest);
	CHECK_EQ(value(0, 10), BH_END_OK);
	CHECK_EQ(value(1, 10), BH_END_OK);
	breaks("an old value", BH_CHANNEL_LATEST, 0, &scene.control[0]->slot[1], 1, read_latest);
	CHECK_EQ(value(0, 10), BH_END_OK);
	breaks("a pair that there is not", BH_CHANNEL_LATEST, 0, &scene.control[0]->latest, 2, read_latest);
	scene_close(&scene);
	check_context.subject = "masks";
	connected(BH_CHANNEL_LATEST, 4);
	CHECK_EQ(value(0, 10), BH_END_OK);
	scene.control[0]->slot[1] |= UINT32_MAX - 1;
	CHECK_EQ(read_latest(), BH_END_OK);
	check_message(0, 10, BH_CHANNEL_START | BH_CHANNEL_END);
	scene.control[1]->reading[0] |= UINT32_MAX - 1;
	CHECK_EQ(value(1, 10), BH_END_OK);
	CHECK_EQ(scene.control[0]->latest, 0);
	scene_close(&scene);
}

/* ---- Checked messages -------------------------------------------------------------------------------------------- */

static void check_both(void)
{
	for (unsigned side = 0; side < 2; side++)
		bh_end_set_checked(&end[side], true);
}

static void checks(void)
{
	struct bh_channel_slot *slot;

	check_context.subject = "checked ring";
	connected(BH_CHANNEL_RING, SLOTS);
	check_both();
	CHECK_EQ(ring_put(0, 10, BH_CHANNEL_START), BH_END_OK);
	slot = scene_slot(&scene, 0, 0);
	/* In literal bytes: epoch 1, peer 1, number 0, START | CHECKED, length 10, the data. */
	{
		uint8_t bytes[30] = { 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 10 };

		for (uint32_t n = 0; n < 10; n++)
			bytes[20 + n] = byte_of(0, n);
		CHECK_EQ(slot->check, bh_crc32c(0, bytes, sizeof(bytes)));
	}
	for (uint32_t bit = 0; bit < 80; bit++) {
		((uint8_t *)(slot + 1))[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check_context.round = bit;
		CHECK_EQ(peek(), BH_END_CHECK);
		((uint8_t *)(slot + 1))[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	slot->length--;
	CHECK_EQ(peek(), BH_END_CHECK);
	slot->length++;
	slot->flags ^= BH_CHANNEL_END;
	CHECK_EQ(peek(), BH_END_CHECK);
	slot->flags ^= BH_CHANNEL_END | BH_CHANNEL_CHECKED;
	CHECK_EQ(peek(), BH_END_CHECK);
	slot->flags ^= BH_CHANNEL_CHECKED;
	slot->check ^= 1;
	CHECK_EQ(peek(), BH_END_CHECK);
	CHECK_EQ(end[1].refused, 84);
	slot->check ^= 1;
	CHECK_EQ(peek(), BH_END_OK);
	check_message(0, 10, BH_CHANNEL_START | BH_CHANNEL_CHECKED);
	/* A damaged one is released as others; who sends with a CRC is checked by who does not ask for it. */
	slot->check ^= 1;
	bh_end_set_checked(&end[1], false);
	CHECK_EQ(peek(), BH_END_CHECK);
	CHECK_EQ(message.number, 0);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
	CHECK_EQ(ring_put(1, 3, 0), BH_END_OK);
	scene_slot(&scene, 0, 1)->check ^= 1;
	CHECK_EQ(peek(), BH_END_CHECK); /* for the first time */
	CHECK_EQ(message.number, 1);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
	bh_end_set_checked(&end[0], false);
	CHECK_EQ(ring_put(2, 3, 0), BH_END_OK);
	ring_get(2, 3, 0);
	CHECK_EQ(end[1].refused, 86);
	scene_close(&scene);
	check_context.subject = "epochs of a checked message";
	for (unsigned side = 0; side < 2; side++) {
		connected(BH_CHANNEL_RING, SLOTS);
		check_both();
		CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
		*(side ? &end[1].peer_epoch : &end[1].epoch) = 2;
		scene.page->end[side ? 0 : 1].epoch = 2;
		CHECK_EQ(peek(), BH_END_CHECK);
		scene_close(&scene);
	}
	check_context.subject = "checked mailbox";
	connected(BH_CHANNEL_MAILBOX, 1);
	check_both();
	CHECK_EQ(mail(0, 0, 10, 0), BH_END_OK);
	*(uint8_t *)(scene_slot(&scene, 0, 0) + 1) ^= 1;
	CHECK_EQ(receive(), BH_END_CHECK);
	CHECK_EQ(receive(), BH_END_AGAIN);
	CHECK_EQ(mail(0, 1, 10, 0), BH_END_OK);
	CHECK_EQ(receive(), BH_END_OK);
	check_message(1, 10, BH_CHANNEL_CHECKED);
	scene_close(&scene);
	check_context.subject = "checked value";
	connected(BH_CHANNEL_LATEST, 4);
	check_both();
	CHECK_EQ(value(0, 10), BH_END_OK);
	*(uint8_t *)(scene_slot(&scene, 0, 3) + 1) ^= 1;
	CHECK_EQ(read_latest(), BH_END_CHECK);
	*(uint8_t *)(scene_slot(&scene, 0, 3) + 1) ^= 1;
	CHECK_EQ(read_latest(), BH_END_OK);
	check_message(0, 10, BH_CHANNEL_START | BH_CHANNEL_END | BH_CHANNEL_CHECKED);
	scene_close(&scene);
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static const char *name_of(uint64_t offset)
{
	static const char *const control[] = {
		"epoch", "peer", "sent", "taken", "slot0", "slot1", "slot2", "latest", "reading", "reading1"
	};
	static const uint32_t at[] = { 0, 4, 64, 128, 192, 196, 200, 224, 228, 232 };
	static char name[32];
	const uint64_t area = scene.page_offset + BH_PAGE_BYTES;

	if (offset - scene.page_offset < BH_PAGE_BYTES) {
		const uint64_t word = offset - scene.page_offset - offsetof(struct bh_channel, end);

		snprintf(name, sizeof(name), "%s%u", word % sizeof(struct bh_channel_end) ? "state" : "life",
			 (unsigned)(word / sizeof(struct bh_channel_end)));
		return name;
	}
	for (unsigned n = 0; n < sizeof(at) / sizeof(at[0]); n++) {
		if (offset % area == at[n]) {
			snprintf(name, sizeof(name), "%s%u", control[n], (unsigned)(offset / area));
			return name;
		}
	}
	return "slot";
}

/* Loads and stores of a slot that follow each other are one. */
static void note(char what, const volatile void *place, int order)
{
	const char mark = order == __ATOMIC_RELAXED ? '.' : order == __ATOMIC_ACQUIRE ? 'a' : order == __ATOMIC_RELEASE ? 'r' : '*';
	char text[48];
	size_t length;

	for (unsigned side = 0; side < 2; side++) {
		const uint64_t offset = (uint64_t)((uintptr_t)place - (uintptr_t)scene.view[side]);

		if (!scene.bytes || offset >= scene.bytes)
			continue;
		snprintf(text, sizeof(text), "%c%c %s", what, mark, name_of(offset));
		if (awaited && what == 'L' && strcmp(awaited, name_of(offset)) == 0) {
			awaited = NULL;
			meanwhile();
		}
		length = strlen(notes);
		if (length < strlen(text) || strcmp(notes + length - strlen(text), text) != 0)
			snprintf(notes + length, sizeof(notes) - length, "%s%s", length ? ", " : "", text);
	}
}

#define DOES(operation, result, expected)                                                       \
	do {                                                                                    \
		notes[0] = 0;                                                                   \
		CHECK_EQ(operation, result);                                                    \
		if (strcmp(notes, expected) != 0)                                               \
			fprintf(stderr, "%s does\n%s\nnot\n%s\n", #operation, notes, expected); \
		CHECK(strcmp(notes, expected) == 0);                                            \
	} while (0)

#define LIVES0       "L. life0, L. life1"
#define LIVES1       "L. life1, L. life0"
#define SAYS(side)   "Sr epoch" side ", Sr peer" side ", L. sent" side ", L. taken" side
#define CLEARS(side) "L. epoch" side ", S. peer" side ", Sr sent" side ", Sr taken" side ", "

static void orders(void)
{
	uint8_t buffer[SLOT_BYTES];
	void *data;

	check_context.subject = "order";
	open_channel(BH_CHANNEL_RING, SLOTS);
	DOES(bh_ring_reserve(&end[0], &data), BH_END_NEW, LIVES0 ", " CLEARS("0") SAYS("0"));
	DOES(bh_ring_reserve(&end[0], &data), BH_END_AGAIN, LIVES0 ", La life1, La state1, La epoch1");
	DOES(bh_ring_peek(&end[1], &message), BH_END_NEW, LIVES1 ", " CLEARS("1") SAYS("1"));
	DOES(bh_ring_peek(&end[1], &message), BH_END_AGAIN,
	     LIVES1 ", La life0, La state0, La epoch0, La peer0, La sent0, " LIVES1 ", La state0");
	DOES(bh_ring_reserve(&end[0], &data), BH_END_OK,
	     LIVES0 ", La life1, La state1, La epoch1, La peer1, La taken1, " LIVES0 ", La state1");
	/* What is committed and given back needs no look at the page (bh_ring_count); the sender's own life is not over while it runs. */
	DOES(bh_ring_commit(&end[0], 64, 0), BH_END_OK, "S. slot");
	DOES(bh_ring_publish(&end[0]), BH_END_OK, "Sr sent0");
	DOES(bh_ring_peek(&end[1], &message), BH_END_OK, "La sent0, L. life0, L. slot");
	DOES(bh_ring_release(&end[1]), BH_END_OK, "Sr taken1");
	DOES(bh_ring_reserve(&end[0], &data), BH_END_OK, "L. life1, L. state1");
	for (uint32_t n = 1; n < SLOTS; n++)
		CHECK_EQ(ring_put(n, 0, 0), BH_END_OK);
	DOES(bh_ring_reserve(&end[0], &data), BH_END_OK, "L. life1, L. state1, La taken1, " LIVES0 ", La state1");
	DOES(bh_ring_peek(&end[1], &message), BH_END_OK, "La sent0, L. life0, L. slot");
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
	DOES(bh_ring_peek(&end[1], &message), BH_END_OK, "L. life0, L. slot");
	scene_close(&scene);
	connected(BH_CHANNEL_MAILBOX, 1);
	DOES(mail(0, 0, 10, 0), BH_END_OK, LIVES0 ", La state1, La taken1, " LIVES0 ", La sent1, " LIVES0 ", S. slot, Sr sent0");
	DOES(receive(), BH_END_OK, "La sent0, " LIVES1 ", L. slot, Sr taken1");
	scene_close(&scene);
	/* Of the two fences there is nothing here: tests/litmus. */
	open_channel(BH_CHANNEL_LATEST, 4);
	DOES(value(0, 10), BH_END_NEW, LIVES0 ", " CLEARS("0") "Sr slot00, Sr slot10, " SAYS("0") ", L. slot00, L. slot10");
	DOES(value(0, 10), BH_END_AGAIN, LIVES0 ", La life1, La state1, La epoch1");
	DOES(bh_latest_read(&end[1], buffer, SLOT_BYTES, &message), BH_END_NEW, LIVES1 ", L. epoch1, " SAYS("1"));
	DOES(value(0, 10), BH_END_OK,
	     LIVES0 ", La life1, La state1, La epoch1, La peer1, La state1, L* reading1, S. slot, S* slot10, S* latest0, Sr sent0");
	DOES(bh_latest_read(&end[1], buffer, SLOT_BYTES, &message), BH_END_OK,
	     LIVES1 ", La life0, La state0, La epoch0, La peer0, La state0, La sent0, L* latest0, S* reading1, L* slot10, L. slot, "
		    "L. sent0, " LIVES1);
	DOES(value(1, 10), BH_END_OK, LIVES0 ", La state1, L* reading1, S. slot, S* slot00, S* latest0, Sr sent0");
	scene_close(&scene);
	open_channel(BH_CHANNEL_LATEST, 6);
	meet();
	DOES(value(0, 10), BH_END_OK, LIVES0 ", La state1, L* reading1, L* reading11, S. slot, S* slot10, S* latest0, Sr sent0");
	scene_close(&scene);
}

/* ---- Meanwhile --------------------------------------------------------------------------------------------------- */

/* End 0 lives anew, and has cleared its counters. The slot at 0xffffffff was committed and not published. */
static void lives_anew(void)
{
	scene_new_life(&scene, 0);
	scene.control[0]->sent = 0;
}

static void sends_and_goes(void)
{
	CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
}

static void happens(void)
{
	check_context.subject = "cleared counters that look like a message";
	open_channel(BH_CHANNEL_RING, SLOTS);
	scene_has_exchanged(&scene, UINT32_MAX, 0);
	for (unsigned side = 0; side < 2; side++) {
		CHECK_EQ(look(side), BH_END_NEW);
		CHECK_EQ(look(side), BH_END_OK);
	}
	CHECK_EQ(reserve(), BH_END_OK);
	CHECK_EQ(bh_ring_commit(&end[0], 10, 0), BH_END_OK);
	awaited = "sent0";
	meanwhile = lives_anew;
	CHECK_EQ(peek(), BH_END_NEW);
	CHECK(!awaited);
	scene_close(&scene);
	check_context.subject = "a last message";
	connected(BH_CHANNEL_RING, SLOTS);
	awaited = "state0";
	meanwhile = sends_and_goes;
	CHECK_EQ(peek(), BH_END_OK);
	CHECK(!awaited);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
	CHECK_EQ(peek(), BH_END_GONE);
	scene_close(&scene);
}

int main(void)
{
	happens();
	breaks_ring();
	breaks_others();
	checks();
	orders();
	return 0;
}
