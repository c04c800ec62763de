/* SPDX-License-Identifier: Apache-2.0 */
/* Skips the guest's instruction, or gives the guest the exception that a machine without it would raise. */
#include "hal/arm/stage2.h"

#include "arch/arm/armv7/sysreg.h"

enum { SYNDROME_IL = 1 << 25, VECTOR_UNDEFINED = 4, SCTLR_V = 1 << 13, SCTLR_EE = 1 << 25, SCTLR_TE = 1 << 30 };
#define HIGH_VECTORS 0xffff0000u

/* ARMv7 ARM A2.5.2 "Execution state registers", ITAdvance(). IT[7:2] are CPSR[15:10], IT[1:0] are CPSR[26:25]. */
static uint32_t advance_it(uint32_t cpsr)
{
	uint32_t it = (cpsr >> 8 & 0xfc) | (cpsr >> 25 & 3);

	it = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
	return (cpsr & ~CPSR_IT) | (it & 0xfc) << 8 | (it & 3) << 25;
}

/* As if it had been executed. */
void guest_skip(struct hal_core *core, uint64_t syndrome)
{
	core->guest.pc += syndrome & SYNDROME_IL ? 4 : 2;
	core->guest.cpsr = advance_it(core->guest.cpsr);
}

/* CPSR a handler of Undefined mode starts with: ARMv7 ARM B1.9.5 "Undefined Instruction exception". */
static uint32_t handler_state(uint32_t cpsr, uint32_t sctlr)
{
	cpsr &= ~(CPSR_IT | CPSR_J | CPSR_E | CPSR_T | MODE_MASK);
	cpsr |= CPSR_I | MODE_UND;
	if (sctlr & SCTLR_TE)
		cpsr |= CPSR_T;
	return sctlr & SCTLR_EE ? cpsr | CPSR_E : cpsr;
}

static void take_undefined(struct guest *guest)
{
	uint32_t sctlr = SYSREG_READ(SCTLR);

	__asm__ volatile("msr spsr_und, %0" : : "r"(guest->cpsr));
	guest_banked_write(BANKED_LR_UND, guest->pc + (guest->cpsr & CPSR_T ? 2 : 4));
	guest->pc = (sctlr & SCTLR_V ? HIGH_VECTORS : SYSREG_READ(VBAR)) + VECTOR_UNDEFINED;
	guest->cpsr = handler_state(guest->cpsr, sctlr);
}

void hal_core_apply(struct hal_core *core, const struct hal_exit *exit, enum hal_action action)
{
	if (action == HAL_SKIP)
		guest_skip(core, exit->raw[0]);
	if (action == HAL_REFUSE)
		take_undefined(&core->guest);
}
