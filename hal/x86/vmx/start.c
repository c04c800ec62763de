/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: a guest core begins, after INIT and STARTUP or from its entry. states_boot.c has made the states. */
#include "arch/x86_64/x86.h"
#include "hal/x86/vmx/states.h"
#include "hal/x86/vmx/vmx.h"
#include "hal/x86/entry.h"

/*
 * As INIT does, the last line forgets translations: those of the guest's earlier life carry the same VPID. SDM vol. 3C, 29.4.3.3
 * "Guidelines for Use of the INVVPID Instruction". Of EPT only gates change, and who
 * closes one kicks this core, which then executes INVEPT (vmx.c).
 */
static void begin(const struct hal_core *core, const struct vmx_state *state)
{
	for (unsigned n = 0; n < state->count; n++)
		vmx_write(state->settings[n].field, state->settings[n].value);
	x86_write_cr2(0);
	x86_write_dr6(DR6_RESET);
	vmx_invvpid(INVALIDATE_SINGLE_CONTEXT, core->partition->index + 1);
}

void vmx_start(struct hal_core *core, uint8_t vector)
{
	const struct vmx_states *states = core->states;

	begin(core, &states->init);
	vmx_write(GUEST_CS_SELECTOR, (uint64_t)vector << 8);
	vmx_write(GUEST_CS_BASE, (uint64_t)vector << 12);
}

void vmx_restart(struct hal_core *core)
{
	const struct vmx_states *states = core->states;

	begin(core, &states->entry);
}
