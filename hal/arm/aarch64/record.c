/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the guest's registers by number, and fills crash records. */
#include "hal/arm/stage2.h"

#include "arch/arm/aarch64/sysreg.h"

uint64_t guest_read(const struct hal_core *core, unsigned n)
{
	return n < GUEST_ZERO_REGISTER ? core->guest.x[n] : 0;
}

void guest_write(struct hal_core *core, unsigned n, uint64_t value)
{
	if (n < GUEST_ZERO_REGISTER)
		core->guest.x[n] = value;
}

/* x0-x30, SP_EL1, SPSR, SP_EL0, ELR_EL1, ESR_EL1. */
void hal_core_record(const struct hal_core *core, struct bh_crash *crash)
{
	uint64_t *next = crash->reg;

	for (unsigned n = 0; n < GUEST_GENERAL_REGISTERS; n++)
		*next++ = core->guest.x[n];
	*next++ = SYSREG_READ(SP_EL1);
	*next++ = core->guest.spsr;
	*next++ = SYSREG_READ(SP_EL0);
	*next++ = SYSREG_READ(ELR_EL1);
	*next++ = SYSREG_READ(ESR_EL1);
	crash->register_count = (uint32_t)(next - crash->reg);
	crash->pc = core->guest.pc;
}
_Static_assert(GUEST_GENERAL_REGISTERS + 5 <= BH_CRASH_REGISTERS, "the record holds what is recorded");
