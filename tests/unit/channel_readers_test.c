/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. A latest value with several readers of one sandbox, in many orders of steps: a step is an access to a shared word. The
 * writer, each reader and the readers' sandbox die at any step, and begin again. What a reader has is whole, of its connection, no older
 * than the last write that had ended nor than what it had before; and two readers never have two values of one number.
 *
 *   writer    its program begins again in the same life, or its sandbox lives anew
 *   readers   one's program begins again in the same life, or their sandbox lives anew: all of them
 */
#include <stdbool.h>
#include <ucontext.h>

static void step_at(const volatile void *place);
#define __atomic_load_n(place, order)         (step_at(NULL), __atomic_load_n(place, order))
#define __atomic_store_n(place, value, order) (step_at(place), __atomic_store_n(place, value, order))
#include "abi/channel_wait.h"
#include "channel_scene.h"
#include "random.h"

enum { STACK_BYTES = 1 << 16, SLOT_BYTES = 64, STEPS = 900, RUNS = 600, ENOUGH = 400, WORDS = 3, WRITER = 0, MOST = 4, NUMBERS = 1024 };

static struct life {
	ucontext_t context;
	char stack[STACK_BYTES];
	struct bh_end end;
	bool started;
	uint32_t newest;            /* that it had in this connection */
	const volatile void *place; /* where its next step stores; NULL: it loads */
} lives[MOST];                      /* the writer, then readers */
static unsigned count;              /* of them */
static ucontext_t scheduler;
static struct life *running;
static struct scene scene;
static bool quiet, checked;
static uint32_t serial;           /* of the value that is written next; no two are alike */
static uint32_t serials[NUMBERS]; /* by number: of what a reader had in this connection; 0: none yet */
static uint32_t connection[2];    /* that of these */
static uint64_t delivered, deaths;

static void step_at(const volatile void *place)
{
	struct life *life = running;

	if (!life)
		return;
	life->place = place;
	running = NULL;
	swapcontext(&life->context, &scheduler);
	running = life;
}

static uint64_t content(const struct bh_end *end, uint32_t from, uint32_t to, uint32_t number, unsigned word)
{
	return ((uint64_t)from << 48 | (uint64_t)to << 32 | number) * 0x9e3779b97f4a7c15 + word * (uint64_t)end->slot_bytes;
}

/* Nothing else may be said of honest ends. */
static bool done(struct life *life, enum bh_end_result result)
{
	CHECK(result == BH_END_OK || result == BH_END_AGAIN || result == BH_END_NEW || result == BH_END_GONE);
	if (result == BH_END_NEW)
		life->started = false;
	return result == BH_END_OK;
}

static void writes(struct life *life)
{
	uint64_t data[WORDS];

	if (quiet) {
		step_at(NULL);
		return;
	}
	data[0] = ++serial;
	for (unsigned n = 1; n < WORDS; n++)
		data[n] = content(&life->end, life->end.epoch, life->end.peer_epoch, serial, n);
	done(life, bh_latest_write(&life->end, data, sizeof(data)));
}

/* How many writes have ended in the connection that this reader takes part in. */
static uint32_t ended(const struct life *life)
{
	const struct bh_channel_control *control = scene.control[0];
	const bool same = life->end.connected && control->epoch == life->end.peer_epoch && control->peer == life->end.epoch &&
			  scene.page->end[0].epoch == life->end.peer_epoch && scene.page->end[1].epoch == life->end.epoch;

	return same ? control->sent : 0;
}

/* The first reader that has a number says what it is. */
static void check_serial(const struct life *life, uint32_t number, uint32_t found)
{
	if (connection[0] != life->end.peer_epoch || connection[1] != life->end.epoch)
		memset(serials, 0, sizeof(serials));
	connection[0] = life->end.peer_epoch;
	connection[1] = life->end.epoch;
	CHECK(number < NUMBERS);
	CHECK(serials[number] == 0 || serials[number] == found);
	serials[number] = found;
}

static void reads(struct life *life)
{
	uint64_t data[WORDS];
	struct bh_message message;
	const uint32_t before = ended(life);

	if (!done(life, bh_latest_read(&life->end, data, sizeof(data), &message)))
		return;
	running = NULL; /* no step in what the test does */
	CHECK_EQ(message.length, sizeof(data));
	for (unsigned n = 1; n < WORDS; n++)
		CHECK_EQ(data[n], content(&life->end, life->end.peer_epoch, life->end.epoch, (uint32_t)data[0], n));
	CHECK(message.number + 1 >= before);
	CHECK(!life->started || message.number >= life->newest);
	check_serial(life, message.number, (uint32_t)data[0]);
	life->started = true;
	life->newest = message.number;
	delivered++;
	running = life;
}

