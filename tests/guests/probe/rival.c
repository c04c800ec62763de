/* SPDX-License-Identifier: Apache-2.0 */
/* The first core sets a task and waits until the other has seen it; that one turns the word over and back until the task is taken away. */
#include "probe/rival.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"

enum { PATIENCE_NS = 10000000 };

/* `wanted` is the first core's, `begun` the other's: how many tasks were set, and taken up; `wanted` is even between tasks. */
static struct {
	struct rival_task task;
	uint32_t wanted, begun;
} rival;

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void ask_and_wait(void)
{
	uint32_t wanted = rival.wanted + 1;
	uint64_t start = arch_counter(), patience = clock_from_ns(PATIENCE_NS);

	__atomic_store_n(&rival.wanted, wanted, __ATOMIC_RELEASE);
	while (load(&rival.begun) != wanted && arch_counter() - start < patience)
		arch_relax();
}

void rival_begin(const struct rival_task *task)
{
	rival.task = *task;
	ask_and_wait();
}

void rival_end(void)
{
	ask_and_wait();
}

static void put(uint64_t *word, uint64_t value, uint32_t pauses)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	memory_publish();
	for (uint32_t n = 0; n <= pauses; n++)
		arch_relax();
}

/* How long a value stands is another time each round: two loops in step, as on an emulator, would never meet. */
static void work(uint32_t wanted)
{
	enum { OTHER_PAUSES = 7, PAUSES = 11 }; /* without a common factor */
	const struct rival_task task = rival.task;

	__atomic_store_n(&rival.begun, wanted, __ATOMIC_RELEASE);
	for (uint32_t round = 0; load(&rival.wanted) == wanted; round++) {
		put(task.word, task.other, round % OTHER_PAUSES);
		put(task.word, task.is, round % PAUSES);
	}
}

_Noreturn void rival_run(void)
{
	for (;;) {
		uint32_t wanted = load(&rival.wanted);

		if (wanted % 2)
			work(wanted);
		else
			__atomic_store_n(&rival.begun, wanted, __ATOMIC_RELEASE);
		arch_relax();
	}
}
