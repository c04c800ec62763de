/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. Two ends on two threads, as fast as they go: every message of a ring and a mailbox comes once, in order and whole, every
 * latest value is whole and never older than one before. Also under ThreadSanitizer, which sees that data of a ring, written and read in
 * place, are handed over. Ends that begin again do so here, too.
 */
#include <pthread.h>
#include <sched.h>

#include "abi/channel_inline.h"
#include "check.h"

enum { SLOT_BYTES = 128, SLOTS = 8, WORDS = 9, MESSAGES = 300000, LETTERS = 10000, LIVES = 200, READERS = 3, MOST_BYTES = 1 << 14 };

static _Alignas(4096) uint8_t memory[MOST_BYTES];
static struct bh_channel *page;
static uint64_t bytes;
static uint32_t page_offset;
static uint32_t stop;

static void open_channel(uint32_t kind, uint32_t slots)
{
	const uint64_t area[] = { bh_channel_area_bytes(bh_channel_slots(kind, slots, 0), SLOT_BYTES),
				  bh_channel_area_bytes(bh_channel_slots(kind, slots, 1), SLOT_BYTES) };

	for (unsigned n = 0; n < MOST_BYTES; n++)
		memory[n] = 0;
	page_offset = (uint32_t)area[0];
	bytes = area[0] + BH_PAGE_BYTES + area[1];
	CHECK(bytes <= MOST_BYTES);
	page = (struct bh_channel *)(void *)(memory + page_offset);
	*page = (struct bh_channel){ .magic = BH_CHANNEL_MAGIC,
				     .version = BH_CHANNEL_VERSION,
				     .kind = kind,
				     .slots = slots,
				     .slot_bytes = SLOT_BYTES,
				     .slot_stride = SLOT_BYTES + 64,
				     .area_bytes = { area[0], area[1] },
				     .end = { { .epoch = 1, .state = BH_CHANNEL_LIVES }, { .epoch = 1, .state = BH_CHANNEL_LIVES } } };
}

static void attach(struct bh_end *end, unsigned side)
{
	CHECK_EQ(bh_end_attach(end, memory, bytes, page_offset, side), BH_END_OK);
}

/* Whether it was done. Where it was not, the other thread runs. */
static bool done(enum bh_end_result result)
{
	CHECK(result == BH_END_OK || result == BH_END_AGAIN || result == BH_END_NEW);
	if (result == BH_END_AGAIN)
		sched_yield();
	return result == BH_END_OK;
}

static uint64_t content(uint32_t life, uint32_t number, unsigned word)
{
	return ((uint64_t)life << 32 | number) * 0x9e3779b97f4a7c15 + word;
}

static void fill(uint64_t *data, uint32_t life, uint32_t number)
{
	for (unsigned n = 0; n < WORDS; n++)
		data[n] = content(life, number, n);
}

static void check_data(const uint64_t *data, uint32_t life, const struct bh_message *message)
{
	CHECK_EQ(message->length, WORDS * sizeof(uint64_t));
	for (unsigned n = 0; n < WORDS; n++)
		CHECK_EQ(data[n], content(life, message->number, n));
}

static void *ring_sender(void *unused)
{
	struct bh_end end;
	void *data;

	attach(&end, 0);
	for (uint32_t n = 0; n < MESSAGES;) {
		if (!done(bh_ring_reserve(&end, &data)))
			continue;
		fill(data, 1, n++);
		CHECK_EQ(bh_ring_commit(&end, WORDS * sizeof(uint64_t), 0), BH_END_OK);
		if (n % 3 == 0 || n % SLOTS == 0 || n == MESSAGES)
			CHECK_EQ(bh_ring_publish(&end), BH_END_OK);
	}
	return unused;
}

static void *ring_reader(void *unused)
{
	struct bh_message message;
	struct bh_end end;

	attach(&end, 1);
	for (uint32_t n = 0; n < MESSAGES;) {
		if (!done(bh_ring_peek(&end, &message)))
			continue;
		CHECK_EQ(message.number, n++);
		check_data(message.data, 1, &message);
		CHECK_EQ(bh_ring_release(&end), BH_END_OK);
	}
	return unused;
}

static void *mailbox_end(void *argument)
{
	const unsigned side = argument != NULL;
	uint64_t data[WORDS];
	struct bh_message message;
	struct bh_end end;

	attach(&end, side);
	for (uint32_t n = 0; n < LETTERS; n++) {
		fill(data, 1, n);
		while (side == 0 && !done(bh_mailbox_send(&end, data, sizeof(data), 0)))
			;
		while (!done(bh_mailbox_receive(&end, data, sizeof(data), &message)))
			;
		CHECK_EQ(message.number, n);
		check_data(data, 1, &message);
		while (side == 1 && !done(bh_mailbox_send(&end, data, sizeof(data), 0)))
			;
	}
	return argument;
}

static void *latest_writer(void *unused)
{
	uint64_t data[WORDS];
	struct bh_end end;

	attach(&end, 0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		fill(data, 1, end.sent);
		done(bh_latest_write(&end, data, sizeof(data)));
	}
	return unused;
}

