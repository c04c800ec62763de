/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. The ends of a channel, one operation after the other: what each returns in each state, and what becomes of a connection.
 * abi/channel_inline.h
 */
#include "channel_ends.h"

enum { ROUNDS = 100 };

/* ---- Roles ------------------------------------------------------------------------------------------------------- */

/* Each role has its operations, and no others. */
static void roles(void)
{
	static const struct {
		uint32_t kind, slots;
		unsigned side, may;
	} rows[] = { { BH_CHANNEL_RING, SLOTS, 0, 0x07 }, { BH_CHANNEL_RING, SLOTS, 1, 0x18 }, { BH_CHANNEL_MAILBOX, 1, 0, 0x60 },
		     { BH_CHANNEL_MAILBOX, 1, 1, 0x60 },  { BH_CHANNEL_LATEST, 4, 0, 0x80 },   { BH_CHANNEL_LATEST, 4, 1, 0x100 } };
	uint8_t buffer[SLOT_BYTES] = { 0 };
	void *data;

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct bh_end *one = &end[rows[n].side];

		check_context.subject = "roles";
		check_context.round = n;
		connected(rows[n].kind, rows[n].slots);
		if (rows[n].kind != BH_CHANNEL_MAILBOX)
			scene.control[!rows[n].side]->sent = 1; /* of an end that sends, or says so */
		const enum bh_end_result results[] = {
			bh_ring_reserve(one, &data),
			bh_ring_commit(one, 1, 0),
			bh_ring_publish(one),
			bh_ring_peek(one, &message),
			rows[n].may == 0x18 ? BH_END_OK : bh_ring_release(one),
			bh_mailbox_send(one, buffer, 1, 0),
			bh_mailbox_receive(one, buffer, sizeof(buffer), &message),
			bh_latest_write(one, buffer, 1),
			bh_latest_read(one, buffer, sizeof(buffer), &message),
		};
		for (unsigned operation = 0; operation < 9; operation++)
			CHECK_EQ(results[operation] != BH_END_INVALID, rows[n].may >> operation & 1);
		scene_close(&scene);
	}
	check_context.round = 0;
}

/* ---- RING -------------------------------------------------------------------------------------------------------- */

static void rings(void)
{
	static const uint32_t starts[] = { 0, UINT32_MAX - 5, 0x7ffffffd };
	void *first, *data;

	for (unsigned n = 0; n < sizeof(starts) / sizeof(starts[0]); n++) {
		const uint32_t start = starts[n];

		check_context.subject = "ring";
		check_context.round = start;
		open_channel(BH_CHANNEL_RING, SLOTS);
		scene_has_exchanged(&scene, start, 0);
		for (unsigned side = 0; side < 2; side++) {
			CHECK_EQ(look(side), BH_END_NEW);
			CHECK_EQ(look(side), BH_END_OK);
		}
		for (uint32_t number = start; number != start + ROUNDS; number += SLOTS) {
			CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
			for (uint32_t k = 0; k < SLOTS; k++)
				CHECK_EQ(ring_put(number + k, k * 42, k % 4), BH_END_OK);
			CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_AGAIN);
			for (uint32_t k = 0; k < SLOTS; k++)
				ring_get(number + k, k * 42, k % 4);
			/* And one alone, so that slots move. */
			CHECK_EQ(ring_put(number + SLOTS, SLOT_BYTES, 0), BH_END_OK);
			ring_get(number + SLOTS, SLOT_BYTES, 0);
			number++;
			if (number + SLOTS - start > ROUNDS)
				break;
		}
		scene_close(&scene);
	}
	check_context.round = 0;
	check_context.subject = "calls in the wrong order";
	connected(BH_CHANNEL_RING, SLOTS);
	CHECK_EQ(bh_ring_commit(&end[0], 1, 0), BH_END_INVALID);
	CHECK_EQ(bh_ring_send(&end[0], 1, 0), BH_END_INVALID);
	CHECK_EQ(bh_ring_reserve(&end[0], &first), BH_END_OK);
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
	CHECK(first == data);
	CHECK_EQ(bh_ring_send(&end[0], 1, BH_CHANNEL_CHECKED), BH_END_INVALID);
	CHECK_EQ(bh_ring_send(&end[0], SLOT_BYTES + 1, 0), BH_END_SIZE);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	CHECK_EQ(bh_ring_commit(&end[0], 1, BH_CHANNEL_CHECKED), BH_END_INVALID);
	CHECK_EQ(bh_ring_commit(&end[0], 1, 8), BH_END_INVALID);
	CHECK_EQ(bh_ring_commit(&end[0], SLOT_BYTES + 1, 0), BH_END_SIZE);
	CHECK_EQ(bh_ring_commit(&end[0], SLOT_BYTES, 0), BH_END_OK);
	CHECK_EQ(bh_ring_commit(&end[0], SLOT_BYTES, 0), BH_END_INVALID);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_INVALID);
	CHECK_EQ(bh_ring_publish(&end[0]), BH_END_OK);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_INVALID);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
	CHECK_EQ(message.number, 0);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_INVALID);
	CHECK_EQ(ring_put(1, 1, 0), BH_END_OK);
	CHECK_EQ(bh_ring_send(&end[0], 1, 0), BH_END_INVALID);
	ring_get(1, 1, 0);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	scene_close(&scene);
}

