/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest core sees of its processor: a list of answers that start-up makes (cpuid_boot.c), and that the resident code
 * (cpuid.c) only looks up. Leaves that are not in the list read as zeros.
 */
#pragma once
#include <stdint.h>

#include "arch/x86_64/x86.h"

enum { X86_MAX_ANSWERS = 64, LEAF_FEATURES = 1, LEAF_STRUCTURED = 7, LEAF_XSAVE = 0xd };
#define X86_ANY_SUBLEAF UINT32_MAX
/* State components that a guest may enable. Not: MPX, processor trace, AMX. */
#define X86_XCR0_SHOWN (XCR0_X87 | XCR0_SSE | XCR0_AVX | XCR0_AVX512 | XCR0_PKRU)

struct x86_answer {
	uint32_t leaf, subleaf;
	struct x86_cpuid is;
};

struct x86_identity {
	uint32_t count;
	struct x86_answer answers[X86_MAX_ANSWERS];
};

/* Start-up, on a processor like the one the guest core will have. */
void x86_identity_make(struct x86_identity *identity, uint32_t apic_id, uint32_t core_count);