static void *latest_reader(void *unused)
{
	uint64_t data[WORDS];
	struct bh_message message;
	struct bh_end end;
	uint32_t before = 0;

	attach(&end, 1);
	for (uint32_t n = 0; n < MESSAGES;) {
		if (!done(bh_latest_read(&end, data, sizeof(data), &message)))
			continue;
		check_data(data, 1, &message);
		CHECK(message.number >= before);
		before = message.number;
		n++;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return unused;
}

/* The sender's lives: each ends with something under way. */
static void *ring_sender_lives(void *unused)
{
	struct bh_end end;
	void *data;

	for (uint32_t life = 1; life <= LIVES; life++) {
		/* As its monitor does between two lives. */
		__atomic_store_n(&((struct bh_channel_control *)(void *)memory)->peer, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&page->end[0].epoch, life, __ATOMIC_RELEASE);
		attach(&end, 0);
		for (uint32_t n = 0; n < 50 + life;) {
			if (!done(bh_ring_reserve(&end, &data)))
				continue;
			fill(data, life, n++);
			CHECK_EQ(bh_ring_send(&end, WORDS * sizeof(uint64_t), 0), BH_END_OK);
		}
	}
	while (__atomic_load_n(&((struct bh_channel_control *)(void *)(memory + page_offset + BH_PAGE_BYTES))->taken, __ATOMIC_RELAXED) !=
	       50 + LIVES)
		sched_yield();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return unused;
}

static void *ring_reader_of_lives(void *unused)
{
	struct bh_message message;
	struct bh_end end;
	enum bh_end_result result;
	uint32_t number = 0;

	attach(&end, 1);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		result = bh_ring_peek(&end, &message);
		if (result == BH_END_NEW)
			number = 0;
		if (!done(result))
			continue;
		CHECK_EQ(message.number, number++);
		check_data(message.data, end.peer_epoch, &message);
		if (bh_ring_release(&end) == BH_END_NEW)
			number = 0;
	}
	CHECK_EQ(number, 50 + LIVES);
	return unused;
}

/* ---- Several readers ------------------------------------------------------------------------------------------------ */

static uint32_t ready; /* readers that have a value of the writer's last life */

/* Each life lasts until some values are written, whoever has read them. */
static void *latest_writer_lives(void *unused)
{
	uint64_t data[WORDS];
	struct bh_end end;

	for (uint32_t life = 1; life <= LIVES; life++) {
		__atomic_store_n(&((struct bh_channel_control *)(void *)memory)->peer, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&page->end[0].epoch, life, __ATOMIC_RELEASE);
		attach(&end, 0);
		while (end.sent < 100 || (life == LIVES && __atomic_load_n(&ready, __ATOMIC_RELAXED) < READERS)) {
			fill(data, life, end.sent);
			done(bh_latest_write(&end, data, sizeof(data)));
		}
	}
	return unused;
}

static void *latest_reader_of_lives(void *argument)
{
	uint64_t data[WORDS];
	struct bh_message message;
	struct bh_end end;
	uint32_t before = 0;
	enum bh_end_result result = BH_END_NEW;

	CHECK_EQ(bh_end_attach_reader(&end, memory, bytes, page_offset, (uint32_t)(uintptr_t)argument), BH_END_OK);
	while (result != BH_END_OK || end.peer_epoch != LIVES) {
		result = bh_latest_read(&end, data, sizeof(data), &message);
		if (result == BH_END_NEW)
			before = 0;
		if (!done(result))
			continue;
		check_data(data, end.peer_epoch, &message);
		CHECK(message.number >= before);
		before = message.number;
	}
	__atomic_fetch_add(&ready, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void several(void)
{
	pthread_t thread[READERS];

	check_context.subject = "several readers";
	open_channel(BH_CHANNEL_LATEST, bh_latest_slots(READERS));
	for (uintptr_t n = 0; n < READERS; n++)
		CHECK_EQ(pthread_create(&thread[n], NULL, latest_reader_of_lives, (void *)n), 0);
	latest_writer_lives(NULL);
	for (unsigned n = 0; n < READERS; n++)
		CHECK_EQ(pthread_join(thread[n], NULL), 0);
}

static void both(const char *what, uint32_t kind, uint32_t slots, void *(*first)(void *), void *(*second)(void *))
{
	pthread_t thread;

	check_context.subject = what;
	open_channel(kind, slots);
	stop = 0;
	CHECK_EQ(pthread_create(&thread, NULL, first, NULL), 0);
	second(&stop);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void)
{
	both("ring", BH_CHANNEL_RING, SLOTS, ring_sender, ring_reader);
	both("mailbox", BH_CHANNEL_MAILBOX, 1, mailbox_end, mailbox_end);
	both("latest", BH_CHANNEL_LATEST, 4, latest_writer, latest_reader);
	several();
	both("lives", BH_CHANNEL_RING, SLOTS, ring_sender_lives, ring_reader_of_lives);
	return 0;
}
