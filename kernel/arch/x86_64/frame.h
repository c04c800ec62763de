/* SPDX-License-Identifier: Apache-2.0 */
/* What vectors.S and the processor save of an interrupted program, be it by an interrupt or by an exception: all of it. */
#pragma once

#define VECTOR_BYTES    16
#define VECTOR_CALL     256 /* in the frame of a call by SYSCALL, which has no vector */
#define CPU_FRAME_BYTES 176
#define FRAME_CS        144
#define VECTOR_PF       14

#define HANDLER_STACK_BYTES 2048 /* below the frame, for what is served on the stack that it came to: docs/decisions/scheduler.md */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VECTORS = 256 };
extern const char vectors[VECTORS][VECTOR_BYTES]; /* vectors.S: entries */

struct cpu_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector;
	uint64_t error;
	uint64_t rip, cs, rflags, rsp, ss; /* the processor's part */
};
_Static_assert(sizeof(struct cpu_frame) == CPU_FRAME_BYTES, "vectors.S");
_Static_assert(offsetof(struct cpu_frame, cs) == FRAME_CS, "vectors.S");

/* What core/cpu.h says of them. */
static inline bool cpu_frame_is_user(const struct cpu_frame *frame)
{
	return (frame->cs & 3) == 3;
}

static inline uint64_t cpu_frame_pc(const struct cpu_frame *frame)
{
	return frame->rip;
}

static inline uint64_t cpu_frame_sp(const struct cpu_frame *frame)
{
	return frame->rsp;
}

static inline bool cpu_frame_interrupts_enabled(const struct cpu_frame *frame)
{
	return frame->rflags >> 9 & 1; /* RFLAGS.IF */
}
#endif
