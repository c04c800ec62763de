/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupt gates as the processor reads them. APM vol. 2, 4.8.4 "Gate Descriptors". */
#pragma once
#include <assert.h>

#include "arch/arch.h"
#include "start.h"

struct x86_gate {
	uint16_t offset_15_0;
	uint16_t selector;
	uint8_t stack_table; /* 0: stay on this stack */
	uint8_t type;
	uint16_t offset_31_16;
	uint32_t offset_63_32;
	uint32_t reserved;
};
static_assert(sizeof(struct x86_gate) == 16, "the processor's layout");

extern struct x86_gate x86_idt[X86_GATES];
