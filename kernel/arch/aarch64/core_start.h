/* SPDX-License-Identifier: Apache-2.0 */
/* What a further core needs for its first instructions, laid out for start.S, which reads it with its MMU off. */
#pragma once

#define CORE_START_SLOT  0
#define CORE_START_MAIR  16
#define CORE_START_TTBR0 32
#define CORE_START_ENTRY 48

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct core_start {
	uint64_t slot;
	uint64_t stack_top;
	uint64_t mair;
	uint64_t tcr;
	uint64_t ttbr0;
	uint64_t sctlr;
	uint64_t entry;
	uint64_t vbar;
};
_Static_assert(offsetof(struct core_start, slot) == CORE_START_SLOT, "start.S");
_Static_assert(offsetof(struct core_start, mair) == CORE_START_MAIR, "start.S");
_Static_assert(offsetof(struct core_start, ttbr0) == CORE_START_TTBR0, "start.S");
_Static_assert(offsetof(struct core_start, entry) == CORE_START_ENTRY, "start.S");
#endif
