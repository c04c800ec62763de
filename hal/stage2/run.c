/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the guest and what ended it: exception class → decoder, a const table. Every exit is left with the PC *at* the
 * instruction that caused it, whatever the architecture prefers, so that skipping is always the same.
 */
#include "hal/stage2/decode.h"

static enum bh_exit_reason decode_sync(struct hal_core *core, struct hal_exit *exit)
{
	uint64_t syndrome = exit->raw[0];

	for (const struct syndrome_class *entry = syndrome_classes; entry->decode; entry++)
		if (entry->class == SYNDROME_CLASS(syndrome))
			return entry->decode(core, syndrome, exit);
	return SYNDROME_CLASSES_DENIED >> SYNDROME_CLASS(syndrome) & 1 ? BH_EXIT_FORBIDDEN : BH_EXIT_ERROR;
}

/* The monitor itself trapped: monitor_trapped, switch.S. Nothing has trapped since, so the registers still tell. */
static void describe_own_trap(struct hal_exit *exit)
{
	exit->raw[1] = syndrome_return_address();
	exit->gva = syndrome_address(BH_ACCESS_READ);
}

void hal_core_count(struct hal_core *core, uint64_t *exits)
{
	core->exits = exits;
}

void hal_core_run(struct hal_core *core, struct hal_exit *exit)
{
	unsigned left = core->guest.trap ? LEFT_SERROR : guest_run(core);

	hal_exit_begin(exit);
	exit->raw[0] = syndrome_read();
	if (core->guest.trap)
		describe_own_trap(exit);
	if (left == LEFT_SYNC)
		exit->kind = decode_sync(core, exit);
	if (left == LEFT_FIQ)
		exit->kind = BH_EXIT_KICK;
	if (exit->kind == BH_EXIT_KICK)
		kick_clear(core);
}

uint64_t hal_core_argument(const struct hal_core *core, unsigned n)
{
	return guest_read(core, 1 + n);
}

void hal_core_set_result(struct hal_core *core, uint64_t value)
{
	guest_write(core, 0, value);
}
