/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.trace. A ring holds the latest records of its core, and nothing while tracing is off; the scheduler decides alike with tracing and
 * without, and its records tell what ran. kernel/core/trace.c, trace_sched.c
 */
#include "kernel/core/trace.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/thread.h"
#include "kernel/core/trace_sched.h"
#include "random.h"

enum { STEPS = 5000, CORES = 3, MOST = 64, HZ = 1000000, LEAVES = 4, TICKS = 32 };

static uint64_t now;
static struct bh_stats stats;
static struct bh_trace_record rings[CORES][MOST];

uint64_t arch_counter(void)
{
	return now;
}

const struct bh_stats *info_statistics(void)
{
	return &stats;
}

static const struct bh_trace_record *record_at(unsigned slot, uint64_t n)
{
	const struct bh_trace_core *core = &trace_state.core[slot];

	return &((const struct bh_trace_record *)(uintptr_t)core->ring)[n % core->records];
}

static void begin(void)
{
	memset(&trace_state, 0, sizeof(trace_state));
	fake_cpu.slot = 0;
}

static void test_off(void)
{
	check_context.subject = "off";
	begin();
	trace_give_ring(0, rings[0], sizeof(rings[0]));
	trace_note(BH_TRACE_READY, 1, 2, 3);
	CHECK_EQ(trace_state.core[0].head, 0);
	CHECK_EQ(trace_state.magic, 0);
	trace_switch(true, HZ);
	CHECK_EQ(trace_state.magic, BH_TRACE_MAGIC);
	CHECK_EQ(trace_state.version, BH_TRACE_VERSION);
	CHECK_EQ(trace_state.clock_hz, HZ);
	trace_note(BH_TRACE_READY, 1, 2, 3);
	CHECK_EQ(trace_state.core[0].head, 1);
	trace_switch(false, HZ);
	trace_note(BH_TRACE_READY, 1, 2, 3);
	CHECK_EQ(trace_state.core[0].head, 1);
	CHECK_EQ(trace_state.magic, BH_TRACE_MAGIC);
}

/* Rings of any size, also none; what lies behind a ring stays as it is. */
static void test_wrap(void)
{
	uint64_t sizes[CORES] = { 0, 2 + below(6), 8 + below(MOST - 8) };
	uint64_t written[CORES] = { 0 };

	begin();
	memset(rings, 0xa5, sizeof(rings));
	for (unsigned slot = 1; slot < CORES; slot++) {
		trace_give_ring(slot, rings[slot], sizes[slot] * sizeof(rings[0][0]) + below(sizeof(rings[0][0])));
		CHECK(trace_state.core[slot].records <= sizes[slot] && 2 * trace_state.core[slot].records > sizes[slot]);
	}
	trace_switch(true, HZ);
	for (unsigned step = 0; step < 200; step++) {
		unsigned slot = fake_cpu.slot = (unsigned)below(CORES);

		now += below(3);
		trace_note(BH_TRACE_THREAD, slot, written[slot]++, now);
	}
	trace_switch(false, HZ);
	for (unsigned slot = 0; slot < CORES; slot++) {
		const struct bh_trace_core *core = &trace_state.core[slot];

		CHECK_EQ(core->head, slot ? written[slot] : 0);
		for (uint64_t n = core->head > core->records ? core->head - core->records : 0; n < core->head; n++) {
			CHECK_EQ(record_at(slot, n)->a, n);
			CHECK_EQ(record_at(slot, n)->who, slot);
			CHECK_EQ(record_at(slot, n)->kind, BH_TRACE_THREAD);
			CHECK_EQ(record_at(slot, n)->clock, record_at(slot, n)->b);
		}
		for (const uint8_t *after = (const uint8_t *)&rings[slot][core->records]; after < (const uint8_t *)&rings[slot][MOST];
		     after++)
			CHECK_EQ(*after, 0xa5);
	}
}