/* What was committed is seen when it was published, all at once; START and END go with it. */
static void batches(void)
{
	static const uint32_t flags[] = { BH_CHANNEL_START, 0, BH_CHANNEL_END, BH_CHANNEL_START | BH_CHANNEL_END };
	void *data;

	check_context.subject = "batch";
	connected(BH_CHANNEL_RING, SLOTS);
	for (uint32_t n = 0; n < SLOTS; n++) {
		CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
		*(uint8_t *)data = byte_of(n, 0);
		CHECK_EQ(bh_ring_commit(&end[0], 1, flags[n]), BH_END_OK);
		CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	}
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_AGAIN);
	CHECK_EQ(bh_ring_publish(&end[0]), BH_END_OK);
	CHECK_EQ(bh_ring_publish(&end[0]), BH_END_OK);
	for (uint32_t n = 0; n < SLOTS; n++)
		ring_get(n, 1, flags[n]);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	/* A message that is sent publishes those before it. */
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
	*(uint8_t *)data = byte_of(SLOTS, 0);
	CHECK_EQ(bh_ring_commit(&end[0], 1, 0), BH_END_OK);
	CHECK_EQ(ring_put(SLOTS + 1, 2, 0), BH_END_OK);
	ring_get(SLOTS, 1, 0);
	ring_get(SLOTS + 1, 2, 0);
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
	*(uint8_t *)data = byte_of(SLOTS + 2, 0);
	CHECK_EQ(bh_ring_commit(&end[0], 1, 0), BH_END_OK);
	bh_end_set_checked(&end[0], true);
	CHECK_EQ(ring_put(SLOTS + 3, 2, 0), BH_END_OK);
	ring_get(SLOTS + 2, 1, 0);
	ring_get(SLOTS + 3, 2, BH_CHANNEL_CHECKED);
	scene_close(&scene);
}

/* ---- MAILBOX ----------------------------------------------------------------------------------------------------- */

