/* SPDX-License-Identifier: Apache-2.0 */
/* What vectors.S saves of an interrupted program: read from C and assembly. */
#pragma once

#define FRAME_ELR   248
#define FRAME_SPSR  256
#define FRAME_BYTES 272

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct frame {
	uint64_t x[31];
	uint64_t elr;
	uint64_t spsr;
	uint64_t pad; /* SP stays 16-byte aligned */
};
_Static_assert(offsetof(struct frame, elr) == FRAME_ELR, "vectors.S");
_Static_assert(offsetof(struct frame, spsr) == FRAME_SPSR, "vectors.S");
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "vectors.S");
#endif
