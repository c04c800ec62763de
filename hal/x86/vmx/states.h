/* SPDX-License-Identifier: Apache-2.0 */
/* The states in which a guest core may begin: lists of VMCS fields and their values, made once, by start-up. */
#pragma once
#include <assert.h>

#include "hal/hal.h"
#include "hal/x86/vmx/vmcs.h"

struct vmx_setting {
	uint64_t field, value;
};

enum { VMX_MAX_SETTINGS = 64 };
struct vmx_state {
	uint32_t count;
	struct vmx_setting settings[VMX_MAX_SETTINGS];
};

struct vmx_states {
	struct vmx_state init;  /* after INIT; STARTUP adds the code segment */
	struct vmx_state entry; /* abi/guest.h */
};
static_assert(sizeof(struct vmx_states) <= BH_PAGE_BYTES, "a frame of the arena");

/* Start-up, into a frame of zeros. */
void vmx_states_make(struct vmx_states *states, const struct hal_entry *entry, uint32_t entry_controls);
