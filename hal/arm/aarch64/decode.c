/* SPDX-License-Identifier: Apache-2.0 */
/* Exits of AArch64 guests, by exception class. */
#include "hal/arm/decode.h"

#include "registers.h"

/* An instruction the monitor would have to complete, with AArch32's conditions and IT state: no sandbox needs one. */
static enum bh_exit_reason decode_wait(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	return guest_is_served(core) ? BH_EXIT_IDLE : BH_EXIT_FORBIDDEN;
}

/* SMC calling convention (DEN 0028) 2.5 "Function identifiers": the immediate is 0, the identifier 32 bits. */
static enum bh_exit_reason decode_call(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	exit->gpa = (uint32_t)core->guest.x[0];
	return syndrome & SYNDROME_CALL_IMMEDIATE ? BH_EXIT_FORBIDDEN : BH_EXIT_FIRMWARE;
}

/* HVC alone returns to the instruction after itself. */
static enum bh_exit_reason decode_hypercall(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	enum bh_exit_reason kind = decode_call(core, syndrome, exit);

	core->guest.pc -= 4;
	return kind == BH_EXIT_FIRMWARE && exit->gpa >> 24 == BH_CALL_VERSION >> 24 ? BH_EXIT_CALL : kind;
}

static enum bh_exit_reason decode_register(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	exit->gpa = syndrome & SYSREG_NUMBER;
	exit->target = syndrome >> 5 & 31;
	exit->width = 8;
	exit->access = syndrome & SYSREG_IS_READ ? BH_ACCESS_READ : BH_ACCESS_WRITE;
	if (exit->access == BH_ACCESS_WRITE)
		exit->value = guest_read(core, exit->target);
	return register_is_ipi(exit->gpa) ? BH_EXIT_IPI : BH_EXIT_REGISTER;
}

/* ARM ARM D24.2.37 "ESR_EL1", EC. A class that is neither here nor denied is none a guest can cause on a machine hal_probe let pass. */
const struct syndrome_class syndrome_classes[] = {
	{ 0x01, decode_wait },                   /* WFI */
	{ CLASS_REGISTER, decode_register },     /* MSR, MRS, SYS */
	{ CLASS_DATA_ABORT, decode_data_abort }, /* from a lower level */
	{ 0x20, decode_fetch_abort },            /* from a lower level */
	{ CLASS_HYPERCALL, decode_hypercall },   /* HVC, AArch64 */
	{ 0x17, decode_call },                   /* SMC, AArch64 */
	{ 0, NULL },
};
