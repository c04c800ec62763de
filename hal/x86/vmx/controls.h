/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: which controls a processor must offer, and the words that switch them. Pure functions of what its MSRs tell. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum vmx_word { VMX_PIN, VMX_PROCESSOR, VMX_SECONDARY, VMX_EXIT, VMX_ENTRY, VMX_WORDS };

/*
 * Makes the five control words from their capability MSRs (SDM vol. 3D, A.3 to A.5: bits that must be 1 in the lower half, bits
 * that may be 1 in the upper). Returns NULL, or what the processor lacks, as hal_probe reports it; the words are then untouched.
 */
const char *vmx_controls_make(const uint64_t capability[VMX_WORDS], uint32_t words[VMX_WORDS]);

/* Returns what IA32_VMX_EPT_VPID_CAP lacks, or NULL. */
const char *vmx_paging_missing(uint64_t capability);

/* Returns the leaves that EPT may have: PT_LEAF_*. */
uint8_t vmx_leaf_levels(uint64_t capability);
