/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/guests/sdk/memory.c needs of this processor: ARM ARM, DDI 0487. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* ESR_EL1 of an own fault, which skips its instruction: D1.3.1.5 "Exception vectors", of the own level. */
uint64_t cpu_caught;
__asm__(".section .text.vectors, \"ax\"\n"
	"	.balign	2048\n"
	"cpu_vectors:\n"
	"	.skip	0x200\n"
	"	mrs	x16, elr_el1\n"
	"	add	x16, x16, #4\n"
	"	msr	elr_el1, x16\n"
	"	mrs	x16, esr_el1\n"
	"	adrp	x17, cpu_caught\n"
	"	str	x16, [x17, :lo12:cpu_caught]\n"
	"	eret\n"
	"	.text\n");

static inline void cpu_catch(void)
{
	extern const char cpu_vectors[];

	__asm__ volatile("msr vbar_el1, %0\n\tisb" ::"r"(cpu_vectors) : "memory");
}

/* DFSC without its level: 0x4 translation, 0xc permission; 0: there was no fault. D24.2.37 "ESR_EL1", ISS of a Data Abort. */
static inline uint64_t cpu_kind(void)
{
	return cpu_caught & 0x3c;
}

static inline uint64_t cpu_try_read(uintptr_t address)
{
	uint32_t value;

	cpu_caught = 0;
	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "x16", "x17", "memory");
	return cpu_kind();
}

static inline uint64_t cpu_try_write(uintptr_t address)
{
	cpu_caught = 0;
	__asm__ volatile("str wzr, [%0]" ::"r"(address) : "x16", "x17", "memory");
	return cpu_kind();
}

/* SCTLR_EL1: I, C and M of it. */
static inline uint64_t cpu_memory_control(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, sctlr_el1" : "=r"(value));
	return value & 0x1005;
}
