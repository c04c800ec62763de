/* SPDX-License-Identifier: Apache-2.0 */
/* What vectors.S saves of a program that ran into an exception: read from C and assembly. */
#pragma once

#define CPSR_MODE_SVC 0x13
#define CPSR_T        (1 << 5)
#define CPSR_F        (1 << 6)
#define CPSR_I        (1 << 7)

/* Places in the vector table: ARMv7 ARM B1.8.1 "Exception vectors and the exception base address". */
#define VECTOR_UNUSED     0
#define VECTOR_UNDEFINED  1
#define VECTOR_SUPERVISOR 2
#define VECTOR_PREFETCH   3
#define VECTOR_DATA       4
#define VECTOR_HYPERVISOR 5
#define VECTOR_FIQ        7

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct frame {
	uint32_t r[13];
	uint32_t lr;
	uint32_t pc;
	uint32_t cpsr;
};
_Static_assert(offsetof(struct frame, pc) == 14 * 4, "PUSH of r0-r12 and lr, below what SRS stored");
#endif
