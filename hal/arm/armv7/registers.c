/* SPDX-License-Identifier: Apache-2.0 */
/* Filtered system registers. What is not named here is refused: the guest takes the UNDEFINED of a machine without it. */
#include "hal/arm/stage2.h"

#include "registers.h"

/*
 * Registers stock kernels touch although they get nothing from them: reads give a constant, writes vanish.
 *   ACTLR     coherency (SMP) is on, and stays on
 *   DBGDIDR   no debug architecture that anybody knows, so that nobody looks for its registers
 */
static const struct {
	uint32_t number;
	uint32_t value;
} quiet[] = {
	{ SYSREG(0, 1, 0, 1), 1 << 6 },          /* ACTLR */
	{ SYSREG_CP14 | SYSREG(0, 0, 0, 0), 0 }, /* DBGDIDR */
};

/* An exit without access is an instruction that was not to be executed, decode.c. */
enum hal_action register_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	if (exit->access == BH_ACCESS_NONE)
		return HAL_SKIP;
	for (unsigned n = 0; n < sizeof(quiet) / sizeof(quiet[0]); n++) {
		if (quiet[n].number != exit->gpa)
			continue;
		if (exit->access == BH_ACCESS_READ)
			guest_write(core, exit->target, quiet[n].value);
		return HAL_SKIP;
	}
	return HAL_REFUSE;
}
