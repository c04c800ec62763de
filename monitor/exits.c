/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy: what becomes of each kind of exit (BH-I1.memory, BH-I6.contained, BH-I8.bounded). A const table; a kind without an entry is a
 * fault of the sandbox. What the machine below would have done is hal's to imitate, within the grant; what only the monitor can decide
 * stands here.
 */
#include "monitor.h"

#include "arch/arch.h"

/* Another core may be ending the sandbox: that state stays. */
static int64_t call_ready(void)
{
	struct bh_stats *stats = monitor.stats;
	uint32_t running = BH_STATE_RUNNING;

	for (unsigned slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) /* of cores that it has not, zeros */
		for (unsigned reason = 0; reason < BH_EXIT_REASONS; reason++)
			stats->at_ready[slot][reason] = (uint32_t)stats->core[slot].exits[reason];
	stats->ready_clock = arch_counter();
	__atomic_compare_exchange_n(&stats->state, &running, BH_STATE_READY, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return BH_OK;
}

/* Waits, within a bound, until the other monitor has answered; answers its own kicks meanwhile, or two could deadlock. */
static int64_t call_kick(struct hal_core *core, unsigned slot, uint64_t target)
{
	uint64_t start;
	uint32_t ticket;

	if (target >= BH_MAX_SANDBOXES || !(monitor.may_kick >> target & 1))
		return BH_E_DENIED;
	ticket = hal_kick_send(core, (uint32_t)target);
	start = arch_counter();
	while (!hal_kick_answered(core, (uint32_t)target, ticket)) {
		if (arch_counter() - start > monitor.kick_timeout)
			return BH_E_TIMEOUT;
		monitor_take_kicks(core, slot);
		arch_relax();
	}
	return BH_OK;
}

/* Counted from the first: a small number takes less code to compare, and compilers would undo that. */
static uintptr_t number_of(const struct hal_exit *exit)
{
	uintptr_t first = BH_CALL_VERSION;

	__asm__("" : "+r"(first));
	return (uintptr_t)exit->gpa - first;
}

enum {
	READY = BH_CALL_READY - BH_CALL_VERSION,
	PARK = BH_CALL_PARK - BH_CALL_VERSION,
	KICK = BH_CALL_KICK - BH_CALL_VERSION,
	RESTART = BH_CALL_RESTART - BH_CALL_VERSION,
	OPEN = BH_CALL_OPEN - BH_CALL_VERSION,
	CLOSE = BH_CALL_CLOSE - BH_CALL_VERSION,
};

HAL_OUTLINE static enum hal_action call(struct hal_core *core, unsigned slot, const struct hal_exit *exit)
{
	uintptr_t number = number_of(exit);
	uint64_t argument = hal_core_argument(core);
	int64_t result = BH_E_UNKNOWN;

	switch (number) {
	case READY:
		result = call_ready();
		break;
	case KICK:
		result = call_kick(core, slot, argument);
		break;
	case OPEN:
	case CLOSE:
		result = channels_turn(core, argument, number == OPEN);
		break;
	case PARK:
		return HAL_STOP;
	case RESTART:
		return HAL_RESTART;
	default:
		(void)hal_core_call(core, number, &result);
		break;
	}
	hal_core_set_result(core, (uint64_t)result);
	return HAL_SKIP;
}

/* A kick is acknowledged after every exit, whatever its kind. */
enum answer { FAULT, RESUME, REFUSE, EMULATE, CALL };

static const uint8_t answers[BH_EXIT_REASONS] = {
	[BH_EXIT_KICK] = RESUME,  [BH_EXIT_DEVICE] = EMULATE, [BH_EXIT_PORT] = EMULATE,     [BH_EXIT_REGISTER] = EMULATE,
	[BH_EXIT_IPI] = EMULATE,  [BH_EXIT_CALL] = CALL,      [BH_EXIT_FIRMWARE] = EMULATE, [BH_EXIT_IDENTIFY] = EMULATE,
	[BH_EXIT_IDLE] = EMULATE, [BH_EXIT_LONG] = EMULATE,   [BH_EXIT_FORBIDDEN] = REFUSE,
};

enum hal_action monitor_answer(struct hal_core *core, unsigned slot, const struct hal_exit *exit)
{
	switch (exit->kind < BH_EXIT_REASONS ? answers[exit->kind] : FAULT) {
	case RESUME:
		return HAL_RESUME;
	case REFUSE:
		return HAL_REFUSE;
	case EMULATE:
		return hal_core_emulate(core, exit);
	case CALL:
		return call(core, slot, exit);
	default:
		return HAL_FAULT;
	}
}
