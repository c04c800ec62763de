/* SPDX-License-Identifier: Apache-2.0 */
/* What channels cost (channels.h). */
#include "probe/channels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/frames.h"
#include "kernel/core/heartbeat.h"
#include "probe/turns.h"

enum { BYTES = 64, WORDS = BYTES / sizeof(uint64_t), PAGE = 4096 };
enum { BATCH = 32 /* calls in a row */, BLOCK = 8 /* words that are copied in a row */ };
#define BUDGET_NS 49999000ULL
#define PERIOD_NS 50000000ULL

static struct channel ring, back, pages, mail, value;
static bool far;            /* whether this is end 1 of the ring */
static uint64_t turn;       /* when this end's next one begins */
static uint64_t empty;      /* ticks from one read of the counter to the next */
static uint64_t empty_loop; /* and with a loop in between that does nothing */
static unsigned round;
static uint64_t message[WORDS], *page;
static volatile uint64_t seen;

/* ---- What is done in a turn; returns whether it could be -------------------------------------------------------------------- */

/* What the calls of a batch are less. */
static bool loop(void)
{
	unsigned n = 0;

	while (n < BATCH) {
		__asm__ volatile("" : "+r"(n)); /* it stays a loop */
		n++;
	}
	return n == BATCH;
}

static bool send_in_ring(void)
{
	struct bh_end *end = ring.end;
	unsigned n = 0;
	void *data;

	while (n < BATCH && bh_ring_reserve(end, &data) == BH_END_OK &&
	       bh_ring_send(end, BYTES, BH_CHANNEL_START | BH_CHANNEL_END) == BH_END_OK)
		n++;
	return n == BATCH;
}

static bool take_from_ring(void)
{
	struct bh_end *end = ring.end;
	struct bh_message found;
	unsigned n = 0;

	while (n < BATCH && bh_ring_peek(end, &found) == BH_END_OK && bh_ring_release(end) == BH_END_OK)
		n++;
	return n == BATCH;
}

static bool fill_in_ring(void)
{
	struct bh_end *end = ring.end;
	unsigned n = 0;
	void *data;

	for (; n < BATCH && bh_ring_reserve(end, &data) == BH_END_OK; n++) {
		for (unsigned word = 0; word < WORDS; word++)
			((uint64_t *)data)[word] = round;
		if (bh_ring_send(end, BYTES, BH_CHANNEL_START | BH_CHANNEL_END) != BH_END_OK)
			break;
	}
	return n == BATCH;
}

static bool use_from_ring(void)
{
	struct bh_end *end = ring.end;
	struct bh_message found;
	uint64_t all = 0;
	unsigned n = 0;

	for (; n < BATCH && bh_ring_peek(end, &found) == BH_END_OK; n++) {
		for (unsigned word = 0; word < WORDS; word++)
			all ^= ((const uint64_t *)found.data)[word];
		if (bh_ring_release(end) != BH_END_OK)
			break;
	}
	seen = all;
	return n == BATCH;
}

static bool find_nothing(void)
{
	struct bh_message found;

	return bh_ring_peek(ring.end, &found) == BH_END_AGAIN;
}

static bool commit(void)
{
	void *data;
	unsigned n = 0;

	while (n < BATCH && channel_reserve(&ring, &data, TIMER_NEVER) == BH_END_OK && channel_commit(&ring, BYTES) == BH_END_OK)
		n++;
	return n == BATCH;
}

static bool peek(void)
{
	struct bh_message found;
	unsigned n = 0;

	while (n < BATCH && channel_peek(&ring, &found, TIMER_NEVER) == BH_END_OK && channel_release(&ring) == BH_END_OK)
		n++;
	return n == BATCH;
}

static bool send(void)
{
	unsigned n = 0;

	while (n < BATCH && channel_send(&ring, message, BYTES, TIMER_NEVER) == BH_END_OK)
		n++;
	return n == BATCH;
}

static bool receive(void)
{
	struct bh_message found;
	unsigned n = 0;

	while (n < BATCH && channel_receive(&ring, message, BYTES, &found, TIMER_NEVER) == BH_END_OK)
		n++;
	return n == BATCH;
}

static bool send_mail(void)
{
	return bh_mailbox_send(mail.end, message, BYTES, BH_CHANNEL_START | BH_CHANNEL_END) == BH_END_OK;
}

static bool receive_mail(void)
{
	struct bh_message found;

	return bh_mailbox_receive(mail.end, message, BYTES, &found) == BH_END_OK;
}

static bool write_value(void)
{
	return bh_latest_write(value.end, message, BYTES) == BH_END_OK;
}

static bool read_value(void)
{
	struct bh_message found;

	return bh_latest_read(value.end, message, BYTES, &found) == BH_END_OK;
}

static bool hear(struct channel *channel)
{
	struct bh_message found;

	return channel_peek(channel, &found, TIMER_NEVER) == BH_END_OK && channel_release(channel) == BH_END_OK;
}

static bool tell(struct channel *channel)
{
	void *data;

	return channel_reserve(channel, &data, TIMER_NEVER) == BH_END_OK && channel_commit(channel, BYTES) == BH_END_OK;
}

/* The answer to the question before, which there is not in the first round, then a question. */
static bool hear_and_ask(void)
{
	return (round == 0 || hear(&back)) && tell(&ring);
}