static void life_main(unsigned who)
{
	struct life *life = &lives[who];

	running = life;
	if (who == WRITER)
		scene_attach(&scene, 0, &life->end);
	else
		CHECK_EQ(bh_end_attach_reader(&life->end, scene.view[1], scene.bytes, scene.page_offset, who - 1), BH_END_OK);
	bh_end_set_checked(&life->end, checked);
	for (;;)
		who == WRITER ? writes(life) : reads(life);
}

/* Its program, from the beginning. */
static void begins(unsigned who)
{
	struct life *life = &lives[who];

	SCENE_ALLOW(life->stack, STACK_BYTES); /* who died there left its frames */
	memset(&life->end, 0, sizeof(life->end));
	life->started = false;
	life->place = NULL;
	getcontext(&life->context);
	life->context.uc_stack.ss_sp = life->stack;
	life->context.uc_stack.ss_size = STACK_BYTES;
	life->context.uc_link = NULL;
	makecontext(&life->context, (void (*)(void))life_main, 1, who);
}

static void go(unsigned who)
{
	swapcontext(&scheduler, &lives[who].context);
}

/* Somebody's program, or a sandbox. */
static void dies(void)
{
	const unsigned who = (unsigned)below(count);

	deaths++;
	if (below(2)) {
		begins(who);
		return;
	}
	scene_new_life(&scene, who != WRITER);
	for (unsigned n = 0; n < count; n++)
		if ((n == WRITER) == (who == WRITER))
			begins(n);
}

static void run(void)
{
	const uint64_t slow = below(count), chance = 40 + below(200); /* somebody has fewer steps */

	scene_open(&scene, BH_CHANNEL_LATEST, bh_latest_slots(count - 1), SLOT_BYTES);
	memset(connection, 0, sizeof(connection));
	quiet = false;
	for (unsigned n = 0; n < count; n++)
		begins(n);
	for (unsigned n = 0; n < STEPS; n++) {
		const unsigned who = (unsigned)below(count);

		if (who != slow || below(6) == 0)
			go(who);
		if (below(chance) == 0)
			dies();
	}
	/* Nobody dies any more: all have what was written last. */
	for (unsigned n = 0; n < ENOUGH * count; n++)
		go((unsigned)below(count));
	CHECK(lives[WRITER].end.connected && lives[WRITER].end.sent > 1);
	quiet = true;
	for (unsigned n = 0; n < ENOUGH * count; n++)
		go((unsigned)below(count));
	for (unsigned n = 1; n < count; n++)
		CHECK(lives[n].started && lives[n].newest + 1 == scene.control[0]->sent);
	scene_close(&scene);
}

/* ---- One after the other ----------------------------------------------------------------------------------------- */

static enum bh_end_result attach_reader(uint32_t reader)
{
	return bh_end_attach_reader(&lives[1].end, scene.view[1], scene.bytes, scene.page_offset, reader);
}

static void attaches(void)
{
	struct bh_message message;
	uint64_t word;

	for (uint32_t readers = 1; readers <= BH_CHANNEL_MOST_READERS; readers++) {
		check_context.round = readers;
		scene_open(&scene, BH_CHANNEL_LATEST, 2 * readers + 2, SLOT_BYTES);
		CHECK_EQ(attach_reader(readers), BH_END_INVALID);
		CHECK_EQ(bh_latest_read(&lives[1].end, &word, sizeof(word), &message), BH_END_INVALID);
		for (uint32_t n = 0; n < readers; n++) {
			CHECK_EQ(attach_reader(n), BH_END_OK);
			CHECK(lives[1].end.reading ==
			      &((struct bh_channel_control *)(void *)(scene.view[1] + scene.page_offset + 4096))->reading[n]);
		}
		scene_close(&scene);
	}
	scene_open(&scene, BH_CHANNEL_RING, 4, SLOT_BYTES);
	CHECK_EQ(attach_reader(0), BH_END_INVALID);
	CHECK_EQ(bh_ring_peek(&lives[1].end, &message), BH_END_INVALID);
	CHECK_EQ(bh_end_attach_reader(&lives[1].end, scene.view[1], scene.bytes - 4096, scene.page_offset, 0), BH_END_INVALID);
	scene_close(&scene);
}

