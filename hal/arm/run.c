/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the guest and what ended it: exception class → decoder, a const table. Every exit is left with the PC *at* the
 * instruction that caused it, whatever the architecture prefers, so that skipping is always the same.
 */
#include "hal/arm/decode.h"
#include "hal/doorbell.h"

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

unsigned hal_core_slot(const struct hal_core *core)
{
	return core->slot;
}

void hal_core_begin(struct hal_core *core, uint64_t *exits, struct hal_doorbell *doorbells)
{
	core->exits = exits;
	core->doorbells = doorbells;
	hal_lock_leave(core->partition->pci.lock, core->self);
	iommu_leave(&core->partition->iommu, core->self);
}

int64_t hal_doorbell_ring(struct hal_core *self, uint64_t n)
{
	struct hal_doorbell *doorbell;
	int64_t result;
	bool rings;

	if (n >= BH_MAX_CHANNELS)
		return BH_E_DENIED;
	doorbell = &self->doorbells[n];
	result = hal_doorbell_claim(doorbell, &rings);
	if (rings)
		gic_ring(doorbell->line);
	return result;
}

/* Other functions than these go the long way, which has all checks. */
unsigned guest_call(struct hal_core *core)
{
	int64_t result = BH_INFO_VERSION;

	if (guest_function(core) == BH_CALL_DOORBELL)
		result = hal_doorbell_ring(core, hal_core_argument(core));
	else if (guest_function(core) != BH_CALL_VERSION)
		return 0;
	hal_core_set_result(core, (uint64_t)result);
	core->exits[BH_EXIT_CALL]++;
	return 1;
}

/* guest_call has answered all of them. */
bool hal_core_call(struct hal_core *core, uintptr_t number, int64_t *result)
{
	return false;
}

/* `exit` is for what the GIC's own functions want to know of it. */
static bool answer_at_once(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	switch (SYNDROME_CLASS(syndrome)) {
	case CLASS_REGISTER:
		return gic_send_at_once(core, syndrome);
	case CLASS_DATA_ABORT:
		return decode_word_access(core, syndrome, exit) && gic_access_at_once(core, exit);
	default:
		return false;
	}
}

/*
 * DEVICE and IDLE are the hal's to answer, and change nothing that monitor/run.c looks at. A faulty access has had no effect, so the
 * monitor finds the same fault again. A wait may take a kick's signal, but never the poison.
 */
static bool is_answered(struct hal_core *core, const struct hal_exit *exit)
{
	const unsigned kinds = 1u << BH_EXIT_DEVICE | 1u << BH_EXIT_IDLE;

	if (!(kinds >> exit->kind & 1) || hal_core_emulate(core, exit) != HAL_SKIP)
		return false;
	core->exits[exit->kind]++;
	return true;
}

static void decode(struct hal_core *core, unsigned left, struct hal_exit *exit)
{
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

/*
 * What is frequent and needs no policy is answered here, by the functions that answer it for the monitor. Nobody looks for kicks or the end
 * in between: both take the valid bits from the stage-2 root, so the guest's next fetch exits, and that comes back.
 */
void hal_core_run(struct hal_core *core, struct hal_exit *exit)
{
	for (;;) {
		unsigned left = core->guest.trap ? LEFT_SERROR : guest_run(core);
		uint64_t syndrome = syndrome_read();

		if (left != LEFT_SYNC || !answer_at_once(core, syndrome, exit)) {
			decode(core, left, exit);
			if (!is_answered(core, exit))
				return;
		}
		guest_skip(core, syndrome);
	}
}

uint64_t hal_core_argument(const struct hal_core *core)
{
	return guest_read(core, 1);
}

void hal_core_set_result(struct hal_core *core, uint64_t value)
{
	guest_write(core, 0, value);
}
