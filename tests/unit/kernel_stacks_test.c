/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Stacks of threads: places in a hole of the kernel's part, each with a page below where nothing is mapped. A shortage of
 * frames or of tables costs no place, also where another core takes one meanwhile, and no frame. Nobody is given the stack on which it
 * runs. kernel/core/stacks.c
 */
#include "kernel/core/stacks.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/space.h"
#include "kernel/core/thread.h"

enum { WINDOW = 1 << SPACE_LARGE_SHIFT, SLOT = FRAME_BYTES + THREAD_STACK_BYTES, STACKS = WINDOW / SLOT, ALL = 1000000 };
#define GRANTS_END (1ULL << 30)

const struct space_format space_format = { .grants_end = GRANTS_END };
struct space kernel_space;

static uint64_t hole; /* the only one; 0: there is none */
static unsigned free_runs, runs_out, refusals;
static uint64_t mapped_at; /* the last one */
static bool another_comes;
static uintptr_t others;

struct space_view space_query(struct space *space, uint64_t virtual)
{
	CHECK(space == &kernel_space && virtual < GRANTS_END);
	return (struct space_view){ .mapped = virtual != hole || !hole, .bytes = WINDOW };
}

uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner)
{
	CHECK(count * FRAME_BYTES == THREAD_STACK_BYTES && owner == FRAME_STACK);
	if (!free_runs)
		return 0;
	free_runs--;
	runs_out++;
	return 0x5000;
}

bool frames_give(uint64_t address, uint64_t count, unsigned owner)
{
	CHECK(address == 0x5000 && count * FRAME_BYTES == THREAD_STACK_BYTES && owner == FRAME_STACK);
	runs_out--;
	free_runs++;
	return true;
}

enum space_status space_map(struct space *space, uint64_t virtual, uint64_t physical, uint64_t size, enum space_kind kind)
{
	CHECK(space == &kernel_space && physical == 0x5000 && size == THREAD_STACK_BYTES && kind == SPACE_DATA);
	CHECK(virtual > hole && virtual + size <= hole + WINDOW && virtual != mapped_at);
	if (another_comes) {
		another_comes = false;
		others = stacks_take();
	} else if (!refusals) {
		mapped_at = virtual;
		return SPACE_OK;
	}
	refusals -= refusals > 0;
	return SPACE_E_NOMEM;
}

/* ---- One after the other ---------------------------------------------------------------------------------------------- */

static uint64_t place_of(uintptr_t stack)
{
	CHECK(stack > hole && (stack - hole) % SLOT == 0);
	return (stack - hole) / SLOT - 1;
}

static void check_no_place(void)
{
	free_runs = ALL;
	CHECK(!stacks_take() && !runs_out); /* there is no hole */
	CHECK(!stacks_is_hole(0) && !stacks_is_hole(GRANTS_END));
	hole = GRANTS_END - 3ULL * WINDOW;
}

static void check_shortages(void)
{
	free_runs = 0;
	for (unsigned n = 0; n < 2 * STACKS; n++)
		CHECK(!stacks_take());
	free_runs = ALL;
	refusals = 2 * STACKS;
	while (refusals)
		CHECK(!stacks_take());
	CHECK_EQ(runs_out, 0);
	CHECK_EQ(place_of(stacks_take()), 0);
}

/* Its place is the next one, and is not given to a third. */
static void check_another_core(void)
{
	another_comes = true;
	CHECK(!stacks_take());
	CHECK_EQ(place_of(others), 2);
	CHECK_EQ(runs_out, 2);
	CHECK_EQ(place_of(stacks_take()), 3);
}

static void check_holes(void)
{
	for (uint64_t at = hole; at < hole + 4 * SLOT; at += 8)
		CHECK_EQ(stacks_is_hole(at), (at - hole) % SLOT < FRAME_BYTES);
	CHECK(!stacks_is_hole(hole - 1) && !stacks_is_hole(hole + 4 * SLOT)); /* nobody has that one yet */
}

static void check_all(void)
{
	for (uint64_t place = 4; place < STACKS; place++)
		CHECK_EQ(place_of(stacks_take()), place);
	CHECK_EQ(runs_out, STACKS - 1); /* one place went to nobody */
	for (unsigned n = 0; n < 3; n++)
		CHECK(!stacks_take());
	CHECK_EQ(runs_out, STACKS - 1);
	CHECK(stacks_is_hole(hole + (STACKS - 1) * SLOT) && !stacks_is_hole(hole + STACKS * SLOT));
}

/* Each core keeps those that were given on it; what is no stack is nobody's. */
static void check_kept(void)
{
	uintptr_t one = hole + 3 * SLOT, other = hole + 40 * SLOT;

	CHECK(!stacks_take_kept());
	stacks_give(other);
	stacks_give(one);
	stacks_give(0);
	stacks_give(hole + WINDOW + SLOT);
	fake_cpu.slot = 1;
	CHECK(!stacks_take_kept() && !stacks_take());
	fake_cpu.slot = 0;
	CHECK_EQ(stacks_take(), one);
	CHECK_EQ(stacks_take_kept(), other);
	CHECK(!stacks_take_kept());
}

/* ---- A caller on one of them ------------------------------------------------------------------------------------------ */

static ucontext_t outside;
static uintptr_t taken[3];

static void take_three(void)
{
	for (unsigned n = 0; n < 3; n++)
		taken[n] = stacks_take_kept();
}

static void call_on(uintptr_t stack, void (*function)(void))
{
	static ucontext_t inside;
	void *bottom = (void *)(stack - THREAD_STACK_BYTES);

	CHECK(mmap(bottom, THREAD_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == bottom);
	CHECK_EQ(getcontext(&inside), 0);
	inside.uc_stack.ss_sp = bottom;
	inside.uc_stack.ss_size = THREAD_STACK_BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, function, 0);
	CHECK_EQ(swapcontext(&outside, &inside), 0);
	CHECK_EQ(munmap(bottom, THREAD_STACK_BYTES), 0);
}

/* Who gives its own stack runs on it still: that caller never takes it. */
static void check_own(void)
{
	uintptr_t before = hole + 4 * SLOT, own = hole + 36 * SLOT, after = hole + 37 * SLOT;

	stacks_give(before); /* the same bit of another word */
	stacks_give(own);
	stacks_give(after);
	call_on(own, take_three);
	CHECK(taken[0] == before && taken[1] == after && !taken[2]);
	CHECK_EQ(stacks_take_kept(), own);
	CHECK(!stacks_take_kept());
}

int main(void)
{
	check_no_place();
	check_shortages();
	check_another_core();
	check_holes();
	check_all();
	check_kept();
	check_own();
	return 0;
}
