/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: switches off what a loader may have left writing to memory, or counting towards an interrupt. */
#pragma once
#include <stdbool.h>

#include "arch/x86_64/x86.h"

/* What this asks of a processor; a test supplies a processor of its own. */
struct x86_processor {
	struct x86_cpuid (*cpuid)(uint32_t leaf, uint32_t subleaf);
	uint64_t (*read)(uint32_t msr);
	void (*write)(uint32_t msr, uint64_t value);
};
/* The one that runs this. */
extern const struct x86_processor x86_this_processor;

/*
 * Clears every control of tracing, sampling and counting that CPUID says is there, and reads it back. Touches no other register.
 * Requires: on the core itself, before virtualization is on. Returns whether all of them are 0 now.
 */
bool x86_disarm(const struct x86_processor *processor);