static void test_rows(void)
{
	static const char name[] = "loop";
	static const uint64_t account[4];

	check_context.subject = "rows";
	begin();
	CHECK_EQ(trace_vcpu(name, 2, 10), 1);
	CHECK_EQ(trace_state.vcpu[1].name, (uintptr_t)name);
	CHECK_EQ(trace_state.vcpu[1].budget, 2);
	CHECK_EQ(trace_state.vcpu[1].period, 10);
	trace_account(1, 5, account);
	trace_program(1, account + 1);
	CHECK_EQ(trace_state.vcpu[1].made, 5);
	CHECK_EQ(trace_state.vcpu[1].had, (uintptr_t)account);
	CHECK_EQ(trace_state.vcpu[1].run, (uintptr_t)(account + 1));
	trace_change_vcpu(1, 3, 11); /* no other row */
	CHECK_EQ(trace_state.vcpu[1].budget, 3);
	CHECK_EQ(trace_state.vcpu[1].period, 11);
	CHECK_EQ(trace_state.vcpu_count, 1);
	trace_account(0, 1, account);
	trace_program(0, account);
	trace_change_vcpu(0, 1, 1);
	CHECK(!trace_state.vcpu[0].had && !trace_state.vcpu[0].run && !trace_state.vcpu[0].budget);
	for (uint32_t row = 2; row < BH_TRACE_VCPUS; row++)
		CHECK_EQ(trace_vcpu(name, 1, 1), row);
	CHECK_EQ(trace_vcpu(name, 1, 1), 0);
	CHECK_EQ(trace_state.vcpu[0].name, 0);
}

/* Told once for each reason that has come since, and not again within a millisecond. */
static void test_exits(void)
{
	check_context.subject = "exits";
	begin();
	trace_give_ring(0, rings[0], sizeof(rings[0]));
	trace_switch(true, HZ);
	stats.core[0].exits[BH_EXIT_CALL] = 7;
	stats.core[1].exits[BH_EXIT_KICK] = 9;
	now += HZ;
	trace_write_irq_end(27);
	CHECK_EQ(trace_state.core[0].head, 2);
	CHECK_EQ(record_at(0, 0)->kind, BH_TRACE_IRQ_END);
	CHECK_EQ(record_at(0, 0)->who, 27);
	CHECK_EQ(record_at(0, 1)->kind, BH_TRACE_EXITS);
	CHECK_EQ(record_at(0, 1)->who, BH_EXIT_CALL);
	CHECK_EQ(record_at(0, 1)->a, 7);
	stats.core[0].exits[BH_EXIT_CALL]++;
	now += HZ / 1000 - 1;
	trace_write_irq_end(27);
	CHECK_EQ(trace_state.core[0].head, 3);
	now++;
	trace_write_irq_end(27);
	CHECK_EQ(trace_state.core[0].head, 5);
	CHECK_EQ(record_at(0, 4)->a, 8);
	now += HZ;
	trace_write_irq_end(27);
	CHECK_EQ(trace_state.core[0].head, 6);
	fake_cpu.slot = 1; /* which has told nothing yet */
	trace_give_ring(1, rings[1], sizeof(rings[1]));
	trace_write_irq_end(27);
	CHECK_EQ(trace_state.core[1].head, 2);
	CHECK_EQ(record_at(1, 1)->who, BH_EXIT_KICK);
	CHECK_EQ(record_at(1, 1)->a, 9);
	trace_switch(false, HZ);
}

/* ---- Decisions ------------------------------------------------------------------------------------------------------ */

static struct sched core;
static uint64_t words[4 * LEAVES];
static struct vcpu *by_rank[LEAVES];
static struct thread_vcpu high, low;

static void make(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	memset(on, 0, sizeof(*on));
	on->row = trace_vcpu(name, budget, period);
	CHECK_EQ(sched_add_main(&core, &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, 0), SCHED_OK);
	on->vcpu.foreground_only = true;
}