/* Readers have one word to be rung by: none takes back what another one wants. */
static void waits(void)
{
	for (uint32_t readers = 1; readers <= 2; readers++) {
		scene_open(&scene, BH_CHANNEL_LATEST, bh_latest_slots(readers), SLOT_BYTES);
		scene_attach(&scene, 0, &lives[WRITER].end);
		CHECK_EQ(attach_reader(readers - 1), BH_END_OK);
		bh_end_wants_ring(&lives[1].end, true);
		CHECK(bh_end_is_wanted(&lives[WRITER].end));
		bh_end_wants_ring(&lives[1].end, false);
		CHECK_EQ(bh_end_is_wanted(&lives[WRITER].end), readers == 2);
		bh_end_wants_ring(&lives[WRITER].end, true);
		bh_end_wants_ring(&lives[WRITER].end, false);
		CHECK(!bh_end_is_wanted(&lives[1].end));
		scene_close(&scene);
	}
}

/* The writer always finds a pair, whichever pairs readers say, also such as there are not. */
static void finds_a_pair(uint32_t readers)
{
	struct bh_end *writer = &lives[WRITER].end;

	check_context.round = readers;
	scene_open(&scene, BH_CHANNEL_LATEST, bh_latest_slots(readers), SLOT_BYTES);
	scene_attach(&scene, 0, writer);
	for (unsigned n = 0; n < 10000; n++) {
		uint32_t pair;

		for (unsigned reader = 0; reader < readers; reader++)
			scene.control[1]->reading[reader] = below(10) ? (uint32_t)below(readers + 1) : (uint32_t)random_u64();
		pair = bh_latest_free_pair(writer);
		CHECK(pair <= readers);
		for (unsigned reader = 0; reader < readers; reader++)
			CHECK(scene.control[1]->reading[reader] != pair);
	}
	scene_close(&scene);
}

/* ---- Rare orders ------------------------------------------------------------------------------------------------- */

enum { FIRST = 1, SECOND = 2 /* readers */ };

/* Its next step stores there. */
static void until(unsigned who, const volatile void *place)
{
	unsigned steps = 0;

	do {
		go(who);
		CHECK(steps++ < 1000);
	} while (lives[who].place != place);
}

static struct bh_channel_control *control_by(unsigned side)
{
	return (struct bh_channel_control *)(void *)(scene.view[side] + (side ? scene.page_offset + BH_PAGE_BYTES : 0));
}

static void writes_once(void)
{
	const uint32_t before = scene.control[0]->sent;

	while (scene.control[0]->sent == before)
		go(WRITER);
}

static void reads_until(unsigned who, uint32_t number)
{
	unsigned steps = 0;

	do {
		go(who);
		CHECK(steps++ < 1000);
	} while (!lives[who].started || lives[who].newest != number);
}

static void open_for_two(const char *what)
{
	check_context.subject = what;
	check_context.round = 0;
	scene_open(&scene, BH_CHANNEL_LATEST, bh_latest_slots(2), SLOT_BYTES);
	memset(connection, 0, sizeof(connection));
	quiet = checked = false;
	count = 3;
	for (unsigned n = 0; n < count; n++)
		begins(n);
}

static void meets(void)
{
	unsigned steps = 0;

	while (!lives[FIRST].end.connected || !lives[WRITER].end.connected) {
		CHECK(steps++ < 1000);
		go(FIRST);
		if (!lives[WRITER].end.connected)
			go(WRITER);
	}
}

/* A reader has a value whose write has not ended, in a pair that was the newest long ago; the newest one holds the value before. */
static void does_not_go_back(void)
{
	open_for_two("a value under way, then the one before");
	meets();
	writes_once(); /* 0, in pair 1 */
	reads_until(FIRST, 0);
	writes_once(); /* 1, in pair 2 */
	until(FIRST, &control_by(1)->reading[0]);
	reads_until(SECOND, 1);
	writes_once(); /* 2, in pair 0 */
	reads_until(SECOND, 2);
	until(WRITER, &control_by(0)->latest); /* 3, in pair 2 again */
	reads_until(FIRST, 3);
	for (unsigned n = 0; n < ENOUGH; n++)
		go(FIRST);
	CHECK_EQ(lives[FIRST].newest, 3);
	CHECK_EQ(scene.control[0]->sent, 3);
	scene_close(&scene);
}

