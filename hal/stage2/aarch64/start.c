/* SPDX-License-Identifier: Apache-2.0 */
/* A guest core at its first instruction, and at its last. ARM ARM D24.2 describes each register by name. */
#include "hal/stage2/stage2.h"

#include "arch/aarch64/sysreg.h"

#define SPSR_ENTRY 0x3c5u /* EL1h, DAIF masked */

void guest_start(struct hal_core *core)
{
	for (unsigned n = 0; n < GUEST_GENERAL_REGISTERS; n++)
		core->guest.x[n] = 0;
	core->guest.pc = core->entry.pc;
	core->guest.spsr = SPSR_ENTRY;
	core->guest.x[0] = core->entry.arg;
	guest_reset(core->entry.stack);
}

void guest_quiesce(void)
{
	SYSREG_WRITE(CNTV_CTL_EL0, 0);
	SYSREG_WRITE(CNTP_CTL_EL0, 0);
}
