/* SPDX-License-Identifier: Apache-2.0 */
/* What vectors.S and the processor save of an interrupted program. */
#pragma once

#define VECTOR_BYTES 16

#ifndef __ASSEMBLER__
#include <stdint.h>

enum { VECTORS = 256 };
extern const char vectors[VECTORS][VECTOR_BYTES]; /* vectors.S: entries */

struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector;
	uint64_t error;
	uint64_t rip, cs, rflags, rsp, ss; /* the processor's part */
};
_Static_assert(sizeof(struct frame) == 176, "vectors.S");
#endif
