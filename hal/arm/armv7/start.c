/* SPDX-License-Identifier: Apache-2.0 */
/* A guest core at its first instruction, and at its last. ARMv7 ARM B4.1 describes each register by name. */
#include "hal/arm/stage2.h"

#include "arch/arch.h"
#include "arch/arm/armv7/sysreg.h"

/* "SCTLR", Cortex-A15's at reset: MMU and caches off, little-endian, CP15 barriers. */
#define SCTLR_RESET 0x00c50078u

/* Registers that reset leaves unknown are made known. */
static void reset(uint32_t stack)
{
	for (unsigned n = 0; n < BANKED_REGISTERS; n++)
		guest_banked_write(n, 0);
	guest_banked_write(BANKED_SP_SVC, stack);
	__asm__ volatile("mcr p14, 6, %0, c0, c0, 0; mcr p14, 6, %0, c1, c0, 0" : : "r"(0)); /* TEECR, TEEHBR */
	__asm__ volatile("msr spsr_fiq, %0; msr spsr_irq, %0; msr spsr_svc, %0; msr spsr_abt, %0; msr spsr_und, %0" : : "r"(0));
	SYSREG_WRITE(SCTLR, SCTLR_RESET);
	SYSREG_WRITE(VBAR, 0);
	SYSREG_WRITE64(TTBR0, 0);
	SYSREG_WRITE64(TTBR1, 0);
	SYSREG_WRITE(TTBCR, 0);
	SYSREG_WRITE(DACR, 0);
	SYSREG_WRITE(MAIR0, 0);
	SYSREG_WRITE(MAIR1, 0);
	SYSREG_WRITE(AMAIR0, 0);
	SYSREG_WRITE(AMAIR1, 0);
	SYSREG_WRITE(CSSELR, 0);
	SYSREG_WRITE(CPACR, 0);
	SYSREG_WRITE(FCSEIDR, 0); /* no effect but in QEMU, which moves a guest's lowest addresses by it */
	SYSREG_WRITE(CONTEXTIDR, 0);
	SYSREG_WRITE(TPIDRURW, 0);
	SYSREG_WRITE(TPIDRURO, 0);
	SYSREG_WRITE(TPIDRPRW, 0);
	SYSREG_WRITE(CNTKCTL, 0);
	SYSREG_WRITE(DFSR, 0);
	SYSREG_WRITE(IFSR, 0);
	SYSREG_WRITE(ADFSR, 0);
	SYSREG_WRITE(AIFSR, 0);
	SYSREG_WRITE(DFAR, 0);
	SYSREG_WRITE(IFAR, 0);
	SYSREG_WRITE64(PAR, 0);
	SYSREG_WRITE64(CNTV_CVAL, 0);
	SYSREG_WRITE64(CNTP_CVAL, 0);
	guest_quiesce();
	guest_clear_vectors();
}

/* abi/guest.h; PSCI CPU_ON wants the argument in r0 alone. Bit 0 of the address: in Thumb state. */
void guest_start(struct hal_core *core)
{
	struct guest *guest = &core->guest;
	uint32_t pc = (uint32_t)core->entry.pc;

	for (unsigned n = 0; n < GUEST_SAVED_REGISTERS; n++)
		guest->r[n] = 0;
	guest->r[0] = (uint32_t)core->entry.arg;
	guest->r[1] = UINT32_MAX;
	guest->r[2] = (uint32_t)core->entry.arg;
	guest->pc = pc & ~UINT32_C(1);
	guest->cpsr = MODE_SVC | CPSR_A | CPSR_I | CPSR_F | (pc & 1 ? CPSR_T : 0);
	SYSREG_WRITE(ICIALLU, 0); /* what it held was fetched before a restart wrote this code */
	SYSREG_WRITE(BPIALL, 0);
	arch_barrier();
	reset((uint32_t)core->entry.stack);
}

void guest_quiesce(void)
{
	SYSREG_WRITE(CNTV_CTL, 0);
	SYSREG_WRITE(CNTP_CTL, 0);
	guest_clear_counters();
}