/* The writer's program ends in each part of publishing, and begins again: what readers have of it counts. */
static void finishes(void)
{
	struct bh_channel_control *control;

	for (unsigned n = 0; n < 3; n++) {
		open_for_two("a program that ends as it publishes");
		control = control_by(0);
		const volatile void *const places[] = { &control->slot[2], &control->latest, &control->sent };

		meets();
		writes_once(); /* 0, in pair 1 */
		reads_until(FIRST, 0);
		until(WRITER, places[n]);
		for (unsigned k = 0; k < ENOUGH; k++)
			go(FIRST);
		begins(WRITER);
		until(WRITER, &control->sent); /* if there is something to finish; else of the next write */
		for (unsigned k = 0; k < ENOUGH; k++)
			go(SECOND);
		until(WRITER, &control->latest);
		for (unsigned k = 0; k < ENOUGH; k++) {
			go(FIRST);
			go(SECOND);
		}
		scene_close(&scene);
	}
}

/* Nothing is taken for a value where none was written, by whichever number. */
static void finishes_nothing(void)
{
	struct bh_end *writer = &lives[WRITER].end;
	static const uint32_t sent[] = { 1, 0x7fffffff, UINT32_MAX };

	check_context.subject = "nothing to finish";
	for (unsigned n = 0; n < 3; n++) {
		scene_open(&scene, BH_CHANNEL_LATEST, bh_latest_slots(2), SLOT_BYTES);
		scene_has_exchanged(&scene, sent[n], 0);
		scene_attach(&scene, 0, writer);
		CHECK_EQ(bh_end_look(writer), BH_END_NEW);
		CHECK_EQ(writer->sent, sent[n]);
		scene_close(&scene);
	}
}

/* A reader that begins while another one reads already leaves that one's word alone. */
static void leaves_others_alone(void)
{
	open_for_two("two begin at once");
	do /* it has found that nobody has begun */
		go(SECOND);
	while (!lives[SECOND].place);
	meets();
	writes_once();
	reads_until(FIRST, 0);
	CHECK_EQ(scene.control[1]->reading[0], 1);
	until(SECOND, &control_by(1)->peer);
	CHECK_EQ(scene.control[1]->peer, 1);
	reads_until(SECOND, 0);
	CHECK_EQ(scene.control[1]->reading[0], 1);
	scene_close(&scene);
}

/* A reader is late to say which lives it has found, and then ends for good: the others go on, also with a program of the writer's anew. */
static void ends_as_it_begins(void)
{
	struct bh_channel_control *control;

	open_for_two("a reader that ends as it begins");
	control = control_by(1);
	until(SECOND, &control->peer);
	scene_new_life(&scene, 0);
	begins(WRITER);
	meets();
	CHECK_EQ(control->peer, 2);
	go(SECOND);
	CHECK_EQ(control->peer, 1);
	begins(WRITER);
	meets();
	writes_once();
	reads_until(FIRST, 0);
	/* What nobody of the readers' life has said, none of the one before it can. */
	control->epoch = 2;
	scene_new_life(&scene, 1);
	for (unsigned n = 0; n < ENOUGH; n++)
		go(WRITER);
	CHECK(!lives[WRITER].end.connected);
	scene_close(&scene);
}

int main(void)
{
	check_context.subject = "attaching";
	attaches();
	check_context.subject = "who wants to be rung";
	waits();
	check_context.subject = "pairs";
	for (uint32_t readers = 1; readers <= BH_CHANNEL_MOST_READERS; readers++)
		finds_a_pair(readers);
	does_not_go_back();
	finishes();
	finishes_nothing();
	leaves_others_alone();
	ends_as_it_begins();
	for (count = 2; count <= MOST; count++) {
		delivered = deaths = 0;
		for (unsigned n = 0; n < RUNS; n++) {
			check_context.subject = "readers";
			check_context.round = n;
			random_state = n;
			checked = n % 8 == 7;
			run();
		}
		printf("%u readers: %" PRIu64 " values, %" PRIu64 " deaths\n", count - 1, delivered, deaths);
		CHECK(delivered > RUNS * 20);
		CHECK(deaths > RUNS * 2);
	}
	return 0;
}
