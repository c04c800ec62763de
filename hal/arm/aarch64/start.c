/* SPDX-License-Identifier: Apache-2.0 */
/* A guest core at its first instruction, and at its last. ARM ARM D24.2 describes each register by name. */
#include "hal/arm/stage2.h"

#include "arch/arm/aarch64/sysreg.h"

#define SPSR_ENTRY   0x3c5u /* EL1h, DAIF masked */
#define DBGCLAIM_ALL 0xffu

/*
 * What an earlier life may have left and no reset would change. Breakpoints are off with MDSCR_EL1; their registers keep their values,
 * as they do over a warm reset: ARM ARM D24.3 "DBGBCR<n>_EL1". Processors without MDCR_EL2.TDCC leave MDCCINT_EL1 to guests.
 */
static void clear_left(void)
{
	SYSREG_WRITE(TPIDRRO_EL0, 0);
	SYSREG_WRITE(ELR_EL1, 0);
	SYSREG_WRITE(SPSR_EL1, 0);
	SYSREG_WRITE(ESR_EL1, 0);
	SYSREG_WRITE(FAR_EL1, 0);
	SYSREG_WRITE(PAR_EL1, 0);
	SYSREG_WRITE(AFSR0_EL1, 0);
	SYSREG_WRITE(AFSR1_EL1, 0);
	SYSREG_WRITE(AMAIR_EL1, 0);
	SYSREG_WRITE(CSSELR_EL1, 0);
	SYSREG_WRITE(MDCCINT_EL1, 0);
	SYSREG_WRITE(DBGCLAIMCLR_EL1, DBGCLAIM_ALL);
	SYSREG_WRITE(CNTV_CVAL_EL0, 0);
	SYSREG_WRITE(CNTP_CVAL_EL0, 0);
}

void guest_start(struct hal_core *core)
{
	for (unsigned n = 0; n < GUEST_GENERAL_REGISTERS; n++)
		core->guest.x[n] = 0;
	core->guest.pc = core->entry.pc;
	core->guest.spsr = SPSR_ENTRY;
	core->guest.x[0] = core->entry.arg;
	__asm__ volatile("ic iallu\n\tdsb nsh" : : : "memory"); /* what it held was fetched before a restart wrote this code */
	guest_reset(core->entry.stack);
	guest_quiesce();
	clear_left();
	guest_clear_vectors();
}

void guest_quiesce(void)
{
	SYSREG_WRITE(CNTV_CTL_EL0, 0);
	SYSREG_WRITE(CNTP_CTL_EL0, 0);
	guest_clear_counters();
}
