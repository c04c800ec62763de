/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/guests/sdk/memory.c needs of this processor: ARMv7 ARM, DDI 0406C. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* DFSR of an own data abort, which skips its instruction: B1.8.1 "Exception vectors and the exception base address". */
uint32_t cpu_caught;
__asm__(".section .text.vectors, \"ax\"\n"
	"	.arm\n"
	"	.balign	32\n"
	"cpu_vectors:\n"
	"	.skip	0x10\n"
	"	b	1f\n"
	"	.balign	32\n"
	"1:	mrc	p15, 0, r12, c5, c0, 0\n"
	"	movw	r3, #:lower16:cpu_caught\n"
	"	movt	r3, #:upper16:cpu_caught\n"
	"	str	r12, [r3]\n"
	"	subs	pc, lr, #4\n"
	"	.text\n");

static inline void cpu_catch(void)
{
	extern const char cpu_vectors[];

	__asm__ volatile("mcr p15, 0, %0, c12, c0, 0\n\tisb" ::"r"(cpu_vectors) : "memory"); /* VBAR */
}

/* STATUS of long descriptors without its level: 0x4 translation, 0xc permission; 0: there was no fault. B4.1 "DFSR". */
static inline uint64_t cpu_kind(void)
{
	return cpu_caught & 0x3c;
}

static inline uint64_t cpu_try_read(uintptr_t address)
{
	uint32_t value;

	cpu_caught = 0;
	__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "r3", "r12", "memory");
	return cpu_kind();
}

static inline uint64_t cpu_try_write(uintptr_t address)
{
	cpu_caught = 0;
	__asm__ volatile("str %0, [%1]" ::"r"(0), "r"(address) : "r3", "r12", "memory");
	return cpu_kind();
}

/* SCTLR: I, C and M of it. */
static inline uint64_t cpu_memory_control(void)
{
	uint32_t value;

	__asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(value));
	return value & 0x1005;
}
