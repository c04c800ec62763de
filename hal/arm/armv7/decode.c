/* SPDX-License-Identifier: Apache-2.0 */
/* Exits of ARMv7 guests, by exception class. */
#include "hal/arm/decode.h"

#include "registers.h"

/* SMC calling convention (DEN 0028) 2.5 "Function identifiers". The syndrome does not hold an SMC's immediate. */
static enum bh_exit_reason decode_call(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	exit->gpa = core->guest.r[0];
	return BH_EXIT_FIRMWARE;
}

/* HVC returns to the instruction after itself. Our own functions are known by their 64-bit names, abi/guest.h. */
static enum bh_exit_reason decode_hypercall(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	uint32_t function = core->guest.r[0];
	bool ours = (function ^ BH_CALL_64) >> 24 == BH_CALL_VERSION >> 24;

	core->guest.pc -= 4;
	exit->gpa = ours ? function ^ BH_CALL_64 : function;
	if (syndrome & SYNDROME_CALL_IMMEDIATE)
		return BH_EXIT_FORBIDDEN;
	return ours ? BH_EXIT_CALL : BH_EXIT_FIRMWARE;
}

/* ARMv7 ARM A8.3.1 "Pseudocode details of conditional execution": conditions in pairs, a bit for each value of NZCV. */
static bool condition_holds(uint32_t cpsr, unsigned condition)
{
	static const uint16_t holds[] = { 0xf0f0, 0xcccc, 0xff00, 0xaaaa, 0x0c0c, 0xaa55, 0x0a05, 0xffff };

	return (holds[condition >> 1] >> (cpsr >> 28) & 1) != (condition & 1);
}

/*
 * A trap may come before its instruction's condition is looked at; what is not executed becomes a register's exit that accesses
 * none. Without CV the instruction is Thumb, where IT, if any, has the condition.
 */
static bool is_executed(uint32_t cpsr, uint32_t syndrome)
{
	if (syndrome & SYNDROME_CV)
		return condition_holds(cpsr, syndrome >> 20 & 15);
	return !(cpsr & CPSR_IT) || condition_holds(cpsr, cpsr >> 12 & 15);
}

static enum bh_exit_reason decode_wait(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	return is_executed(core->guest.cpsr, (uint32_t)syndrome) ? BH_EXIT_IDLE : BH_EXIT_REGISTER;
}

static enum bh_exit_reason decode_register(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	exit->gpa = syndrome & SYSREG_NUMBER;
	exit->target = syndrome >> 5 & 15;
	exit->width = 4;
	if (!is_executed(core->guest.cpsr, (uint32_t)syndrome))
		return BH_EXIT_REGISTER;
	exit->access = syndrome & SYSREG_IS_READ ? BH_ACCESS_READ : BH_ACCESS_WRITE;
	if (exit->access == BH_ACCESS_WRITE)
		exit->value = guest_read(core, exit->target);
	return BH_EXIT_REGISTER;
}

/* Debug registers are few of those of coprocessor 14: told apart by a bit their numbers do not use. */
static enum bh_exit_reason decode_debug_register(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	enum bh_exit_reason kind = decode_register(core, syndrome, exit);

	exit->gpa |= SYSREG_CP14;
	return kind;
}

/* ARMv7 ARM B3.13.6 "Use of the HSR", EC. A class that is neither here nor denied is none a guest can cause. */
const struct syndrome_class syndrome_classes[] = {
	{ 0x01, decode_wait },                   /* WFI */
	{ CLASS_REGISTER, decode_register },     /* MCR, MRC, coprocessor 15 */
	{ 0x05, decode_debug_register },         /* MCR, MRC, coprocessor 14 */
	{ CLASS_DATA_ABORT, decode_data_abort }, /* from another mode */
	{ 0x20, decode_fetch_abort },            /* from another mode */
	{ CLASS_HYPERCALL, decode_hypercall },   /* HVC */
	{ 0x13, decode_call },                   /* SMC */
	{ 0, NULL },
};
