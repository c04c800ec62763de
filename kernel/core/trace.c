/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records into the rings of cores (trace.h). */
#include "kernel/core/trace.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/info.h"

_Static_assert(sizeof(struct bh_trace_record) == 32, "a ring of whole pages has a power of two of them");

enum { EXITS_HZ = 1000 };

bool trace_on;
uint32_t trace_life;
struct bh_trace trace_state;

/* What a core has told of its exits. */
static struct told {
	uint64_t next; /* not before then again */
	uint64_t exits[BH_EXIT_REASONS];
} told[BH_MAX_SANDBOX_CORES];
static uint64_t exits_apart; /* ticks: divided for once, which takes a 32-bit processor hundreds of instructions */

void trace_write_at(uint64_t clock, enum bh_trace_kind kind, uint32_t who, uint64_t a, uint64_t b)
{
	struct bh_trace_core *core = &trace_state.core[cpu_slot()];
	struct bh_trace_record *ring = (struct bh_trace_record *)(uintptr_t)core->ring;

	if (!ring)
		return;
	ring[core->head & (core->records - 1)] = (struct bh_trace_record){ .clock = clock, .a = a, .b = b, .who = who, .kind = kind };
	/* Whoever reads has stopped the machine, so it is the compiler alone that must not turn these round. */
	__atomic_signal_fence(__ATOMIC_RELEASE);
	core->head++;
}

void trace_write(enum bh_trace_kind kind, uint32_t who, uint64_t a, uint64_t b)
{
	trace_write_at(arch_counter(), kind, who, a, b);
}

static void write_exits(struct told *known, uint64_t now)
{
	const uint64_t *exits = info_statistics()->core[cpu_slot()].exits;

	if (now < known->next)
		return;
	known->next = now + exits_apart;
	for (uint32_t reason = 0; reason < BH_EXIT_REASONS; reason++) {
		uint64_t count = __atomic_load_n(&exits[reason], __ATOMIC_RELAXED);

		if (count == known->exits[reason])
			continue;
		trace_write_at(now, BH_TRACE_EXITS, reason, count, 0);
		known->exits[reason] = count;
	}
}

void trace_write_irq_end(uint32_t number)
{
	uint64_t now = arch_counter();

	trace_write_at(now, BH_TRACE_IRQ_END, number, 0, 0);
	write_exits(&told[cpu_slot()], now);
}

uint32_t trace_vcpu(const char *name, uint64_t budget, uint64_t period)
{
	uint32_t row = __atomic_add_fetch(&trace_state.vcpu_count, 1, __ATOMIC_RELAXED);

	if (row >= BH_TRACE_VCPUS)
		return 0;
	trace_state.vcpu[row] = (struct bh_trace_vcpu){ .name = (uintptr_t)name, .budget = budget, .period = period };
	return row;
}

void trace_account(uint32_t row, uint64_t made, const uint64_t *had)
{
	if (!row)
		return;
	trace_state.vcpu[row].made = made;
	trace_state.vcpu[row].slot = cpu_slot();
	__atomic_store_n(&trace_state.vcpu[row].had, (uintptr_t)had, __ATOMIC_RELEASE); /* last: another core reads it */
}

void trace_program(uint32_t row, const uint64_t *run)
{
	if (row)
		__atomic_store_n(&trace_state.vcpu[row].run, (uintptr_t)run, __ATOMIC_RELEASE);
}

void trace_core(const uint64_t *charged)
{
	trace_state.core[cpu_slot()].charged = (uintptr_t)charged;
}

void trace_publish(uint64_t clock_hz)
{
	exits_apart = clock_hz / EXITS_HZ;
	trace_state.clock_hz = clock_hz;
	trace_state.version = BH_TRACE_VERSION;
	trace_state.magic = BH_TRACE_MAGIC;
}

void trace_change_vcpu(uint32_t row, uint64_t budget, uint64_t period)
{
	if (!row)
		return;
	trace_state.vcpu[row].budget = budget;
	trace_state.vcpu[row].period = period;
	trace_note(BH_TRACE_CHANGED, row, budget, period);
}

void trace_give_ring(unsigned slot, void *memory, uint64_t bytes)
{
	struct bh_trace_core *core = &trace_state.core[slot];
	uint64_t records = bytes / sizeof(struct bh_trace_record);

	core->records = 1ULL << (63 - __builtin_clzll(records));
	__atomic_store_n(&core->ring, (uintptr_t)memory, __ATOMIC_RELEASE); /* who sees it before its size writes at the head, which is 0 */
}

void trace_switch(bool on, uint64_t clock_hz)
{
	trace_publish(clock_hz);
	__atomic_store_n(&trace_life, trace_life + 1, __ATOMIC_RELAXED); /* others read it meanwhile */
	__atomic_store_n(&trace_on, on, __ATOMIC_RELEASE);
}
