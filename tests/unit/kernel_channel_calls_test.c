/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. Calls on channels that wait: what they return and when, how often they look, and which flags transactions have. This
 * thread has one end; what the other one does happens while it sleeps. kernel/core/channel_calls.c
 */
#include "kernel/core/channel_calls.h"

#include <string.h>

#include "channel_ends.h"
#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/thread.h"

enum { POLL = 10, PERIOD = 1000 };

static struct channel channel;
static uint64_t now;
static unsigned sleeps, happens_at; /* `meanwhile` happens in that sleep, counted from 1 */
static void (*meanwhile)(void);
static bool holds; /* a mutex */
static const char *offered;
static unsigned side;

/* ---- Around it ------------------------------------------------------------------------------------------------------------ */

uint64_t arch_counter(void)
{
	return now;
}

enum thread_result thread_sleep_until(uint64_t at)
{
	CHECK(at > now);
	if (holds)
		return THREAD_E_HOLDS;
	now = at;
	if (++sleeps == happens_at)
		meanwhile();
	return THREAD_OK;
}

struct thread *thread_running(void)
{
	static struct thread_vcpu on = { .vcpu.order = PERIOD };
	static struct thread self = { .on = &on };

	return &self;
}

static const struct bh_end *given;
void channel_give(struct bh_end *one)
{
	given = one;
}

struct bh_end *channel_take(const char *name)
{
	return offered && !strcmp(name, offered) ? &end[side] : NULL;
}

struct doorbell {
	bool heard;
	uint64_t gap;
	unsigned waits, tells;
};
static struct doorbell doorbell;
static bool has_doorbell;

struct doorbell *doorbell_find(const char *name)
{
	return has_doorbell && offered && !strcmp(name, offered) ? &doorbell : NULL;
}

bool doorbell_is_heard(const struct doorbell *of)
{
	return of->heard;
}

uint64_t doorbell_gap_ns(const struct doorbell *of)
{
	return of->gap;
}

void doorbell_tell(struct doorbell *of)
{
	CHECK(of == &doorbell && of->gap);
	of->tells++;
}

/* Rung if `meanwhile` happens now; else nothing comes until its time is over. */
enum thread_result doorbell_wait(struct doorbell *of, uint64_t deadline)
{
	CHECK(of == &doorbell && of->heard);
	CHECK(scene.control[side]->waits); /* it has said so */
	if (holds)
		return THREAD_E_HOLDS;
	of->waits++;
	if (++sleeps != happens_at) {
		now = deadline;
		return THREAD_E_TIMEOUT;
	}
	now++;
	meanwhile();
	return THREAD_OK;
}

uint64_t clock_from_ns(uint64_t ns)
{
	return ns / 1000000; /* 100 of it are a tenth of a second */
}

/* ---- What happens meanwhile ------------------------------------------------------------------------------------------------- */

static uint8_t buffer[SLOT_BYTES];

static void other_sends(void)
{
	CHECK_EQ(ring_put(0, 10, BH_CHANNEL_START), BH_END_OK);
}

static void other_takes(void)
{
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
}

static void other_begins_anew(void)
{
	scene_new_life(&scene, !side);
}

static void other_goes(void)
{
	scene_set_state(&scene, !side, BH_CHANNEL_GONE);
}

static void other_writes(void)
{
	CHECK_EQ(mail(0, 0, 10, 0), BH_END_OK);
}

static void other_receives(void)
{
	CHECK_EQ(bh_mailbox_receive(&end[1], buffer, SLOT_BYTES, &message), BH_END_OK);
}

static void first_value(void)
{
	CHECK_EQ(value(0, 10), BH_END_OK);
}

static void later(unsigned sleep, void (*what)(void))
{
	now = 100;
	sleeps = 0;
	happens_at = sleep;
	meanwhile = what;
}

