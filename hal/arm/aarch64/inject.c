/* SPDX-License-Identifier: Apache-2.0 */
/* Skips the guest's instruction, or gives the guest the exception that a machine without it would raise. */
#include "hal/arm/stage2.h"

#include "arch/arm/aarch64/sysreg.h"

/* SPSR_EL2 for a guest in AArch64 state: ARM ARM C5.2.20 "SPSR_EL2". */
enum {
	SPSR_MODE = 0xf,
	SPSR_EL1H = 5,
	SPSR_EL1T = 4,
	SPSR_AARCH32 = 1 << 4,
	SPSR_DAIF = 0xf << 6,
	SPSR_BTYPE = 3 << 10,
	SPSR_SSBS = 1 << 12,
	SPSR_SS = 1 << 21,
	SPSR_PAN = 1 << 22,
	SPSR_DIT = 1 << 24,
};
#define SPSR_NZCV   (UINT64_C(0xf) << 28)
#define SCTLR_SPAN  (UINT64_C(1) << 23)
#define SCTLR_DSSBS (UINT64_C(1) << 44)
#define ESR_IL      (UINT64_C(1) << 25)

/* Offset in VBAR_EL1 of a synchronous exception: ARM ARM D1.3.5 "Exception vectors". */
static uint64_t vector_of(uint64_t spsr)
{
	if (spsr & SPSR_AARCH32)
		return 0x600;
	return (spsr & SPSR_MODE) == SPSR_EL1H ? 0x200 : (spsr & SPSR_MODE) == SPSR_EL1T ? 0 : 0x400;
}

/* PSTATE a handler at EL1 starts with: ARM ARM J1.1.2 "AArch64.TakeException". */
static uint64_t handler_state(uint64_t spsr)
{
	uint64_t sctlr = SYSREG_READ(SCTLR_EL1);
	uint64_t state = (spsr & (SPSR_NZCV | SPSR_PAN | SPSR_DIT)) | SPSR_DAIF | SPSR_EL1H;

	if (!(sctlr & SCTLR_SPAN))
		state |= SPSR_PAN;
	return sctlr & SCTLR_DSSBS ? state | SPSR_SSBS : state;
}

/* ESR class 0, unknown reason: what an UNDEFINED instruction reports. */
static void take_undefined(struct guest *guest, uint64_t syndrome)
{
	SYSREG_WRITE(ESR_EL1, syndrome & ESR_IL);
	SYSREG_WRITE(ELR_EL1, guest->pc);
	SYSREG_WRITE(SPSR_EL1, guest->spsr);
	guest->pc = SYSREG_READ(VBAR_EL1) + vector_of(guest->spsr);
	guest->spsr = handler_state(guest->spsr);
}

/* As if it had been executed: its branch target has been checked, its step is over. Only AArch64's, of four bytes, are skipped. */
void guest_skip(struct hal_core *core, uint64_t syndrome)
{
	core->guest.pc += 4;
	core->guest.spsr &= ~(uint64_t)(SPSR_BTYPE | SPSR_SS);
}

void hal_core_apply(struct hal_core *core, const struct hal_exit *exit, enum hal_action action)
{
	if (action == HAL_SKIP)
		guest_skip(core, exit->raw[0]);
	if (action == HAL_REFUSE)
		take_undefined(&core->guest, exit->raw[0]);
}
