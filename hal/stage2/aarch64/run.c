/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the guest and what ended it: exception class → decoder, a const table. Every exit is left with the PC *at* the
 * instruction that caused it, whatever the architecture prefers, so that skipping is always the same.
 */
#include "hal/stage2/aarch64/decode.h"

#include "arch/aarch64/sysreg.h"

enum { SPSR_AARCH32 = 1 << 4 };

/* An instruction the monitor would have to complete, with AArch32's conditions and IT state: no sandbox needs one. */
static enum bh_exit_reason decode_wait(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	return core->guest.spsr & SPSR_AARCH32 ? BH_EXIT_FORBIDDEN : BH_EXIT_IDLE;
}

/* SMC calling convention (DEN 0028) 2.5 "Function identifiers": the immediate is 0, the identifier 32 bits. */
static enum bh_exit_reason decode_call(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	exit->gpa = (uint32_t)core->guest.x[0];
	return esr & ESR_CALL_IMMEDIATE ? BH_EXIT_FORBIDDEN : BH_EXIT_FIRMWARE;
}

/* HVC is the one that returns behind itself. */
static enum bh_exit_reason decode_hypercall(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	enum bh_exit_reason kind = decode_call(core, esr, exit);

	core->guest.pc -= 4;
	return kind == BH_EXIT_FIRMWARE && exit->gpa >> 24 == BH_CALL_VERSION >> 24 ? BH_EXIT_CALL : kind;
}

static enum bh_exit_reason decode_register(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	exit->gpa = esr & SYSREG_NUMBER;
	exit->target = esr >> 5 & 31;
	exit->width = 8;
	exit->access = esr & SYSREG_IS_READ ? BH_ACCESS_READ : BH_ACCESS_WRITE;
	if (exit->access == BH_ACCESS_WRITE)
		exit->value = guest_read(core, exit->target);
	return register_is_ipi(exit->gpa) ? BH_EXIT_IPI : BH_EXIT_REGISTER;
}

/* ARM ARM D24.2.37 "ESR_EL1", EC. A class that is not here is none a guest can cause on a machine hal_probe let pass. */
static const struct {
	uint8_t class;
	enum bh_exit_reason (*decode)(struct hal_core *core, uint64_t esr, struct hal_exit *exit);
} classes[] = {
	{ 0x18, decode_register },                           /* MSR, MRS, SYS */
	{ 0x24, decode_data_abort },                         /* from a lower level */
	{ 0x20, decode_fetch_abort }, { 0x01, decode_wait }, /* WFI */
	{ 0x16, decode_hypercall },                          /* HVC, AArch64 */
	{ 0x17, decode_call },                               /* SMC, AArch64 */
};

/*
 * What CPTR_EL2, MDCR_EL2 and HCR_EL2 deny: MCR, MRC, MCRR, MRRC, LDC of coprocessors 14 and 15 (3..6, 12), SIMD (7), SVE (25),
 * SME (29); and what HCRX_EL2 does not switch on: LD64B (10), MSRR, MRRS (20), guarded control stacks (45).
 */
#define CLASSES_DENIED \
	(1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 10 | 1u << 12 | 1u << 20 | 1u << 25 | 1u << 29 | UINT64_C(1) << 45)

static enum bh_exit_reason decode_sync(struct hal_core *core, struct hal_exit *exit)
{
	uint64_t esr = exit->raw[0];

	for (unsigned n = 0; n < sizeof(classes) / sizeof(classes[0]); n++)
		if (classes[n].class == ESR_CLASS(esr))
			return classes[n].decode(core, esr, exit);
	return CLASSES_DENIED >> ESR_CLASS(esr) & 1 ? BH_EXIT_FORBIDDEN : BH_EXIT_ERROR;
}

/* The monitor itself trapped: monitor_trapped, switch.S. Nothing has trapped since, so the registers still tell. */
static void describe_own_trap(const struct hal_core *core, struct hal_exit *exit)
{
	exit->raw[0] = core->guest.trap;
	exit->raw[1] = SYSREG_READ(ELR_EL2);
	exit->gva = SYSREG_READ(FAR_EL2);
}

void hal_core_run(struct hal_core *core, struct hal_exit *exit)
{
	unsigned left = core->guest.trap ? LEFT_SERROR : guest_run(core);

	*exit = (struct hal_exit){ .kind = BH_EXIT_ERROR, .raw = { SYSREG_READ(ESR_EL2) } };
	if (core->guest.trap)
		describe_own_trap(core, exit);
	if (left == LEFT_SYNC)
		exit->kind = decode_sync(core, exit);
	if (left == LEFT_FIQ)
		exit->kind = BH_EXIT_KICK;
	if (exit->kind == BH_EXIT_KICK)
		kick_clear(core);
}
