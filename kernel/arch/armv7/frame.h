/* SPDX-License-Identifier: Apache-2.0 */
/* What vectors.S saves of an interrupted program, be it by an interrupt or by an exception: all of it. Read from C and assembly. */
#pragma once

#ifdef __ASSEMBLER__ /* for C, in sysreg.h */
#define MODE_IRQ 0x12
#define MODE_ABT 0x17
#define MODE_SVC 0x13
#define CPSR_T   (1 << 5)
#endif

/* Places in the vector table: ARMv7 ARM B1.8.1 "Exception vectors and the exception base address". */
#define VECTOR_UNUSED     0
#define VECTOR_UNDEFINED  1
#define VECTOR_SUPERVISOR 2
#define VECTOR_PREFETCH   3
#define VECTOR_DATA       4
#define VECTOR_HYPERVISOR 5
#define VECTOR_FIQ        7

#define FRAME_USER_BYTES 8 /* user_sp, user_lr */

#define HANDLER_STACK_BYTES 2048 /* below the frame, for what is served on the stack that it came to: docs/decisions/scheduler.md */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sysreg.h"

struct cpu_frame {
	uint32_t user_sp, user_lr; /* of a program in user mode: its own bank */
	uint32_t r[13];
	uint32_t lr; /* of SVC mode */
	uint32_t pc;
	uint32_t cpsr;
};
_Static_assert(offsetof(struct cpu_frame, r) == FRAME_USER_BYTES, "vectors.S");
_Static_assert(offsetof(struct cpu_frame, pc) == FRAME_USER_BYTES + 14 * 4, "PUSH of r0-r12 and lr, below what SRS stored");
_Static_assert(sizeof(struct cpu_frame) % 8 == 0, "it begins where the stack is aligned");

/* What core/cpu.h says of them. */
static inline bool cpu_frame_is_user(const struct cpu_frame *frame)
{
	return (frame->cpsr & MODE_MASK) == MODE_USR;
}

static inline uint64_t cpu_frame_pc(const struct cpu_frame *frame)
{
	return frame->pc;
}

static inline uint64_t cpu_frame_sp(const struct cpu_frame *frame)
{
	return cpu_frame_is_user(frame) ? frame->user_sp : (uintptr_t)(frame + 1);
}

static inline bool cpu_frame_interrupts_enabled(const struct cpu_frame *frame)
{
	return !(frame->cpsr & CPSR_I);
}
#endif
