/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F5.live. A leaf is replaced while other cores use it (hal/pt/pt_live.c): no access faults, no core reaches the old frame once it has
 * changed its owner, and nobody waits for ever. Every order of steps of an editor and one other core, for one replacement; with a second
 * core or a second replacement there are too many, so chosen ones at random. A step is an access to a word that both sides use: the entry,
 * what says what is being replaced, generations and acknowledgements.
 *
 *   editor: begin ─ hole ─ generation ─ kick ─ (all have acknowledged) ─ the frame changes its owner ─ leaf ─ end
 *   others: use what they have kept, or walk; find a hole: ask, and try again; kicked: read the generation, invalidate, acknowledge
 */
#include <string.h>
#include <ucontext.h>

#include "check.h"
#include "frames.h"

enum { CORES = 3, STACK_BYTES = 1 << 18, MAX_STEPS = 400, RUNS_AT_RANDOM = 5000, ACCESSES = 1, PATIENCE = 1 << 20 };
#define IA    UINT64_C(0x40003000)
#define SIZE  UINT64_C(0x1000)
#define FRAME UINT64_C(0x80000000) /* the first; each replacement brings the next */

static void step_load(const void *place);
static void step_store(const void *place);
#define __atomic_load_n(place, order)         (step_load(place), *(place))
#define __atomic_store_n(place, value, order) (step_store(place), (void)(*(place) = (value)))
#ifndef PT_LIVE_SOURCE
#define PT_LIVE_SOURCE "hal/pt/pt_live.c"
#endif
#include PT_LIVE_SOURCE

static struct hal_arena arena;
static struct pt pt;
static struct pt_live live;
static uint64_t *entry;

static struct core {
	ucontext_t context;
	char stack[STACK_BYTES];
	bool done, kicked;
	bool idle;         /* has nothing to do until it is kicked, or all is over */
	uint64_t kept;     /* the frame that it translates to without a walk; 0: none */
	unsigned progress; /* the editor's, when this core last found a hole: nothing new comes before it has gone on */
	bool found_hole;
} cores[CORES];
static ucontext_t scheduler;
static unsigned current, core_count, replacements, progress, accesses;
static bool simulating, editor_waits;
static uint64_t owned; /* the oldest frame that is still the sandbox's */

static void yield(void)
{
	if (simulating)
		swapcontext(&cores[current].context, &scheduler);
}

static bool is_shared(const void *place)
{
	const char *at = place;

	return place == entry || (at >= (const char *)&live && at < (const char *)(&live + 1));
}

/* What the editor reads of these, it has written itself, but for acknowledgements, for which it waits. */
static void step_load(const void *place)
{
	if (current && is_shared(place))
		yield();
}

static void step_store(const void *place)
{
	if (is_shared(place))
		yield();
	if (!current)
		progress++;
}

/* In its monitor, before its guest runs. */
static void serve(unsigned slot)
{
	uint32_t generation;

	cores[slot].kicked = false;
	if (!pt_live_pending(&live, slot, &generation))
		return;
	yield();
	cores[slot].kept = 0;
	pt_live_acknowledge(&live, slot, generation);
}

static void edit(void)
{
	for (unsigned n = 1; n <= replacements; n++) {
		pt_live_replace_begin(&live, IA, SIZE);
		CHECK_EQ(pt_live_take(&live, IA, SIZE), HAL_OK);
		for (unsigned slot = 1; slot < core_count; slot++)
			cores[slot].kicked = true;
		progress++;
		serve(0);
		editor_waits = true;
		yield();
		editor_waits = false;
		CHECK(pt_live_is_clear(&live));
		owned = FRAME + n * SIZE;
		CHECK_EQ(pt_live_put(&live, IA, (hpa_t){ owned }, SIZE, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM), HAL_OK);
		pt_live_replace_end(&live);
	}
}

/* One access of a guest. Returns false if it has to be tried again. */
static bool access_once(struct core *core, unsigned slot)
{
	if (!core->kept) {
		uint64_t word = *entry; /* the processor's walk: one read of the word that changes */

		if (!(word & 1)) {
			core->progress = progress;
			CHECK(pt_live_retry(&live, slot, IA + 8, HAL_READ, 0, PATIENCE));
			serve(slot);
			core->found_hole = true;
			return false;
		}
		core->kept = word & UINT64_C(0xfffff000);
	}
	CHECK(core->kept >= owned);
	accesses++;
	return true;
}

