/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. Two ends and their monitors, in many orders of steps: a step is an access to a shared word. Either end dies at any of
 * its steps and lives anew, also for good. Within a connection no message is lost, doubled, out of order or damaged, no end calls the
 * other broken, and a latest value is whole and no older than the last write that had ended.
 *
 *   an end:       look, read and write shared words ... dies ───> begins anew
 *   its monitor:                                        COMING, epoch, LIVES
 */
#include <stdbool.h>
#include <ucontext.h>

static void step(void);
#define __atomic_load_n(place, order)         (step(), __atomic_load_n(place, order))
#define __atomic_store_n(place, value, order) (step(), __atomic_store_n(place, value, order))
#include "channel_scene.h"
#include "random.h"

enum {
	STACK_BYTES = 1 << 16,
	SLOT_BYTES = 64,
	STEPS = 600,
	RUNS = 400,
	LIMIT = 20000,
	ENOUGH = 400 /* steps in which all that is under way is read */,
	WORDS = 3
};
enum phase { LIVES, DIES, COMES, BEGINS, GONE };

/* What an end of the test knows of the connection that it takes part in. */
static struct life {
	ucontext_t context;
	char stack[STACK_BYTES];
	enum phase phase;
	struct bh_end end;
	uint32_t sent, received; /* messages of this connection */
	bool idle;               /* the last call found nothing to do */
} lives[2];
static ucontext_t scheduler;
static struct life *running;
static struct scene scene;
static bool quiet; /* nobody sends any more */
static uint64_t delivered, connections, kills;

/* Outside of an end, as in checks, there are no steps. */
static void step(void)
{
	struct life *life = running;

	if (!life)
		return;
	running = NULL;
	swapcontext(&life->context, &scheduler);
	running = life;
}

static uint64_t content(uint32_t from, uint32_t to, uint32_t number, unsigned word)
{
	return ((uint64_t)from << 48 | (uint64_t)to << 32 | number) * 0x9e3779b97f4a7c15 + word;
}

static void begins(struct life *life)
{
	life->sent = life->received = 0;
	connections++;
}

static bool same_connection(void)
{
	return lives[0].end.epoch == lives[1].end.peer_epoch && lives[1].end.epoch == lives[0].end.peer_epoch;
}

/* Whether the call was done; counts a connection that begins. Nothing else may be said of honest ends. */
static bool done(struct life *life, enum bh_end_result result)
{
	CHECK(result == BH_END_OK || result == BH_END_AGAIN || result == BH_END_NEW || result == BH_END_GONE);
	if (result == BH_END_NEW)
		begins(life);
	life->idle = result == BH_END_AGAIN || result == BH_END_GONE;
	return result == BH_END_OK;
}

static void fill(const struct life *life, uint64_t *data, uint32_t number)
{
	for (unsigned n = 0; n < WORDS; n++) {
		step();
		data[n] = content(life->end.epoch, life->end.peer_epoch, number, n);
	}
}

static void check_data(const struct life *life, const void *data, uint32_t length, uint32_t number)
{
	CHECK_EQ(length, WORDS * sizeof(uint64_t));
	for (unsigned n = 0; n < WORDS; n++) {
		step();
		CHECK_EQ(((const uint64_t *)data)[n], content(life->end.peer_epoch, life->end.epoch, number, n));
	}
	delivered++;
}

/* ---- What ends do, for ever -------------------------------------------------------------------------------------- */

static void ring_sender(struct life *life)
{
	unsigned batch = 0;
	void *data;

	if (quiet) {
		step();
		life->idle = true;
		return;
	}
	while (batch < 3 && done(life, bh_ring_reserve(&life->end, &data))) {
		fill(life, data, life->sent + batch);
		CHECK_EQ(bh_ring_commit(&life->end, WORDS * sizeof(uint64_t), 0), BH_END_OK);
		batch++;
	}
	if (done(life, bh_ring_publish(&life->end)))
		life->sent = life->end.sent;
}

static void ring_reader(struct life *life)
{
	struct bh_message message;

	if (!done(life, bh_ring_peek(&life->end, &message)))
		return;
	CHECK_EQ(message.number, life->received);
	check_data(life, message.data, message.length, message.number); /* in place, however the other end dies */
	if (done(life, bh_ring_release(&life->end)))
		life->received++;
}

static void mailbox_end(struct life *life)
{
	uint64_t data[WORDS];
	struct bh_message message;
	bool some = false;

	if (!quiet) {
		for (unsigned n = 0; n < WORDS; n++)
			data[n] = content(life->end.epoch, life->end.peer_epoch, life->sent, n);
		if (done(life, bh_mailbox_send(&life->end, data, sizeof(data), 0))) {
			life->sent++;
			some = true;
		}
	}
	if (done(life, bh_mailbox_receive(&life->end, data, sizeof(data), &message))) {
		CHECK_EQ(message.number, life->received);
		check_data(life, data, message.length, message.number);
		life->received++;
		some = true;
	}
	life->idle = life->idle && !some;
}

static void latest_writer(struct life *life)
{
	uint64_t data[WORDS];

	if (quiet) {
		step();
		life->idle = true;
		return;
	}
	for (unsigned n = 0; n < WORDS; n++)
		data[n] = content(life->end.epoch, life->end.peer_epoch, life->sent, n);
	if (done(life, bh_latest_write(&life->end, data, sizeof(data))))
		life->sent++;
}

