/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one guest core, below it: run, count, answer, go on. Every core of a sandbox runs this in its own stack. */
#include "monitor.h"

#include "arch/arch.h"

struct monitor monitor;

static unsigned slot_of(const struct hal_core *core)
{
	unsigned slot = 0;

	while (slot < BH_MAX_SANDBOX_CORES - 1 && monitor.cores[slot] != core)
		slot++;
	return slot;
}

static void record_crash(const struct hal_core *core, unsigned slot, const struct hal_exit *exit)
{
	struct bh_crash *crash = monitor.crash;

	crash->reason = exit->kind;
	crash->core = monitor.core_numbers[slot];
	crash->access = exit->access;
	crash->width = exit->width;
	crash->gpa = exit->gpa;
	crash->gva = exit->gva;
	crash->value = exit->value;
	crash->raw[0] = exit->raw[0];
	crash->raw[1] = exit->raw[1];
	hal_core_record(core, crash);
	crash->clock = arch_counter();
	arch_barrier();
	crash->magic = BH_CRASH_MAGIC;
}

/* BH-I4.kick: the sandbox has ended; its core still answers kicks, so that nobody ever waits for it. */
static _Noreturn void rest(struct hal_core *core, struct bh_core_stats *stats)
{
	for (;;) {
		stats->kicks += hal_kick_take(core);
		hal_core_wait(core);
	}
}

static bool has_ended(void)
{
	return __atomic_load_n(&monitor.ended, __ATOMIC_ACQUIRE);
}

/* All cores of a sandbox end together. What the first had to say stands; the state is told when the record is complete. */
static void end_sandbox(struct hal_core *core, unsigned slot, const struct hal_exit *exit, enum hal_action action)
{
	if (__atomic_exchange_n(&monitor.ended, true, __ATOMIC_ACQ_REL))
		return;
	if (action == HAL_FAULT)
		record_crash(core, slot, exit);
	__atomic_store_n(&monitor.stats->state, action == HAL_STOP ? BH_STATE_OFF : BH_STATE_PARKED, __ATOMIC_RELEASE);
	hal_kick_siblings(core);
}

/* What others want of this core, until its guest may run: monitors that kick, the sandbox's other cores. */
static void attend(struct hal_core *core, struct bh_core_stats *stats)
{
	for (;;) {
		stats->kicks += hal_kick_take(core);
		if (has_ended()) {
			hal_core_quiesce(core);
			rest(core, stats);
		}
		if (hal_core_ready(core))
			return;
		hal_core_wait(core);
	}
}

static void first_entry(void)
{
	monitor.stats->state = BH_STATE_RUNNING;
	monitor.stats->start_clock = arch_counter();
}

/* Entered again only by a trap of the monitor itself, which hal_core_run then reports as an error of the sandbox. */
void monitor_run(struct hal_core *core)
{
	unsigned slot = slot_of(core);
	struct bh_core_stats *stats = &monitor.stats->core[slot];
	struct hal_exit exit;

	if (has_ended()) /* trapped in its own monitor while it was being parked */
		rest(core, stats);
	if (!slot && monitor.stats->state == BH_STATE_COLD)
		first_entry();
	for (;;) {
		enum hal_action action;

		attend(core, stats);
		hal_core_run(core, &exit);
		stats->exits[exit.kind]++;
		action = monitor_answer(core, slot, &exit);
		if (action == HAL_FAULT || action == HAL_STOP)
			end_sandbox(core, slot, &exit, action);
		else
			hal_core_apply(core, &exit, action);
	}
}