/* A few accesses, then nothing but kicks, and one more when all is over. */
static void use(unsigned slot)
{
	struct core *core = &cores[slot];

	for (unsigned n = 0; n <= ACCESSES;) {
		core->idle = n == ACCESSES;
		yield();
		core->idle = false;
		if (core->kicked) {
			serve(slot);
			continue;
		}
		yield(); /* a kick that is sent now arrives after this access */
		n += access_once(core, slot);
	}
	CHECK_EQ(core->kept, owned);
}

static void run_core(void)
{
	if (current)
		use(current);
	else
		edit();
	cores[current].done = true;
	swapcontext(&cores[current].context, &scheduler);
}

/* One that has found a hole finds it again until the editor goes on; one that has no more to do waits for a kick. */
static bool is_runnable(unsigned slot)
{
	const struct core *core = &cores[slot];

	if (core->done)
		return false;
	if (!slot)
		return !editor_waits || pt_live_is_clear(&live);
	if (core->found_hole && !core->kicked && core->progress == progress)
		return false;
	return core->kicked || !core->idle || cores[0].done;
}

static void prepare(void)
{
	arena = frames_arena(8);
	CHECK_EQ(pt_init(&pt, &pt_stage2, &arena), HAL_OK);
	pt_live_create(&live, &pt, core_count);
	CHECK_EQ(pt_live_reserve(&live, &pt, IA, SIZE, 0), HAL_OK);
	CHECK_EQ(pt_live_put(&live, IA, (hpa_t){ FRAME }, SIZE, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM), HAL_OK);
	entry = pt_find(&live.format, live.root, IA).entry;
	owned = FRAME;
	progress = 0;
	editor_waits = false;
	for (unsigned slot = 0; slot < core_count; slot++) {
		struct core *core = &cores[slot];

		core->done = core->kicked = core->idle = core->found_hole = false;
		core->kept = slot ? FRAME : 0;
		getcontext(&core->context);
		core->context.uc_stack.ss_sp = core->stack;
		core->context.uc_stack.ss_size = sizeof(core->stack);
		core->context.uc_link = NULL;
		makecontext(&core->context, run_core, 0);
	}
}

static struct choice {
	unsigned taken, of;
} choices[MAX_STEPS * CORES];

/* One order: the first `fixed` choices as they stand, the rest as `choose` says. Returns how many choices there were. */
static unsigned run_once(unsigned fixed, unsigned (*choose)(unsigned of))
{
	unsigned count = 0;

	prepare();
	simulating = true;
	for (;;) {
		unsigned runnable[CORES], of = 0;

		for (unsigned slot = 0; slot < core_count; slot++)
			if (current = 0, simulating = false, is_runnable(slot))
				runnable[of++] = slot;
		simulating = true;
		if (!of)
			break;
		CHECK(count < MAX_STEPS * CORES);
		if (count >= fixed)
			choices[count].taken = choose(of);
		choices[count].of = of;
		current = runnable[choices[count++].taken];
		cores[current].found_hole &= cores[current].progress == progress;
		swapcontext(&scheduler, &cores[current].context);
	}
	simulating = false;
	for (unsigned slot = 0; slot < core_count; slot++)
		CHECK(cores[slot].done); /* nobody waits for ever */
	return count;
}

static unsigned choose_first(unsigned of)
{
	return 0;
}

static uint64_t random_state;

/* splitmix64 (Steele, Lea, Flood 2014). */
static unsigned choose_any(unsigned of)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (unsigned)((z ^ z >> 31) % of);
}

static void test_every_order(void)
{
	unsigned count, left;

	check_context.subject = "every order";
	check_context.round = 0;
	core_count = 2;
	replacements = 1;
	count = run_once(0, choose_first);
	for (;;) {
		check_context.round++;
		for (left = count; left && choices[left - 1].taken + 1 == choices[left - 1].of; left--)
			;
		if (!left)
			break;
		choices[left - 1].taken++;
		count = run_once(left, choose_first);
	}
	printf("%" PRIu64 " orders of two cores\n", check_context.round);
	CHECK(check_context.round > 1000);
}

static void test_at_random(unsigned count, unsigned times)
{
	check_context.subject = count == 2 ? "two replacements" : "three cores";
	core_count = count;
	replacements = times;
	for (check_context.round = 0; check_context.round < RUNS_AT_RANDOM; check_context.round++) {
		random_state = check_context.round;
		run_once(0, choose_any);
	}
}

int main(void)
{
	test_every_order();
	test_at_random(3, 1);
	test_at_random(2, 2);
	test_at_random(3, 2);
	CHECK(accesses > RUNS_AT_RANDOM);
	return 0;
}