static void decide(uint64_t tick)
{
	sched_decide(&core, tick);
	trace_decided(&core);
}

/* Vector V1: budget 2 of 10, always ready, and somebody before it in [1, 9). */
static void run(const struct vcpu *ran[TICKS])
{
	sched_init(&core, words, by_rank, LEAVES, 0);
	make(&high, "high", 8, 9);
	make(&low, "low", 2, 10);
	core.until = 0;
	sched_ready(&core, &low.vcpu, 0);
	for (uint64_t tick = 0; tick < TICKS; tick++) {
		if (tick == 1)
			sched_ready(&core, &high.vcpu, tick);
		if (tick == 9)
			sched_idle(&core, &high.vcpu, tick);
		if (tick == 1 || tick == 9 || tick >= core.until)
			decide(tick);
		ran[tick] = core.running;
	}
}

/* Who ran at each tick, by the records alone. */
static void check_ran(const struct vcpu *const ran[TICKS])
{
	uint32_t row = 0;
	uint64_t n = 0;

	for (uint64_t tick = 0; tick < TICKS; tick++) {
		for (; n < trace_state.core[0].head && record_at(0, n)->clock <= tick; n++)
			if (record_at(0, n)->kind == BH_TRACE_VCPU)
				row = record_at(0, n)->who;
		CHECK_EQ(row, ran[tick] ? ((const struct thread_vcpu *)ran[tick])->row : 0);
	}
	CHECK_EQ(n, trace_state.core[0].head);
}

static void check_record(uint64_t clock, enum bh_trace_kind kind, uint64_t a, uint64_t b)
{
	for (uint64_t n = 0; n < trace_state.core[0].head; n++) {
		const struct bh_trace_record *record = record_at(0, n);

		if (record->clock == clock && record->kind == kind && record->who == low.row && record->a == a && record->b == b)
			return;
	}
	check_context.round = clock;
	CHECK(!"a record is missing");
}

static void test_decisions(void)
{
	static const unsigned runs[] = { 0, 9, 10, 11, 20, 21, 30, 31 };
	const struct vcpu *without[TICKS], *with[TICKS];

	check_context.subject = "decisions";
	begin();
	run(without);
	begin();
	trace_give_ring(0, rings[0], sizeof(rings[0]));
	trace_switch(true, HZ);
	run(with);
	trace_switch(false, HZ);
	CHECK(memcmp(without, with, sizeof(with)) == 0);
	for (unsigned tick = 0, n = 0; tick < TICKS; tick++) {
		CHECK_EQ(with[tick] == &low.vcpu, n < 8 && runs[n] == tick);
		n += n < 8 && runs[n] == tick;
	}
	check_ran(with);
	check_record(0, BH_TRACE_VCPU, 2, 1);
	check_record(1, BH_TRACE_CHARGED, 1, 0);
	check_record(1, BH_TRACE_REPLENISH, 1, 10);
	check_record(9, BH_TRACE_VCPU, 1, 1);
	check_record(12, BH_TRACE_USED_UP, 20, 0);
}

/* An interrupt in [1, 2) that `high` has caused: what is left of the budget lasts longer. */
static void test_excepted(void)
{
	check_context.subject = "excepted";
	begin();
	trace_give_ring(0, rings[0], sizeof(rings[0]));
	sched_init(&core, words, by_rank, LEAVES, 0);
	make(&high, "high", 8, 9);
	make(&low, "low", 2, 10);
	sched_ready(&core, &low.vcpu, 0);
	trace_switch(true, HZ);
	decide(0);
	CHECK_EQ(core.until, 2);
	trace_except(&core, 1, 2, &high.vcpu);
	CHECK_EQ(core.until, 3);
	CHECK_EQ(high.vcpu.owed, 1);
	trace_except(&core, 2, 3, NULL);
	trace_switch(false, HZ);
	trace_except(&core, 3, 4, NULL);
	CHECK_EQ(core.until, 5);
	CHECK_EQ(trace_state.core[0].head, 3);
	for (unsigned n = 1; n < 3; n++) {
		CHECK_EQ(record_at(0, n)->kind, BH_TRACE_EXCEPTED);
		CHECK_EQ(record_at(0, n)->clock, n + 1);
		CHECK_EQ(record_at(0, n)->a, 1);
		CHECK_EQ(record_at(0, n)->who, n == 1 ? high.row : 0);
	}
}