static void mailboxes(void)
{
	static const uint32_t starts[] = { 0, UINT32_MAX - 5 };
	uint8_t buffer[SLOT_BYTES + 8];
	void *data;

	for (unsigned k = 0; k < 2; k++) {
		check_context.subject = "mailbox";
		open_channel(BH_CHANNEL_MAILBOX, 1);
		scene_has_exchanged(&scene, starts[k], starts[k]);
		for (unsigned side = 0; side < 2; side++) {
			CHECK_EQ(look(side), BH_END_NEW);
			CHECK_EQ(look(side), BH_END_OK);
		}
		for (uint32_t n = 0; n < ROUNDS; n++) {
			const uint32_t number = starts[k] + n, length = n % (SLOT_BYTES + 1);

			check_context.round = n;
			for (unsigned from = 0; from < 2; from++) {
				CHECK_EQ(bh_mailbox_receive(&end[!from], buffer, sizeof(buffer), &message), BH_END_AGAIN);
				CHECK_EQ(mail(from, number, length, n % 4), BH_END_OK);
				CHECK_EQ(mail(from, number, length, 0), BH_END_AGAIN);
				CHECK_EQ(mail(!from, number, length, 0), BH_END_AGAIN);
				if (length) {
					memset(buffer, 0x5a, sizeof(buffer));
					CHECK_EQ(bh_mailbox_receive(&end[!from], buffer, length - 1, &message), BH_END_SIZE);
					CHECK_EQ(message.length, length);
					CHECK_EQ(buffer[0], 0x5a);
				}
				/* Also where it is not aligned, and nothing behind it. */
				CHECK_EQ(bh_mailbox_receive(&end[!from], buffer + n % 8, length, &message), BH_END_OK);
				check_message(number, length, n % 4);
			}
		}
		CHECK_EQ(mail(0, 0, SLOT_BYTES + 1, 0), BH_END_SIZE);
		for (unsigned side = 0; side < 2; side++) /* both have sent and taken, and are no ends of a ring */
			CHECK_EQ(bh_ring_reserve(&end[side], &data), BH_END_INVALID);
		CHECK_EQ(mail(0, 0, 1, BH_CHANNEL_CHECKED), BH_END_INVALID);
		scene_close(&scene);
	}
	check_context.round = 0;
	/* Both at once: each is received. */
	connected(BH_CHANNEL_MAILBOX, 1);
	CHECK_EQ(mail(0, 0, 5, 0), BH_END_OK);
	scene.control[0]->sent = 0; /* as if end 1 had looked before */
	CHECK_EQ(mail(1, 0, 6, 0), BH_END_OK);
	scene.control[0]->sent = 1;
	CHECK_EQ(mail(0, 1, 5, 0), BH_END_AGAIN);
	CHECK_EQ(bh_mailbox_receive(&end[0], buffer, sizeof(buffer), &message), BH_END_OK);
	check_message(0, 6, 0);
	CHECK_EQ(mail(0, 1, 5, 0), BH_END_AGAIN);
	CHECK_EQ(bh_mailbox_receive(&end[1], buffer, sizeof(buffer), &message), BH_END_OK);
	check_message(0, 5, 0);
	CHECK_EQ(mail(0, 1, 5, 0), BH_END_OK);
	scene_close(&scene);
}

/* ---- LATEST ------------------------------------------------------------------------------------------------------ */