static bool answer(void)
{
	return hear(&ring) && tell(&back);
}

/* As fast as a compiler makes it without vectors. */
static __attribute__((noinline)) void copy(uint64_t *restrict to, const uint64_t *restrict from, unsigned words)
{
	for (; words >= BLOCK; words -= BLOCK, to += BLOCK, from += BLOCK) {
		const uint64_t a = from[0], b = from[1], c = from[2], d = from[3], e = from[4], f = from[5], g = from[6], h = from[7];

		to[0] = a, to[1] = b, to[2] = c, to[3] = d, to[4] = e, to[5] = f, to[6] = g, to[7] = h;
	}
}

static bool copy_pages(void)
{
	for (unsigned n = 0; n < BATCH; n++)
		copy(page, page + PAGE / sizeof(uint64_t), PAGE / sizeof(uint64_t));
	return true;
}

static bool send_pages(void)
{
	struct bh_end *end = pages.end;
	unsigned n = 0;
	void *data;

	for (; n < BATCH && bh_ring_reserve(end, &data) == BH_END_OK; n++) {
		copy(data, page, PAGE / sizeof(uint64_t));
		if (bh_ring_send(end, PAGE, BH_CHANNEL_START | BH_CHANNEL_END) != BH_END_OK)
			break;
	}
	return n == BATCH;
}

static bool take_pages(void)
{
	struct bh_end *end = pages.end;
	struct bh_message found;
	unsigned n = 0;

	while (n < BATCH && bh_ring_peek(end, &found) == BH_END_OK && bh_ring_release(end) == BH_END_OK)
		n++;
	return n == BATCH;
}

/* ---- Turns ------------------------------------------------------------------------------------------------------------------- */

/* What this end does in its turns, inlined where it is measured: ticks of one of `calls` calls, less what `without` says, rounded up. */
static __attribute__((always_inline)) inline void measure(const char *what, bool (*act)(void), unsigned calls, uint64_t without)
{
	bool done, all = true;
	uint64_t ticks;

	for (round = 0; round < TURNS_ROUNDS && all; round++) {
		(void)!thread_sleep_until(turn);
		ticks = turns_ticks(act, &done) - without;
		all = done && arch_counter() - turn < clock_from_ns(TURNS_NS);
		if (round >= TURNS_WARM_UP)
			turns_note((ticks + calls - 1) / calls);
		turn += 2 * clock_from_ns(TURNS_NS);
	}
	if (all)
		turns_say("channel", what);
	else
		console_say("channel: cannot measure %s in round %ju", what, (uint64_t)round);
}

static __attribute__((always_inline)) inline void measure_batch(const char *what, bool (*act)(void))
{
	measure(what, act, BATCH, empty_loop);
}

static __attribute__((always_inline)) inline void measure_one(const char *what, bool (*act)(void))
{
	measure(what, act, 1, empty);
}

/* The other end alone measures. */
static void skip(void)
{
	turn += 2ULL * TURNS_ROUNDS * clock_from_ns(TURNS_NS);
}

static void measure_near(void)
{
	measure_batch("ring: send", send_in_ring);
	measure_batch("ring, filled and used: send", fill_in_ring);
	skip();
	measure_one("mailbox: send", send_mail);
	measure_one("latest value: send", write_value);
	measure_batch("kernel: send", commit);
	measure_batch("kernel, copied: send", send);
	measure_one("kernel, there and back: send", hear_and_ask);
	measure_batch("memcpy of 4 KiB: send", copy_pages);
	measure_batch("4 KiB in place: send", send_pages);
}

static void measure_far(void)
{
	measure_batch("ring: take", take_from_ring);
	measure_batch("ring, filled and used: take", use_from_ring);
	measure_one("ring, nothing there: take", find_nothing);
	measure_one("mailbox: take", receive_mail);
	measure_one("latest value: take", read_value);
	measure_batch("kernel: take", peek);
	measure_batch("kernel, copied: take", receive);
	measure_one("kernel, there and back: take", answer);
	skip();
	measure_batch("4 KiB in place: take", take_pages);
}

static void measure_all(void)
{
	struct channel *const all[] = { &ring, &back, &pages, &value };

	for (unsigned n = 0; n < sizeof(all) / sizeof(all[0]); n++)
		turns_connect(all[n]);
	turn = turns_meet(&mail) + (far ? clock_from_ns(TURNS_NS) : 0);
	empty = turns_least(turns_nothing);
	empty_loop = turns_least(loop);
	if (far)
		measure_far();
	else
		measure_near();
	console_say("channel done");
}

static void open_and_measure(void)
{
	page = (uint64_t *)(uintptr_t)frames_take_run(2, 1, FRAME_PROGRAM);
	if (!page || !turns_keep(TURNS_SAMPLES) || !turns_open(&ring, "ring", 0) || !turns_open(&back, "back", 0) ||
	    !turns_open(&pages, "pages", 0) || !turns_open(&mail, "mail", TURNS_NS) || !turns_open(&value, "value", 0)) {
		console_say("channel: cannot measure without memory and channels");
		return;
	}
	far = ring.end->role == BH_END_RING_READER;
	measure_all();
}

void run_bench_channels(const struct command_line *line)
{
	heartbeat_start(0);
	turns_run(BUDGET_NS, PERIOD_NS, open_and_measure);
}
