/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every register of coprocessors 14 and 15. The number of one of 32 bits is coprocessor, opc1, CRn, CRm, opc2, as AArch64 packs them; of
 * one of 64 bits, coprocessor, opc1, CRm. ARMv7 ARM A8.8.98 "MCR, MCR2", A8.8.108 "MRRC, MRRC2".
 */
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "sweep_arm.h"

const uint32_t return_instruction = 0xe12fff1e; /* BX LR, ARM state */

/* cond AL | opc1 | CRn | Rt r0 | coprocessor | opc2 | CRm */
static uint32_t encode_mcr(uint64_t number)
{
	uint32_t n = (uint32_t)number;

	return 0xee000010 | (n >> 11 & 7) << 21 | (n >> 7 & 15) << 16 | (n >> 14 & 1 ? 15u : 14u) << 8 | (n & 7) << 5 | (n >> 3 & 15);
}

static uint32_t encode_mrc(uint64_t number)
{
	return encode_mcr(number) | 1 << 20;
}

/* cond AL | Rt2 r1, Rt r0 | coprocessor | opc1 | CRm */
static uint32_t encode_mcrr(uint64_t number)
{
	uint32_t n = (uint32_t)number;

	return 0xec410000 | (n >> 8 & 1 ? 15u : 14u) << 8 | (n & 0xff);
}

static uint32_t encode_mrrc(uint64_t number)
{
	return encode_mcrr(number) | 1 << 20;
}

static const struct register_space words = { encode_mrc, encode_mcr }, doubles = { encode_mrrc, encode_mcrr };

static bool mrc_is_granted(uint64_t number)
{
	return register_is_readable(&words, number);
}

static bool mcr_is_granted(uint64_t number)
{
	return register_is_writable(&words, number);
}

static bool mrrc_is_granted(uint64_t number)
{
	return register_is_readable(&doubles, number);
}

static bool mcrr_is_granted(uint64_t number)
{
	return register_is_writable(&doubles, number);
}

/* Coprocessor 14 begins at 0x8000 and 0, 15 at 0xc000 and 0x100. */
static const struct sweep_range numbers[] = { { 0x8000, 0xffff, 1 }, { 0, 0, 0 } };
static const struct sweep_range double_numbers[] = { { 0, 0x1ff, 1 }, { 0, 0, 0 } };
static const uint64_t nothing_left_out[] = { SWEEP_END };

/* ARMv7 ARM A3.5.4 "Concurrent modification and execution of instructions". Lines of 32 bytes or more. */
void publish_instructions(uint64_t start, uint64_t end)
{
	for (uint32_t at = (uint32_t)start; at < end; at += 32)
		__asm__ volatile("mcr p15, 0, %0, c7, c11, 1" ::"r"(at) : "memory"); /* DCCMVAU */
	__asm__ volatile("dsb" ::: "memory");
	SYSREG_WRITE(ICIALLU, 0);
	SYSREG_WRITE(BPIALL, 0);
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

#define CALL(name)                                                                                                          \
	uint64_t call_##name(uint64_t function, uint64_t argument)                                                          \
	{                                                                                                                   \
		register uint32_t r0 __asm__("r0") = (uint32_t)function;                                                    \
		register uint32_t r1 __asm__("r1") = (uint32_t)argument;                                                    \
		register uint32_t r2 __asm__("r2") = 0;                                                                     \
		register uint32_t r3 __asm__("r3") = 0;                                                                     \
                                                                                                                            \
		__asm__ volatile(".arch_extension sec\n\t" #name " #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)::"memory"); \
		return r0;                                                                                                  \
	}
CALL(hvc)
CALL(smc)

const struct sweep arch_sweeps[] = {
	{ "mrc", numbers, nothing_left_out, mrc_is_granted },
	{ "mcr", numbers, nothing_left_out, mcr_is_granted },
	{ "mrrc", double_numbers, nothing_left_out, mrrc_is_granted },
	{ "mcrr", double_numbers, nothing_left_out, mcrr_is_granted },
	{ "hvc32", call_numbers, calls_left_out, hvc_is_answered },
	{ "smc32", call_numbers, calls_left_out, smc_is_answered },
	{ NULL, NULL, NULL, NULL },
};