static void latest_reader(struct life *life)
{
	const struct life *writer = &lives[0];
	uint64_t data[WORDS];
	struct bh_message message;
	const uint32_t before = same_connection() && writer->end.connected ? writer->sent : 0;

	if (!done(life, bh_latest_read(&life->end, data, sizeof(data), &message)))
		return;
	check_data(life, data, message.length, message.number);
	CHECK(message.number + 1 >= before);
	CHECK(message.number + 1 >= life->received);
	life->idle = message.number + 1 == life->received;
	life->received = message.number + 1;
}

static void (*const programs[BH_CHANNEL_KINDS][2])(struct life *) = {
	[BH_CHANNEL_MAILBOX] = { mailbox_end, mailbox_end },
	[BH_CHANNEL_RING] = { ring_sender, ring_reader },
	[BH_CHANNEL_LATEST] = { latest_writer, latest_reader },
};
static uint32_t kind;
static bool checked;

static void life_main(unsigned side)
{
	struct life *life = &lives[side];

	running = life;
	scene_attach(&scene, side, &life->end);
	bh_end_set_checked(&life->end, checked);
	for (;;)
		programs[kind][side](life);
}

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

static void starts(unsigned side)
{
	struct life *life = &lives[side];

	SCENE_ALLOW(life->stack, STACK_BYTES); /* who died there left its frames */
	memset(&life->end, 0, sizeof(life->end));
	life->sent = life->received = 0;
	life->idle = false;
	life->phase = LIVES;
	getcontext(&life->context);
	life->context.uc_stack.ss_sp = life->stack;
	life->context.uc_stack.ss_size = STACK_BYTES;
	life->context.uc_link = NULL;
	makecontext(&life->context, (void (*)(void))life_main, 1, side);
}

/* A step of an end, or of its monitor where it does not live. */
static void go(unsigned side)
{
	struct life *life = &lives[side];

	switch (life->phase) {
	case LIVES:
		swapcontext(&scheduler, &life->context);
		break;
	case DIES:
		scene_unsay(&scene, side);
		scene_set_state(&scene, side, BH_CHANNEL_COMING);
		life->phase = COMES;
		break;
	case COMES:
		scene.page->end[side].epoch++;
		life->phase = BEGINS;
		break;
	case BEGINS:
		scene_set_state(&scene, side, BH_CHANNEL_LIVES);
		starts(side);
		break;
	case GONE:
		break;
	}
}

/* Nobody dies any more: all that was sent arrives. */
static void settle(void)
{
	quiet = false;
	for (unsigned n = 0; n < LIMIT && !(lives[0].end.connected && lives[1].end.connected && lives[0].sent > 5); n++)
		go((unsigned)below(2));
	quiet = true;
	for (unsigned n = 0; n < 2 * ENOUGH; n++)
		go((unsigned)below(2));
	CHECK(same_connection());
	CHECK(lives[0].sent > 5);
	CHECK_EQ(lives[1].received, lives[0].sent);
	if (kind == BH_CHANNEL_MAILBOX)
		CHECK_EQ(lives[0].received, lives[1].sent);
}

/* End 0 dies for good, at any step: what it had published is read, then it is gone. */
static void goes(void)
{
	const bool same = same_connection();
	uint32_t published;

	for (uint64_t n = below(60); n; n--)
		go((unsigned)below(2));
	published = scene.control[0]->sent;
	lives[0].phase = GONE;
	scene_set_state(&scene, 0, BH_CHANNEL_GONE);
	for (unsigned n = 0; n < ENOUGH; n++)
		go(1);
	if (same && kind == BH_CHANNEL_LATEST) /* the value before it is counted */
		CHECK(lives[1].received - published <= 1);
	else if (same)
		CHECK_EQ(lives[1].received, published);
}

static void run(bool ends)
{
	const uint64_t bias = below(7); /* of 8 steps end 0 has 1 to 7 */

	scene_open(&scene, kind, kind == BH_CHANNEL_RING ? 1U << below(3) : kind == BH_CHANNEL_LATEST ? 4 : 1, SLOT_BYTES);
	quiet = false;
	starts(0);
	starts(1);
	for (unsigned n = 0; n < STEPS; n++) {
		const unsigned side = below(8) > bias;

		go(side);
		if (below(150) == 0 && lives[side].phase == LIVES) {
			lives[side].phase = DIES;
			kills++;
		}
	}
	for (unsigned n = 0; n < 6; n++) {
		for (unsigned side = 0; side < 2; side++) {
			if (lives[side].phase != LIVES)
				go(side);
		}
	}
	if (ends)
		goes();
	else
		settle();
	scene_close(&scene);
}

int main(void)
{
	static const char *const names[] = { "mailbox", "ring", "latest" };

	for (kind = 0; kind < BH_CHANNEL_KINDS; kind++) {
		delivered = connections = kills = 0;
		for (unsigned n = 0; n < RUNS; n++) {
			check_context.subject = names[kind];
			check_context.round = n;
			random_state = n;
			checked = n % 8 == 7;
			run(n % 4 == 3);
		}
		printf("%s: %" PRIu64 " messages, %" PRIu64 " times a connection, %" PRIu64 " deaths\n", names[kind], delivered,
		       connections, kills);
		CHECK(delivered > RUNS * 5);
		CHECK(kills > RUNS);
	}
	return 0;
}
