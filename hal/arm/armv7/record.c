/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the guest's registers by number, and fills crash records. */
#include "hal/arm/stage2.h"

#include "arch/arm/armv7/sysreg.h"

enum { GUEST_SP = 13, GUEST_LR = 14 };

/* Where the mode's own sp is in the bank; lr follows it. System mode has User mode's. */
static unsigned stack_of(uint32_t cpsr)
{
	switch (cpsr & MODE_MASK) {
	case MODE_FIQ:
		return BANKED_SP_FIQ;
	case MODE_IRQ:
		return BANKED_SP_IRQ;
	case MODE_SVC:
		return BANKED_SP_SVC;
	case MODE_ABT:
		return BANKED_SP_ABT;
	case MODE_UND:
		return BANKED_SP_UND;
	default:
		return BANKED_SP_USR;
	}
}

/* Where general register n of the mode the guest was in is banked; BANKED_REGISTERS: it is in struct guest. */
static unsigned bank_of(uint32_t cpsr, unsigned n)
{
	unsigned stack = stack_of(cpsr);

	if (n >= GUEST_SP)
		return stack + n - GUEST_SP;
	return stack == BANKED_SP_FIQ && n >= 8 ? BANKED_R8_FIQ + n - 8 : BANKED_REGISTERS;
}
_Static_assert(BANKED_SP_USR + 1 == BANKED_REGISTERS, "lr of User mode is in struct guest");

/* Its place there. */
static unsigned place_of(unsigned n)
{
	return n < GUEST_SP ? n : GUEST_LR_USR;
}

uint64_t guest_read(const struct hal_core *core, unsigned n)
{
	unsigned bank = bank_of(core->guest.cpsr, n);

	if (n > GUEST_LR)
		return 0;
	return bank < BANKED_REGISTERS ? guest_banked_read(bank) : core->guest.r[place_of(n)];
}

void guest_write(struct hal_core *core, unsigned n, uint64_t value)
{
	unsigned bank = bank_of(core->guest.cpsr, n);

	if (n > GUEST_LR)
		return;
	if (bank < BANKED_REGISTERS)
		guest_banked_write(bank, (uint32_t)value);
	else
		core->guest.r[place_of(n)] = (uint32_t)value;
}

/* r0-r12, sp, lr of the mode it was in, CPSR, DFSR, DFAR, IFSR, IFAR. */
void hal_core_record(const struct hal_core *core, struct bh_crash *crash)
{
	uint64_t *next = crash->reg;

	for (unsigned n = 0; n <= GUEST_LR; n++)
		*next++ = guest_read(core, n);
	*next++ = core->guest.cpsr;
	*next++ = SYSREG_READ(DFSR);
	*next++ = SYSREG_READ(DFAR);
	*next++ = SYSREG_READ(IFSR);
	*next++ = SYSREG_READ(IFAR);
	crash->register_count = (uint32_t)(next - crash->reg);
	crash->pc = core->guest.pc;
}
_Static_assert(GUEST_LR + 6 <= BH_CRASH_REGISTERS, "the record holds what is recorded");
