/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system register that MRS and MSR can name, by bits 20:5 of the instruction: op0 (2 or 3), op1, CRn, CRm, op2. ARM ARM C5.1.2
 * "System instruction class encoding overview".
 */
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "sweep_arm.h"

const uint32_t return_instruction = 0xd65f03c0;

static uint32_t encode_mrs(uint64_t number)
{
	return 0xd5200000 | (uint32_t)number << 5;
}

static uint32_t encode_msr(uint64_t number)
{
	return 0xd5000000 | (uint32_t)number << 5;
}

static const struct register_space system_registers = { encode_mrs, encode_msr };

static bool is_readable(uint64_t number)
{
	return register_is_readable(&system_registers, number);
}

static bool is_writable(uint64_t number)
{
	return register_is_writable(&system_registers, number);
}

static const struct sweep_range numbers[] = { { 0x8000, 0xffff, 1 }, { 0, 0, 0 } };

#define NUMBER(op0, op1, crn, crm, op2) ((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))
static const uint64_t reads_left_out[] = {
	NUMBER(3, 0, 12, 8, 0),  /* ICC_IAR0_EL1 */
	NUMBER(3, 0, 12, 12, 0), /* ICC_IAR1_EL1: acknowledges what nobody would then end */
	SWEEP_END,
};
static const uint64_t writes_left_out[] = {
	NUMBER(3, 0, 12, 11, 5), /* ICC_SGI1R_EL1 */
	NUMBER(3, 0, 12, 11, 6), /* ICC_ASGI1R_EL1 */
	NUMBER(3, 0, 12, 11, 7), /* ICC_SGI0R_EL1: send; where to is another question, cases_interrupts.py */
	SWEEP_END,
};

/* ARM ARM B2.4.4 "Concurrent modification and execution of instructions". */
void publish_instructions(uint64_t start, uint64_t end)
{
	uint64_t line = UINT64_C(4) << (SYSREG_READ(ctr_el0) >> 16 & 15); /* DminLine */

	for (uint64_t at = start & ~(line - 1); at < end; at += line)
		__asm__ volatile("dc cvau, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb ish\n\tic iallu\n\tdsb ish\n\tisb" ::: "memory");
}

uint64_t call_hvc(uint64_t function, uint64_t argument)
{
	return cpu_call_monitor(function, argument, 0, 0);
}

uint64_t call_smc(uint64_t function, uint64_t argument)
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = argument;
	register uint64_t x2 __asm__("x2") = 0;
	register uint64_t x3 __asm__("x3") = 0;

	__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
	return x0;
}

const struct sweep arch_sweeps[] = {
	{ "mrs", numbers, reads_left_out, is_readable },
	{ "msr", numbers, writes_left_out, is_writable },
	{ "hvc", call_numbers, calls_left_out, hvc_is_answered },
	{ "smc", call_numbers, calls_left_out, smc_is_answered },
	{ NULL, NULL, NULL, NULL },
};
