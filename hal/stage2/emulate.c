/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine below would have done, within the grant: kind → who knows. A kind that is not here is a fault. */
#include "hal/stage2/stage2.h"

/* The monitor sleeps in the guest's place: a guest that owns its CPU interface could sleep through a kick. */
static enum hal_action idle(struct hal_core *core, const struct hal_exit *exit)
{
	hal_core_wait(core);
	return HAL_SKIP;
}

/* Stage 2 lets guests read configuration registers: what comes here writes. */
static enum hal_action device(struct hal_core *core, const struct hal_exit *exit)
{
	const struct pci_view *pci = &core->partition->pci;
	uint32_t place = pci_place(pci, exit->gpa);

	return place == PCI_NOWHERE ? gic_emulate(core, exit) : pci_write(pci, place, exit->width, (uint32_t)exit->value);
}

enum hal_action hal_core_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	switch (exit->kind) {
	case BH_EXIT_DEVICE:
		return device(core, exit);
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