static void latest_values(void)
{
	uint8_t buffer[SLOT_BYTES + 8];
	uint32_t number = UINT32_MAX - 20;

	check_context.subject = "latest value";
	open_channel(BH_CHANNEL_LATEST, 4);
	scene_has_exchanged(&scene, number, 0);
	for (unsigned side = 0; side < 2; side++) {
		CHECK_EQ(look(side), BH_END_NEW);
		CHECK_EQ(look(side), BH_END_OK);
	}
	for (uint32_t n = 0; n < ROUNDS; n++) {
		const uint32_t length = n % (SLOT_BYTES + 1);

		check_context.round = n;
		for (uint32_t writes = 0; writes <= n % 5; writes++)
			CHECK_EQ(value(number++, length), BH_END_OK);
		for (uint32_t reads = 0; reads < 2; reads++) {
			CHECK_EQ(bh_latest_read(&end[1], buffer + n % 8, length, &message), BH_END_OK);
			check_message(number - 1, length, BH_CHANNEL_START | BH_CHANNEL_END);
		}
	}
	check_context.round = 0;
	CHECK_EQ(value(number++, SLOT_BYTES), BH_END_OK);
	memset(buffer, 0x5a, sizeof(buffer));
	CHECK_EQ(bh_latest_read(&end[1], buffer, SLOT_BYTES - 1, &message), BH_END_SIZE);
	CHECK_EQ(message.length, SLOT_BYTES);
	CHECK_EQ(buffer[SLOT_BYTES - 1], 0x5a);
	CHECK_EQ(value(number, SLOT_BYTES + 1), BH_END_SIZE);
	scene_close(&scene);
	connected(BH_CHANNEL_LATEST, 4);
	CHECK_EQ(bh_latest_read(&end[1], buffer, SLOT_BYTES, &message), BH_END_AGAIN);
	CHECK_EQ(value(0, 3), BH_END_OK);
	CHECK_EQ(bh_latest_read(&end[1], buffer, SLOT_BYTES, &message), BH_END_OK);
	check_message(0, 3, BH_CHANNEL_START | BH_CHANNEL_END);
	scene_close(&scene);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static void connects(void)
{
	check_context.subject = "connections";
	open_channel(BH_CHANNEL_RING, SLOTS);
	scene.page->end[1].epoch = 0; /* it has not begun */
	CHECK_EQ(look(0), BH_END_AGAIN);
	CHECK_EQ(look(1), BH_END_AGAIN);
	CHECK_EQ(scene.control[0]->epoch, 0);
	scene.page->end[1].epoch = 7;
	meet();
	CHECK_EQ(end[0].connections, 1);
	CHECK_EQ(scene.control[0]->epoch, 1);
	CHECK_EQ(scene.control[0]->peer, 7);
	CHECK_EQ(scene.control[1]->epoch, 7);
	CHECK_EQ(scene.control[1]->peer, 1);
	/* A page that names nobody ends it, too. */
	scene.page->end[1].epoch = 0;
	CHECK_EQ(look(0), BH_END_AGAIN);
	CHECK_EQ(look(1), BH_END_AGAIN);
	scene.page->end[1].epoch = 8;
	meet();
	/* Who says something else, says nothing. */
	for (unsigned n = 0; n < 4; n++) {
		scene_new_life(&scene, n & 1);
		CHECK_EQ(look(0), BH_END_NEW);
		scene.control[1]->epoch = scene.page->end[1].epoch - (n == 0);
		scene.control[1]->peer = scene.page->end[0].epoch - (n == 1);
		CHECK_EQ(look(0), n < 2 ? BH_END_AGAIN : BH_END_OK);
		scene.control[1]->peer = 0;
		CHECK_EQ(look(1), BH_END_NEW);
	}
	scene_close(&scene);
}

/* An end begins again with something under way: lost with its connection, and nothing of it is seen in the next one. */
static void restarts(void)
{
	void *data;

	check_context.subject = "restarts";
	for (unsigned side = 0; side < 2; side++) {
		check_context.round = side;
		connected(BH_CHANNEL_RING, SLOTS);
		for (uint32_t n = 0; n < SLOTS; n++)
			CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
		ring_get(0, 10, 0);
		ring_get(1, 10, 0);
		CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
		CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
		CHECK_EQ(bh_ring_commit(&end[0], 1, 0), BH_END_OK);
		CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
		scene_new_life(&scene, side);
		scene_attach(&scene, side, &end[side]);
		if (side == 0) {
			CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK); /* in the connection that has ended */
			CHECK_EQ(bh_ring_release(&end[1]), BH_END_NEW);
			CHECK_EQ(bh_ring_release(&end[1]), BH_END_AGAIN);
			CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_NEW);
		} else {
			CHECK_EQ(bh_ring_publish(&end[0]), BH_END_OK); /* likewise */
			CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_NEW);
			CHECK_EQ(bh_ring_commit(&end[0], 1, 0), BH_END_INVALID);
			CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_NEW);
		}
		CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
		CHECK_EQ(bh_ring_release(&end[1]), BH_END_INVALID);
		for (uint32_t n = 0; n < SLOTS; n++)
			CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
		CHECK_EQ(ring_put(SLOTS, 10, 0), BH_END_AGAIN);
		for (uint32_t n = 0; n < SLOTS; n++)
			ring_get(n, 10, 0);
		scene_close(&scene);
	}
	check_context.round = 0;
}

/* An end that goes on reads nothing before the other one takes part, also where its counter would say that something is there. */
static void waits_for_the_other(void)
{
	check_context.subject = "not connected";
	open_channel(BH_CHANNEL_RING, SLOTS);
	scene_has_exchanged(&scene, UINT32_MAX, 0);
	scene_slot(&scene, 0, SLOTS - 1)->number = UINT32_MAX;
	scene.control[0]->peer = 0;
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_NEW);
	CHECK_EQ(end[1].taken, UINT32_MAX);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	scene_close(&scene);
}

