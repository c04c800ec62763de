/* SPDX-License-Identifier: Apache-2.0 */
/* hal_core_emulate: for each kind of exit that the machine itself would have answered, who answers it here. Any other kind is a fault. */
#include "hal/arm/stage2.h"

/* The monitor sleeps in the guest's place: a guest that owns its CPU interface could sleep through a kick. */
static enum hal_action idle(struct hal_core *core, const struct hal_exit *exit)
{
	hal_core_wait(core);
	return HAL_SKIP;
}

enum hal_action hal_core_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	enum hal_action action;

	switch (exit->kind) {
	case BH_EXIT_DEVICE:
		return pci_emulate(&core->partition->pci, core->self, exit, &action) ? action : gic_emulate(core, exit);
	case BH_EXIT_IPI:
		return gic_emulate_ipi(core, exit);
	case BH_EXIT_REGISTER:
		return register_emulate(core, exit);
	case BH_EXIT_FIRMWARE:
		return psci_emulate(core, exit);
	case BH_EXIT_IDLE:
		return idle(core, exit);
	default:
		return HAL_FAULT;
	}
}