/* Alone, budget 2 of 10: without budget it runs on in the background, which is charged to nobody; then it sleeps as its budget ends. */
static void test_background(void)
{
	static const enum bh_trace_kind kinds[] = { BH_TRACE_VCPU, BH_TRACE_REPLENISH, BH_TRACE_USED_UP, BH_TRACE_VCPU,
						    BH_TRACE_VCPU, BH_TRACE_REPLENISH, BH_TRACE_CHARGED, BH_TRACE_VCPU };
	static const uint64_t times[] = { 0, 2, 2, 2, 10, 12, 12, 12 };
	enum { COUNT = sizeof(times) / sizeof(times[0]) };

	check_context.subject = "background";
	begin();
	trace_give_ring(0, rings[0], sizeof(rings[0]));
	trace_switch(true, HZ);
	sched_init(&core, words, by_rank, LEAVES, 0);
	make(&low, "low", 2, 10);
	low.vcpu.foreground_only = false;
	sched_ready(&core, &low.vcpu, 0);
	for (uint64_t tick = 0; tick <= 10; tick += tick == 0 ? 2 : tick == 2 ? 3 : 5)
		decide(tick);
	sched_idle(&core, &low.vcpu, 12);
	decide(12);
	trace_switch(false, HZ);
	CHECK_EQ(trace_state.core[0].head, COUNT);
	for (check_context.round = 0; check_context.round < COUNT; check_context.round++) {
		CHECK_EQ(record_at(0, check_context.round)->kind, kinds[check_context.round]);
		CHECK_EQ(record_at(0, check_context.round)->clock, times[check_context.round]);
	}
	CHECK_EQ(record_at(0, 3)->b, 0);
	CHECK_EQ(record_at(0, 4)->b, 1);
	CHECK_EQ(record_at(0, 6)->a, 0);
	CHECK_EQ(record_at(0, 7)->who, 0);
}

/* What one core ran is nothing to another, whose first record says that nobody runs. */
static void test_cores(void)
{
	static struct sched other;
	static uint64_t other_words[4 * LEAVES];
	static struct vcpu *other_by_rank[LEAVES];

	check_context.subject = "cores";
	begin();
	for (unsigned slot = 0; slot < 2; slot++)
		trace_give_ring(slot, rings[slot], sizeof(rings[slot]));
	trace_switch(true, HZ);
	sched_init(&core, words, by_rank, LEAVES, 0);
	make(&low, "low", 2, 10);
	sched_ready(&core, &low.vcpu, 0);
	decide(0);
	sched_init(&other, other_words, other_by_rank, LEAVES, 0);
	fake_cpu.slot = 1;
	for (uint64_t tick = 1; tick < 3; tick++) {
		sched_decide(&other, tick);
		trace_decided(&other);
	}
	trace_switch(false, HZ);
	CHECK_EQ(trace_state.core[0].head, 1);
	CHECK_EQ(trace_state.core[1].head, 1);
	CHECK_EQ(record_at(1, 0)->kind, BH_TRACE_VCPU);
	CHECK_EQ(record_at(1, 0)->who, 0);
	CHECK_EQ(record_at(1, 0)->clock, 1);
}

int main(void)
{
	test_off();
	check_context.subject = "wrap";
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++)
		test_wrap();
	check_context.round = 0;
	test_rows();
	test_exits();
	test_decisions();
	test_background();
	test_cores();
	test_excepted();
	return 0;
}
