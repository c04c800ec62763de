/* SPDX-License-Identifier: Apache-2.0 */
/* What vectors.S saves of an interrupted program, be it by an interrupt or by an exception: all of it. Read from C and assembly. */
#pragma once

#define FRAME_ELR       248
#define FRAME_SPSR      256
#define FRAME_SP_EL0    264
#define CPU_FRAME_BYTES 272

#define HANDLER_STACK_BYTES 2048 /* below the frame, for what is served on the stack that it came to: docs/decisions/scheduler.md */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_frame {
	uint64_t x[31];
	uint64_t elr;
	uint64_t spsr;
	uint64_t sp_el0; /* of a program at EL0 */
};
_Static_assert(offsetof(struct cpu_frame, elr) == FRAME_ELR, "vectors.S");
_Static_assert(offsetof(struct cpu_frame, spsr) == FRAME_SPSR, "vectors.S");
_Static_assert(offsetof(struct cpu_frame, sp_el0) == FRAME_SP_EL0, "vectors.S");
_Static_assert(sizeof(struct cpu_frame) == CPU_FRAME_BYTES, "vectors.S");

/* What core/cpu.h says of them. SPSR_EL1: Arm ARM, "SPSR_EL1, Saved Program Status Register (EL1)". */
static inline bool cpu_frame_is_user(const struct cpu_frame *frame)
{
	return !(frame->spsr & 0xf); /* M[3:0] */
}

static inline uint64_t cpu_frame_pc(const struct cpu_frame *frame)
{
	return frame->elr;
}

static inline uint64_t cpu_frame_sp(const struct cpu_frame *frame)
{
	return cpu_frame_is_user(frame) ? frame->sp_el0 : (uintptr_t)(frame + 1);
}

static inline bool cpu_frame_interrupts_enabled(const struct cpu_frame *frame)
{
	return !(frame->spsr >> 7 & 1); /* I */
}
#endif
