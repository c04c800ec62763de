/* SPDX-License-Identifier: Apache-2.0 */
/* Filtered system registers. What is not named here is refused: the guest takes the UNDEFINED of a machine without it. */
#include "hal/arm/stage2.h"

#include "registers.h"

/*
 * Registers stock kernels touch although they get nothing from them: reads give a constant, writes vanish.
 *   OSLAR, OSDLR   a locked OS lock would let MDSCR_EL1 arm halting debug: ARM ARM H6.1 "OS lock"; it stays unlocked
 */
static const struct {
	uint32_t number;
	uint32_t value;
} quiet[] = {
	{ SYSREG(2, 0, 1, 0, 4), 0 },      /* OSLAR_EL1 */
	{ SYSREG(2, 0, 1, 1, 4), 1 << 3 }, /* OSLSR_EL1: implemented, unlocked */
	{ SYSREG(2, 0, 1, 3, 4), 0 },      /* OSDLR_EL1 */
};

/* Group 3 of HCR_EL2.TID3: op0 3, op1 0, CRn 0, CRm 1..7. */
static bool is_feature(uint64_t number)
{
	return (number & ~(uint64_t)SYSREG(0, 0, 0, 7, 7)) == SYSREG(3, 0, 0, 0, 0) && number & SYSREG(0, 0, 0, 7, 0);
}

/* Index in guest.features: CRm - 1, then op2. */
static unsigned feature_index(uint64_t number)
{
	return (unsigned)((number >> 1 & 7) - 1) * 8 + (unsigned)(number >> 17 & 7);
}

static enum hal_action answer(struct hal_core *core, const struct hal_exit *exit, uint64_t value)
{
	if (exit->access == BH_ACCESS_READ)
		guest_write(core, exit->target, value);
	return HAL_SKIP;
}

enum hal_action register_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	if (is_feature(exit->gpa))
		return answer(core, exit, core->guest.features[feature_index(exit->gpa)]);
	for (unsigned n = 0; n < sizeof(quiet) / sizeof(quiet[0]); n++)
		if (quiet[n].number == exit->gpa)
			return answer(core, exit, quiet[n].value);
	return gic_emulate_register(core, exit);
}

/* ICC_SGI1R, ICC_ASGI1R and ICC_SGI0R have op2 5, 6 and 7; nothing has 4. */
bool register_is_ipi(uint64_t number)
{
	return (number | SYSREG(0, 0, 0, 0, 3)) == SYSREG(3, 0, 12, 11, 7);
}