static void begin(uint32_t kind, uint32_t slots, unsigned own)
{
	connected(kind, slots);
	side = own;
	offered = "one";
	holds = false;
	later(0, NULL);
	CHECK_EQ(channel_open(&channel, "one", POLL), BH_END_OK);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------------------- */

static void opens(void)
{
	check_context.subject = "open";
	begin(BH_CHANNEL_RING, SLOTS, 1);
	CHECK_EQ(channel_open(&channel, "two", POLL), BH_END_INVALID);
	CHECK_EQ(channel_open(&channel, "one", 0), BH_END_OK);
	later(1, other_sends); /* after a period of its VCPU */
	CHECK_EQ(channel_peek(&channel, &message, TIMER_NEVER), BH_END_OK);
	CHECK_EQ(now, 100 + PERIOD);
	channel_close(&channel);
	CHECK(given == &end[1]);
	scene_close(&scene);
}

static void waits(void)
{
	void *data;

	check_context.subject = "wait for a message";
	begin(BH_CHANNEL_RING, SLOTS, 1);
	CHECK_EQ(channel_peek(&channel, &message, 0), BH_END_AGAIN);
	CHECK_EQ(channel_peek(&channel, &message, now), BH_END_AGAIN);
	CHECK_EQ(sleeps, 0);
	CHECK_EQ(channel_peek(&channel, &message, now + 25), BH_END_AGAIN);
	CHECK_EQ(sleeps, 3);
	CHECK_EQ(now, 125);
	later(7, other_sends);
	CHECK_EQ(channel_peek(&channel, &message, now + 1000), BH_END_OK);
	CHECK_EQ(now, 100 + 7 * POLL);
	check_message(0, 10, BH_CHANNEL_START);
	CHECK_EQ(channel_release(&channel), BH_END_OK);
	CHECK_EQ(channel_release(&channel), BH_END_INVALID);
	later(3, other_sends);
	scene_slot(&scene, 0, 1)->number = 7;
	holds = true; /* what need not wait is done all the same */
	CHECK_EQ(channel_peek(&channel, &message, TIMER_NEVER), BH_END_INVALID);
	CHECK_EQ(ring_put(1, 3, 0), BH_END_OK);
	CHECK_EQ(channel_peek(&channel, &message, TIMER_NEVER), BH_END_OK);
	CHECK_EQ(channel_release(&channel), BH_END_OK);
	holds = false;
	later(2, other_begins_anew);
	CHECK_EQ(channel_peek(&channel, &message, TIMER_NEVER), BH_END_NEW);
	CHECK_EQ(sleeps, 2);
	later(2, other_goes);
	CHECK_EQ(channel_peek(&channel, &message, TIMER_NEVER), BH_END_GONE);
	CHECK_EQ(sleeps, 2);
	CHECK_EQ(channel_reserve(&channel, &data, TIMER_NEVER), BH_END_INVALID);
	scene_close(&scene);
	check_context.subject = "wait for room";
	begin(BH_CHANNEL_RING, SLOTS, 0);
	for (unsigned n = 0; n < SLOTS; n++) {
		CHECK_EQ(channel_reserve(&channel, &data, 0), BH_END_OK);
		CHECK_EQ(channel_commit(&channel, n), BH_END_OK);
	}
	CHECK_EQ(channel_reserve(&channel, &data, now + 5), BH_END_AGAIN);
	CHECK_EQ(now, 105);
	later(4, other_takes);
	CHECK_EQ(channel_reserve(&channel, &data, TIMER_NEVER), BH_END_OK);
	CHECK_EQ(sleeps, 4);
	CHECK_EQ(channel_commit(&channel, SLOT_BYTES + 1), BH_END_SIZE);
	CHECK_EQ(channel_commit(&channel, SLOT_BYTES), BH_END_OK);
	CHECK_EQ(channel_commit(&channel, SLOT_BYTES), BH_END_INVALID);
	scene_close(&scene);
}

static void fill(uint32_t number)
{
	for (uint32_t n = 0; n < SLOT_BYTES; n++)
		buffer[n] = byte_of(number, n);
}

/* Copies through each kind, those of a ring also while it is full, and longer ones than fit. */
static void copies(void)
{
	static uint8_t taken[SLOT_BYTES];

	check_context.subject = "copies to a ring";
	begin(BH_CHANNEL_RING, SLOTS, 0);
	for (unsigned n = 0; n < SLOTS; n++) {
		fill(n);
		CHECK_EQ(channel_send(&channel, buffer, 20 + n, 0), BH_END_OK);
	}
	later(3, other_takes);
	fill(SLOTS);
	CHECK_EQ(channel_send(&channel, buffer, 20 + SLOTS, 0), BH_END_AGAIN);
	CHECK_EQ(channel_send(&channel, buffer, 20 + SLOTS, TIMER_NEVER), BH_END_OK);
	CHECK_EQ(sleeps, 3);
	CHECK_EQ(channel_send(&channel, buffer, SLOT_BYTES + 1, TIMER_NEVER), BH_END_SIZE);
	for (unsigned n = 1; n <= SLOTS; n++)
		ring_get(n, 20 + n, BH_CHANNEL_START | BH_CHANNEL_END);
	CHECK_EQ(channel_receive(&channel, taken, SLOT_BYTES, &message, 0), BH_END_INVALID);
	scene_close(&scene);
	check_context.subject = "copies from a ring";
	begin(BH_CHANNEL_RING, SLOTS, 1);
	later(2, other_sends);
	CHECK_EQ(channel_receive(&channel, taken, 9, &message, TIMER_NEVER), BH_END_SIZE);
	CHECK_EQ(message.length, 10);
	CHECK_EQ(taken[0], 0);
	CHECK_EQ(channel_receive(&channel, taken, 10, &message, 0), BH_END_OK);
	CHECK(message.data == taken);
	check_message(0, 10, BH_CHANNEL_START);
	CHECK_EQ(channel_receive(&channel, taken, 10, &message, 0), BH_END_AGAIN);
	CHECK_EQ(ring_put(1, 10, 0), BH_END_OK);
	CHECK_EQ(ring_put(2, 10, 0), BH_END_OK);
	bh_end_set_checked(&end[1], true);
	memset(taken, 0x5a, sizeof(taken));
	CHECK_EQ(channel_receive(&channel, taken, 10, &message, TIMER_NEVER), BH_END_CHECK);
	CHECK_EQ(taken[0], 0x5a);
	bh_end_set_checked(&end[1], false);
	CHECK_EQ(channel_receive(&channel, taken, 10, &message, 0), BH_END_OK);
	check_message(2, 10, 0);
	CHECK_EQ(channel_send(&channel, buffer, 1, 0), BH_END_INVALID);
	CHECK_EQ(channel_send(&channel, buffer, SLOT_BYTES + 1, 0), BH_END_INVALID);
	scene_close(&scene);
	check_context.subject = "copies through a mailbox";
	begin(BH_CHANNEL_MAILBOX, 1, 1);
	later(2, other_writes);
	CHECK_EQ(channel_receive(&channel, taken, SLOT_BYTES, &message, TIMER_NEVER), BH_END_OK);
	check_message(0, 10, 0);
	CHECK_EQ(sleeps, 2);
	scene_close(&scene);
	begin(BH_CHANNEL_MAILBOX, 1, 0);
	fill(5);
	CHECK_EQ(channel_send(&channel, buffer, 10, 0), BH_END_OK);
	later(2, other_receives);
	CHECK_EQ(channel_send(&channel, buffer, 10, 0), BH_END_AGAIN);
	CHECK_EQ(channel_send(&channel, buffer, 10, TIMER_NEVER), BH_END_OK);
	CHECK_EQ(sleeps, 2);
	scene_close(&scene);
	check_context.subject = "copies of a latest value";
	begin(BH_CHANNEL_LATEST, 4, 1);
	later(2, first_value);
	CHECK_EQ(channel_receive(&channel, taken, SLOT_BYTES, &message, TIMER_NEVER), BH_END_OK);
	check_message(0, 10, BH_CHANNEL_START | BH_CHANNEL_END);
	CHECK_EQ(channel_receive(&channel, taken, SLOT_BYTES, &message, TIMER_NEVER), BH_END_OK);
	scene_close(&scene);
	begin(BH_CHANNEL_LATEST, 4, 0);
	fill(0);
	CHECK_EQ(channel_send(&channel, buffer, 10, 0), BH_END_OK);
	CHECK_EQ(channel_begin(&channel), BH_END_INVALID);
	CHECK_EQ(bh_latest_read(&end[1], taken, SLOT_BYTES, &message), BH_END_OK);
	scene_close(&scene);
}

static void transactions(void)
{
	static const uint32_t flags[] = { BH_CHANNEL_START | BH_CHANNEL_END, BH_CHANNEL_START, 0, BH_CHANNEL_END };
	void *data;

	check_context.subject = "transactions";
	begin(BH_CHANNEL_RING, SLOTS, 0);
	CHECK_EQ(channel_end(&channel), BH_END_INVALID);
	for (unsigned round = 0; round < 3; round++) { /* by copies, in place, and in place with a CRC */
		bh_end_set_checked(&end[0], round == 2);
		for (unsigned n = 0; n < 4; n++) {
			if (n == 1)
				CHECK_EQ(channel_begin(&channel), BH_END_OK);
			if (n == 2)
				CHECK_EQ(channel_begin(&channel), BH_END_INVALID);
			if (n == 3)
				CHECK_EQ(channel_end(&channel), BH_END_OK);
			fill(round * 4 + n);
			if (round == 0) {
				CHECK_EQ(channel_send(&channel, buffer, 10, 0), BH_END_OK);
				continue;
			}
			CHECK_EQ(channel_reserve(&channel, &data, 0), BH_END_OK);
			memcpy(data, buffer, 10);
			CHECK_EQ(channel_commit(&channel, 10), BH_END_OK);
		}
		CHECK_EQ(channel_end(&channel), BH_END_INVALID);
		for (unsigned n = 0; n < 4; n++)
			ring_get(round * 4 + n, 10, flags[n] | (round == 2 ? BH_CHANNEL_CHECKED : 0));
	}
	bh_end_set_checked(&end[0], false);
	/* One message is a transaction, too, and one that could not be sent is still to be. */
	CHECK_EQ(channel_begin(&channel), BH_END_OK);
	CHECK_EQ(channel_end(&channel), BH_END_OK);
	CHECK_EQ(channel_send(&channel, buffer, SLOT_BYTES + 1, 0), BH_END_SIZE);
	CHECK_EQ(channel_begin(&channel), BH_END_OK);
	CHECK_EQ(channel_send(&channel, buffer, SLOT_BYTES + 1, 0), BH_END_SIZE);
	fill(12);
	CHECK_EQ(channel_send(&channel, buffer, 3, 0), BH_END_OK);
	ring_get(12, 3, BH_CHANNEL_START);
	CHECK_EQ(channel_reserve(&channel, &data, 0), BH_END_OK);
	CHECK_EQ(channel_end(&channel), BH_END_OK);
	CHECK_EQ(channel_commit(&channel, SLOT_BYTES + 1), BH_END_SIZE);
	memset(data, byte_of(13, 0), 1);
	CHECK_EQ(channel_commit(&channel, 1), BH_END_OK);
	ring_get(13, 1, BH_CHANNEL_END);
	/* One of it waits for room. */
	for (unsigned n = 0; n < SLOTS; n++)
		CHECK_EQ(channel_send(&channel, buffer, 0, 0), BH_END_OK);
	CHECK_EQ(channel_begin(&channel), BH_END_OK);
	later(2, other_takes);
	CHECK_EQ(channel_send(&channel, buffer, 0, TIMER_NEVER), BH_END_OK);
	other_takes();
	CHECK_EQ(channel_send(&channel, buffer, 0, 0), BH_END_OK);
	other_takes();
	other_takes();
	ring_get(14 + SLOTS, 0, BH_CHANNEL_START);
	ring_get(15 + SLOTS, 0, 0);
	/* It goes with its connection. */
	other_begins_anew();
	CHECK_EQ(channel_send(&channel, buffer, 3, TIMER_NEVER), BH_END_NEW);
	CHECK_EQ(channel_end(&channel), BH_END_INVALID);
	CHECK_EQ(channel_begin(&channel), BH_END_OK);
	scene_attach(&scene, 1, &end[1]);
	CHECK_EQ(look(1), BH_END_NEW);
	fill(0);
	CHECK_EQ(channel_send(&channel, buffer, 3, 0), BH_END_OK);
	ring_get(0, 3, BH_CHANNEL_START);
	scene_close(&scene);
}

static void begin_rung(unsigned own, bool heard, uint64_t gap)
{
	has_doorbell = true;
	doorbell = (struct doorbell){ .heard = heard, .gap = gap };
	begin(BH_CHANNEL_RING, SLOTS, own);
	has_doorbell = false;
}

static void is_rung(void)
{
	check_context.subject = "rung";
	begin_rung(1, true, 0);
	later(1, other_sends);
	CHECK_EQ(channel_peek(&channel, &message, 1000), BH_END_OK);
	CHECK_EQ(now, 101);
	CHECK(doorbell.waits == 1 && !scene.control[1]->waits);
	scene.control[0]->waits = 1;
	CHECK_EQ(channel_release(&channel), BH_END_OK);
	CHECK_EQ(doorbell.tells, 0); /* it may not ring */
	check_context.subject = "rung by nobody";
	later(0, NULL);
	CHECK_EQ(channel_peek(&channel, &message, 350), BH_END_AGAIN);
	CHECK_EQ(sleeps, 3); /* 200, 300, and what is left */
	CHECK_EQ(now, 350);
	CHECK(!scene.control[1]->waits);
	check_context.subject = "not asked to wait";
	CHECK_EQ(channel_peek(&channel, &message, 0), BH_END_AGAIN);
	CHECK_EQ(sleeps, 3);
	check_context.subject = "must not sleep";
	holds = true;
	CHECK_EQ(channel_peek(&channel, &message, 1000), BH_END_INVALID);
	CHECK(!scene.control[1]->waits);
	scene_close(&scene);
	check_context.subject = "another core";
	begin_rung(1, false, 0);
	later(1, other_sends);
	CHECK_EQ(channel_peek(&channel, &message, 1000), BH_END_OK);
	CHECK(now == 100 + POLL && !doorbell.waits);
	scene_close(&scene);
	check_context.subject = "moved to another core";
	begin_rung(1, true, 0);
	doorbell.heard = false;
	later(1, other_sends);
	CHECK_EQ(channel_peek(&channel, &message, 1000), BH_END_OK);
	CHECK(now == 100 + POLL && !doorbell.waits);
	scene_close(&scene);
}

/* Only who says that he waits is told, and only of what was sent, or taken. */
static void tells(void)
{
	check_context.subject = "tells";
	begin_rung(0, false, 5);
	CHECK_EQ(channel_send(&channel, "one", 3, 0), BH_END_OK);
	CHECK_EQ(doorbell.tells, 0);
	scene.control[1]->waits = 1;
	CHECK_EQ(channel_send(&channel, "two", 3, 0), BH_END_OK);
	CHECK_EQ(doorbell.tells, 1);
	for (unsigned n = 2; n < SLOTS; n++)
		CHECK_EQ(channel_send(&channel, "more", 4, 0), BH_END_OK);
	CHECK_EQ(doorbell.tells, SLOTS - 1);
	CHECK_EQ(channel_send(&channel, "full", 4, 0), BH_END_AGAIN);
	CHECK_EQ(doorbell.tells, SLOTS - 1);
	later(1, other_takes);
	CHECK_EQ(channel_send(&channel, "full", 4, 1000), BH_END_OK);
	CHECK_EQ(doorbell.tells, SLOTS);
	scene_close(&scene);
	begin_rung(1, false, 5);
	scene.control[0]->waits = 1;
	other_sends();
	CHECK_EQ(channel_receive(&channel, buffer, SLOT_BYTES, &message, 0), BH_END_OK);
	CHECK_EQ(doorbell.tells, 1);
	later(1, other_sends);
	CHECK_EQ(channel_receive(&channel, buffer, SLOT_BYTES, &message, 1000), BH_END_OK);
	CHECK_EQ(doorbell.tells, 2);
	other_sends();
	CHECK_EQ(channel_peek(&channel, &message, 0), BH_END_OK);
	CHECK_EQ(doorbell.tells, 2);
	CHECK_EQ(channel_release(&channel), BH_END_OK);
	CHECK_EQ(doorbell.tells, 3);
	other_sends();
	bh_end_set_checked(&end[1], true); /* damaged, and taken: there is room again */
	CHECK_EQ(channel_receive(&channel, buffer, SLOT_BYTES, &message, 0), BH_END_CHECK);
	CHECK_EQ(doorbell.tells, 4);
	bh_end_set_checked(&end[1], false);
	CHECK_EQ(channel_receive(&channel, buffer, SLOT_BYTES, &message, 0), BH_END_AGAIN);
	CHECK_EQ(doorbell.tells, 4);
	scene_close(&scene);
}

/* A ring wakes one: the first reader of a latest value. None rings: nobody waits for what a reader gives back. */
static void readers(void)
{
	static const uint64_t value = 9;

	for (uint32_t reader = 0; reader < 2; reader++) {
		check_context.subject = reader ? "second reader" : "first reader";
		has_doorbell = true;
		doorbell = (struct doorbell){ .heard = true, .gap = 5 };
		begin(BH_CHANNEL_LATEST, bh_latest_slots(2), 1);
		end[1].reading = &end[1].own->reading[reader];
		CHECK_EQ(channel_open(&channel, "one", POLL), BH_END_OK);
		has_doorbell = false;
		CHECK((channel.rung != NULL) == (reader == 0));
		CHECK(!channel.told);
		scene.control[0]->waits = 1;
		CHECK_EQ(bh_latest_write(&end[0], &value, sizeof(value)), BH_END_OK);
		CHECK_EQ(channel_receive(&channel, buffer, SLOT_BYTES, &message, 0), BH_END_OK);
		CHECK_EQ(doorbell.tells, 0);
		scene.control[1]->waits = 1; /* of several nobody takes it back before */
		channel_close(&channel);
		CHECK_EQ(scene.control[1]->waits, reader);
		scene_close(&scene);
	}
}

int main(void)
{
	opens();
	waits();
	copies();
	transactions();
	is_rung();
	tells();
	readers();
	return 0;
}