/* Who has room, or a message that is known to be there, hears at once that the other end has begun a new life. */
static void hears_at_once(void)
{
	void *data;

	check_context.subject = "told at once";
	for (unsigned side = 0; side < 2; side++) {
		connected(BH_CHANNEL_RING, SLOTS);
		CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
		CHECK_EQ(ring_put(1, 10, 0), BH_END_OK);
		ring_get(0, 10, 0);
		scene_new_life(&scene, side);
		CHECK_EQ(side ? bh_ring_reserve(&end[0], &data) : bh_ring_peek(&end[1], &message), BH_END_NEW);
		scene_close(&scene);
	}
}

/* What is published or released late, once the other end has begun a new life and looked, is of the connection that has ended. */
static void counts_late(void)
{
	void *data;

	for (unsigned side = 0; side < 2; side++) {
		check_context.subject = "late counters";
		check_context.round = side;
		connected(BH_CHANNEL_RING, SLOTS);
		for (uint32_t n = 0; n < SLOTS - side; n++)
			CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
		CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
		if (side)
			CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
		scene_new_life(&scene, side);
		scene_attach(&scene, side, &end[side]);
		CHECK_EQ(look(side), BH_END_NEW);
		if (side) {
			CHECK_EQ(bh_ring_send(&end[0], 10, 0), BH_END_OK);
			CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
			CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_NEW);
		} else {
			CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
			CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_AGAIN);
			CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_NEW);
		}
		CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
		for (uint32_t n = 0; n < SLOTS; n++)
			CHECK_EQ(ring_put(n, 20, 0), BH_END_OK);
		CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_AGAIN);
		ring_get(0, 20, 0);
		scene_close(&scene);
	}
	check_context.round = 0;
}

/* Who was told that the other end broke the protocol sends and gives back nothing more of what it had in hand. */
static void is_broken(void)
{
	void *data;

	check_context.subject = "in hand when it broke";
	connected(BH_CHANNEL_RING, SLOTS);
	for (uint32_t n = 0; n < SLOTS - 1; n++)
		CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_OK);
	CHECK_EQ(bh_ring_commit(&end[0], 10, 0), BH_END_OK);
	scene.control[1]->taken = SLOTS;
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_BROKEN);
	CHECK_EQ(bh_ring_publish(&end[0]), BH_END_BROKEN);
	CHECK_EQ(bh_ring_commit(&end[0], 10, 0), BH_END_INVALID);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
	CHECK_EQ(scene.control[0]->sent, SLOTS - 1);
	scene_slot(&scene, 0, 0)->number++;
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_BROKEN);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_BROKEN);
	CHECK_EQ(scene.control[1]->taken, SLOTS);
	scene_close(&scene);
}

/* A life cannot speak for its next one, which its monitor sees to. */
static void foretells(void)
{
	check_context.subject = "the next life";
	connected(BH_CHANNEL_RING, SLOTS);
	scene.control[0]->epoch = 2;
	scene.control[0]->sent = 77;
	scene_new_life(&scene, 0);
	CHECK_EQ(look(1), BH_END_NEW);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_AGAIN);
	scene_attach(&scene, 0, &end[0]);
	CHECK_EQ(look(0), BH_END_NEW);
	CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
	ring_get(0, 10, 0);
	scene_close(&scene);
}

/* A program that begins again in the same life goes on: the other end notices nothing. */
static void goes_on(void)
{
	void *data;

	check_context.subject = "program anew";
	connected(BH_CHANNEL_RING, SLOTS);
	for (uint32_t n = 0; n < SLOTS; n++)
		CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
	ring_get(0, 10, 0);
	for (unsigned side = 0; side < 2; side++) {
		scene_attach(&scene, side, &end[side]);
		CHECK_EQ(look(side), BH_END_NEW);
		CHECK_EQ(look(!side), BH_END_OK);
		CHECK_EQ(look(side), BH_END_OK);
	}
	CHECK_EQ(ring_put(SLOTS, 10, 0), BH_END_OK);
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_AGAIN);
	for (uint32_t n = 1; n <= SLOTS; n++)
		ring_get(n, 10, 0);
	scene_close(&scene);
	connected(BH_CHANNEL_LATEST, 4);
	for (uint32_t n = 0; n < ROUNDS; n++) {
		uint8_t buffer[SLOT_BYTES];

		CHECK_EQ(value(n, 10), BH_END_OK);
		CHECK_EQ(bh_latest_read(&end[1], buffer, SLOT_BYTES, &message), BH_END_OK);
		check_message(n, 10, BH_CHANNEL_START | BH_CHANNEL_END);
		scene_attach(&scene, n % 2, &end[n % 2]);
		CHECK_EQ(look(n % 2), BH_END_NEW);
		CHECK_EQ(end[0].slot[0], scene.control[0]->slot[0]);
		CHECK_EQ(end[0].slot[1], scene.control[0]->slot[1]);
	}
	scene_close(&scene);
}

