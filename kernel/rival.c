/* SPDX-License-Identifier: Apache-2.0 */
/* The first core sets a task and waits until the other has seen it; that one turns the word over and back until the task is taken away. */
#include "kernel/rival.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/clock.h"
#include "kernel/cpu.h"
#include "kernel/memory.h"

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

static void put(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	memory_publish();
	arch_relax();
}

static void work(uint32_t wanted)
{
	const struct rival_task task = rival.task;

	__atomic_store_n(&rival.begun, wanted, __ATOMIC_RELEASE);
	while (load(&rival.wanted) == wanted) {
		put(task.word, task.other);
		put(task.word, task.is);
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
