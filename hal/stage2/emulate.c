/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine below would have done, within the grant: kind → who knows. A kind without an entry is a fault. */
#include "hal/stage2/stage2.h"

/* The monitor sleeps in the guest's place: a guest that owns its CPU interface could sleep through a kick. */
static enum hal_action idle(struct hal_core *core, const struct hal_exit *exit)
{
	hal_core_wait(core);
	return HAL_SKIP;
}

static enum hal_action (*const emulators[BH_EXIT_REASONS])(struct hal_core *core, const struct hal_exit *exit) = {
	[BH_EXIT_DEVICE] = gic_emulate,    [BH_EXIT_IPI] = gic_emulate_ipi, [BH_EXIT_REGISTER] = register_emulate,
	[BH_EXIT_FIRMWARE] = psci_emulate, [BH_EXIT_IDLE] = idle,
};

enum hal_action hal_core_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	return emulators[exit->kind] ? emulators[exit->kind](core, exit) : HAL_FAULT;
}