static void goes(void)
{
	uint8_t buffer[SLOT_BYTES];
	void *data;

	check_context.subject = "gone";
	connected(BH_CHANNEL_RING, SLOTS);
	for (uint32_t n = 0; n < 3; n++)
		CHECK_EQ(ring_put(n, 10, 0), BH_END_OK);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	for (uint32_t n = 0; n < 3; n++)
		ring_get(n, 10, 0);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	scene_set_state(&scene, 1, BH_CHANNEL_GONE);
	CHECK_EQ(bh_ring_reserve(&end[0], &data), BH_END_GONE);
	scene_close(&scene);
	/* It had taken part, and sent, before this end did. */
	open_channel(BH_CHANNEL_RING, SLOTS);
	CHECK_EQ(look(1), BH_END_NEW);
	CHECK_EQ(look(0), BH_END_NEW);
	CHECK_EQ(ring_put(0, 10, 0), BH_END_OK);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	ring_get(0, 10, 0);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	scene_close(&scene);
	/* It had, with a life of this end before this one. */
	connected(BH_CHANNEL_RING, SLOTS);
	scene_new_life(&scene, 1);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	scene_attach(&scene, 1, &end[1]);
	CHECK_EQ(look(1), BH_END_NEW);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	scene_close(&scene);
	/* It never did. */
	open_channel(BH_CHANNEL_RING, SLOTS);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	CHECK_EQ(look(1), BH_END_NEW);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	scene_close(&scene);
	/* It never had a life here, as one that is opened on request may. */
	open_channel(BH_CHANNEL_RING, SLOTS);
	scene.page->end[0].epoch = 0;
	CHECK_EQ(look(1), BH_END_AGAIN);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	CHECK_EQ(look(1), BH_END_GONE);
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_GONE);
	scene.page->end[1].epoch = 2; /* this end lives anew: nobody is there all the same */
	CHECK_EQ(look(1), BH_END_GONE);
	scene_close(&scene);
	connected(BH_CHANNEL_MAILBOX, 1);
	CHECK_EQ(mail(0, 0, 10, 0), BH_END_OK);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	CHECK_EQ(mail(1, 0, 10, 0), BH_END_GONE);
	CHECK_EQ(bh_mailbox_receive(&end[1], buffer, sizeof(buffer), &message), BH_END_OK);
	CHECK_EQ(bh_mailbox_receive(&end[1], buffer, sizeof(buffer), &message), BH_END_GONE);
	scene_close(&scene);
	connected(BH_CHANNEL_LATEST, 4);
	CHECK_EQ(value(0, 10), BH_END_OK);
	CHECK_EQ(bh_latest_read(&end[1], buffer, sizeof(buffer), &message), BH_END_OK);
	CHECK_EQ(value(1, 10), BH_END_OK);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	CHECK_EQ(bh_latest_read(&end[1], buffer, sizeof(buffer), &message), BH_END_OK);
	check_message(1, 10, BH_CHANNEL_START | BH_CHANNEL_END);
	CHECK_EQ(bh_latest_read(&end[1], buffer, sizeof(buffer), &message), BH_END_GONE);
	scene_set_state(&scene, 1, BH_CHANNEL_GONE);
	CHECK_EQ(value(2, 10), BH_END_GONE);
	scene_close(&scene);
	connected(BH_CHANNEL_LATEST, 4);
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	CHECK_EQ(bh_latest_read(&end[1], buffer, sizeof(buffer), &message), BH_END_GONE);
	scene_close(&scene);
}

int main(void)
{
	roles();
	rings();
	batches();
	mailboxes();
	latest_values();
	connects();
	restarts();
	waits_for_the_other();
	hears_at_once();
	counts_late();
	is_broken();
	foretells();
	goes_on();
	goes();
	return 0;
}
