/* SPDX-License-Identifier: Apache-2.0 */
/* The loop below one guest core: runs it, counts its exits, answers them; and who ends or restarts the sandbox. Every core of a sandbox
 * runs this in its own stack. */
#include "monitor.h"

#include "arch/arch.h"

struct monitor monitor;

HAL_OUTLINE static void record_crash(const struct hal_core *core, unsigned slot, const struct hal_exit *exit)
{
	struct bh_crash *crash = monitor.crash;

	crash->magic = 0; /* it may hold an earlier life's */
	arch_barrier();
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

HAL_OUTLINE uint32_t monitor_take_kicks(struct hal_core *core, unsigned slot)
{
	uint32_t answered = hal_kick_take(core);

	monitor.stats->core[slot].kicks += answered;
	return answered;
}

static uint32_t current_phase(void)
{
	return __atomic_load_n(&monitor.phase, __ATOMIC_ACQUIRE);
}

static bool is_in(enum phase phase)
{
	return (current_phase() & PHASE_MASK) == phase;
}

bool monitor_change_phase(uint32_t found, uint32_t to)
{
	return __atomic_compare_exchange_n(&monitor.phase, &found, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/*
 * Returns whether this core ends the life of all; if so, *again says whether another life begins. If several cores fault or ask for a
 * restart, the first one decides, because each reads the phase before it reads how many restarts are left. An end that was
 * asked for, or that a trap of the monitor has made inevitable, wins over a restart in progress.
 */
static bool claim(enum hal_action action, bool *again)
{
	uint32_t found = current_phase();
	bool may_restart = monitor.snapshot && !__atomic_load_n(&monitor.trapped, __ATOMIC_RELAXED) && action >= HAL_FAULT;

	*again = may_restart && (action == HAL_RESTART || monitor.restarts_left);
	if (!may_restart)
		return __atomic_exchange_n(&monitor.phase, (uint32_t)PHASE_ENDED, __ATOMIC_ACQ_REL) != PHASE_ENDED;
	return (found & PHASE_MASK) == PHASE_RUNS && monitor_change_phase(found, *again ? found + PHASE_RESTARTS : PHASE_ENDED);
}

void monitor_end(const struct hal_core *core, uint32_t state)
{
	__atomic_store_n(&monitor.stats->state, state, __ATOMIC_RELEASE);
	if (state == BH_STATE_PARKED)
		hal_notice_send(core);
}

/* All cores of a sandbox end together, and begin together. The crash record is the deciding core's; the state is written after it. */
static void end_life(struct hal_core *core, unsigned slot, const struct hal_exit *exit, enum hal_action action)
{
	bool again;

	if (!claim(action, &again))
		return;
	if (action == HAL_FAULT) {
		record_crash(core, slot, exit);
		monitor.restarts_left -= again;
	}
	if (!again)
		monitor_end(core, action == HAL_FAULT ? BH_STATE_PARKED : BH_STATE_OFF);
	hal_kick_siblings(core);
}

static void answer_kicks(struct hal_core *core, unsigned slot)
{
	static const struct hal_exit hang = { .kind = BH_EXIT_HANG };

	if (monitor_take_kicks(core, slot) && is_in(PHASE_RUNS) && restart_heartbeat_missed()) {
		monitor.stats->core[slot].exits[BH_EXIT_HANG]++;
		end_life(core, slot, &hang, HAL_FAULT);
	}
}

/*
 * Exits after which attend() would find nothing that does not end the next run by itself. What it looks for, and how it comes:
 *
 *   another monitor's kick                    hal_kick_send: the next run ends at once, however the guest has set up its interrupts;
 *                                             how, each backend's file says, and BH-D330
 *   a missed heartbeat                        is looked at with a kick
 *   a sibling ends or restarts the sandbox    hal_kick_siblings, the same way
 *   a sibling starts, stops or interrupts it  with the same kick
 *   this core ends or restarts the sandbox    is not settled: goes through end_life
 *   this core stops or interrupts itself      is not settled: IPI, FIRMWARE
 *   a trap of this core's monitor             monitor_run begins anew, and hal_core_run reports ERROR
 *
 * A backend may answer an exit without coming here if each of these causes would still end its next run.
 *
 * An answer to one of these kinds never clears a pending signal while its cause remains: only KICK, hal_core_wait and a restart do, and
 * then the core looks. IDLE waits, so it is not settled. Only an exit whose instruction has been completed counts: an exception that the
 * guest is given may lead to an instruction that exits before the signal is taken, and so on without end (BH-D330).
 */
enum {
	SETTLED = 1 << BH_EXIT_DEVICE | 1 << BH_EXIT_PORT | 1 << BH_EXIT_REGISTER | 1 << BH_EXIT_CALL | 1 << BH_EXIT_IDENTIFY |
		  1 << BH_EXIT_LONG
};

/*
 * What others want of this core, until its guest may run: monitors that kick, the sandbox's other cores. In a sandbox that has ended it
 * never may, but kicks are answered all the same, so that nobody ever waits for it (BH-I4.kick).
 */
static void attend(struct hal_core *core, unsigned slot)
{
	for (;;) {
		uint32_t phase;

		answer_kicks(core, slot);
		phase = current_phase();
		if ((phase & PHASE_MASK) != PHASE_RUNS)
			restart_take_part(core, slot, phase);
		else if (hal_core_ready(core))
			return;
		else
			hal_core_wait(core);
	}
}

/*
 * Notes that monitor_run was entered. A second entry of this core means that its monitor trapped and left something half done: the sandbox
 * does not begin again, and if it was being parked, this core does no more of that. Returns whether hal_core_run is to report the trap.
 */
static bool enter_again(struct hal_core *core, unsigned slot)
{
	uint32_t self = UINT32_C(1) << slot;

	if (__atomic_fetch_or(&monitor.entered, self, __ATOMIC_ACQ_REL) & self) {
		__atomic_store_n(&monitor.trapped, true, __ATOMIC_RELAXED);
		if (!is_in(PHASE_ENDED))
			return true;
		__atomic_store_n(&monitor.stopped[slot], PHASE_ENDED, __ATOMIC_RELEASE);
		if (!slot)
			channels_tell(core, BH_CHANNEL_GONE);
		return false;
	}
	if (!slot) {
		channels_tell(core, BH_CHANNEL_LIVES); /* before a condemned core, which waits for the state, can tell the end */
		monitor.stats->start_clock = arch_counter();
		__atomic_store_n(&monitor.stats->state, BH_STATE_RUNNING, __ATOMIC_RELEASE);
	}
	return false;
}

/* Entered again only by a trap of the monitor itself, which hal_core_run then reports as an error of the sandbox. */
void monitor_run(struct hal_core *core)
{
	unsigned slot = hal_core_slot(core);
	struct bh_core_stats *stats = &monitor.stats->core[slot];
	struct hal_exit exit;

	hal_core_begin(core, stats->exits, monitor.doorbells);
	if (!enter_again(core, slot))
		attend(core, slot);
	for (;;) {
		enum hal_action action;

		hal_core_run(core, &exit);
		stats->exits[exit.kind]++;
		action = monitor_answer(core, slot, &exit);
		if (action == HAL_RESUME || action == HAL_SKIP || action == HAL_REFUSE)
			hal_core_apply(core, &exit, action);
		else
			end_life(core, slot, &exit, action);
		if (action != HAL_SKIP || !(SETTLED >> exit.kind & 1))
			attend(core, slot);
	}
}
