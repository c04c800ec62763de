/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the control words, from a table of what sandboxes need. Manual sections are SDM vol. 3C's and 3D's. */
#include "hal/x86/vmx/controls.h"

#include <stddef.h>

#include "hal/pt/pt.h"

#define BIT(n) (UINT64_C(1) << (n))

/*
 * 25.6.1 "Pin-Based VM-Execution Controls", 25.6.2 "Processor-Based VM-Execution Controls", 25.7.1 "VM-Exit Controls", 25.8.1
 * "VM-Entry Controls". Not: interrupts, HLT, control and debug registers, RDTSC, PAUSE: a guest uses its core as it likes.
 */
enum {
	PIN_NMI_EXITING = 3,
	PIN_VIRTUAL_NMIS = 5,
	PROCESSOR_MWAIT_EXITING = 10,
	PROCESSOR_RDPMC_EXITING = 11,
	PROCESSOR_CR3_LOAD_EXITING = 15,
	PROCESSOR_CR3_STORE_EXITING = 16,
	PROCESSOR_NMI_WINDOW_EXITING = 22,
	PROCESSOR_USE_IO_BITMAPS = 25,
	PROCESSOR_USE_MSR_BITMAPS = 28,
	PROCESSOR_MONITOR_EXITING = 29,
	PROCESSOR_SECONDARY_CONTROLS = 31,
	SECONDARY_EPT = 1,
	SECONDARY_RDTSCP = 3,
	SECONDARY_VPID = 5,
	SECONDARY_WBINVD_EXITING = 6,
	SECONDARY_UNRESTRICTED_GUEST = 7,
	SECONDARY_INVPCID = 12,
	SECONDARY_ENCLS_EXITING = 15,
	SECONDARY_ENCLV_EXITING = 28,
	EXIT_SAVE_DEBUG_CONTROLS = 2,
	EXIT_HOST_64_BIT = 9,
	EXIT_SAVE_PAT = 18,
	EXIT_LOAD_PAT = 19,
	EXIT_SAVE_EFER = 20,
	EXIT_LOAD_EFER = 21,
	ENTRY_LOAD_DEBUG_CONTROLS = 2,
	ENTRY_64_BIT_GUEST = 9,
	ENTRY_LOAD_PAT = 14,
	ENTRY_LOAD_EFER = 15,
};

enum setting { OFF, ON, LATER /* off, but must be there to be switched on */, SHOWN /* on where the processor has it */ };

static const struct control {
	uint8_t word, bit, setting;
	const char *missing;
} controls[] = {
	{ VMX_PIN, PIN_NMI_EXITING, ON, "the processor's VT-x has no NMI exits; use a newer one" },
	{ VMX_PIN, PIN_VIRTUAL_NMIS, ON, "the processor's VT-x has no virtual NMIs; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_NMI_WINDOW_EXITING, LATER, "the processor's VT-x has no NMI-window exits; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_MWAIT_EXITING, ON, "the processor's VT-x has no MWAIT exits; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_MONITOR_EXITING, ON, "the processor's VT-x has no MONITOR exits; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_RDPMC_EXITING, ON, "the processor's VT-x has no RDPMC exits; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_CR3_LOAD_EXITING, OFF, "the processor's VT-x cannot leave CR3 to its guests; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_CR3_STORE_EXITING, OFF, "the processor's VT-x cannot leave CR3 to its guests; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_USE_IO_BITMAPS, ON, "the processor's VT-x has no I/O bitmaps; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_USE_MSR_BITMAPS, ON, "the processor's VT-x has no MSR bitmaps; use a newer one" },
	{ VMX_PROCESSOR, PROCESSOR_SECONDARY_CONTROLS, ON, "the processor's VT-x has no secondary controls; use a newer one" },
	{ VMX_SECONDARY, SECONDARY_EPT, ON, "the processor has VT-x without EPT; use a newer one" },
	{ VMX_SECONDARY, SECONDARY_VPID, ON, "the processor has VT-x without VPIDs; use a newer one" },
	{ VMX_SECONDARY, SECONDARY_UNRESTRICTED_GUEST, ON, "the processor has VT-x without unrestricted guests; use a newer one" },
	{ VMX_SECONDARY, SECONDARY_WBINVD_EXITING, ON, "the processor's VT-x has no WBINVD exits; use a newer one" },
	{ VMX_SECONDARY, SECONDARY_RDTSCP, SHOWN, NULL },
	{ VMX_SECONDARY, SECONDARY_INVPCID, SHOWN, NULL },
	{ VMX_SECONDARY, SECONDARY_ENCLS_EXITING, SHOWN, NULL },
	{ VMX_SECONDARY, SECONDARY_ENCLV_EXITING, SHOWN, NULL },
	{ VMX_EXIT, EXIT_SAVE_DEBUG_CONTROLS, ON, "the processor's VT-x does not save debug controls; use a newer one" },
	{ VMX_EXIT, EXIT_HOST_64_BIT, ON, "the processor's VT-x has no 64-bit hosts; use a newer one" },
	{ VMX_EXIT, EXIT_SAVE_PAT, ON, "the processor's VT-x does not switch PAT; use a newer one" },
	{ VMX_EXIT, EXIT_LOAD_PAT, ON, "the processor's VT-x does not switch PAT; use a newer one" },
	{ VMX_EXIT, EXIT_SAVE_EFER, ON, "the processor's VT-x does not switch EFER; use a newer one" },
	{ VMX_EXIT, EXIT_LOAD_EFER, ON, "the processor's VT-x does not switch EFER; use a newer one" },
	{ VMX_ENTRY, ENTRY_LOAD_DEBUG_CONTROLS, ON, "the processor's VT-x does not load debug controls; use a newer one" },
	{ VMX_ENTRY, ENTRY_64_BIT_GUEST, ON, "the processor's VT-x has no 64-bit guests; use a newer one" },
	{ VMX_ENTRY, ENTRY_LOAD_PAT, ON, "the processor's VT-x does not switch PAT; use a newer one" },
	{ VMX_ENTRY, ENTRY_LOAD_EFER, ON, "the processor's VT-x does not switch EFER; use a newer one" },
};
enum { CONTROLS = sizeof(controls) / sizeof(controls[0]) };

static bool possible(const struct control *control, uint64_t capability)
{
	bool may_be_0 = !(capability & BIT(control->bit)), may_be_1 = capability >> 32 & BIT(control->bit);

	return control->setting == ON ? may_be_1 : control->setting == LATER ? may_be_0 && may_be_1 : control->setting == SHOWN || may_be_0;
}

static bool wanted(const struct control *control, uint64_t capability)
{
	return control->setting == ON || (control->setting == SHOWN && capability >> 32 & BIT(control->bit));
}

const char *vmx_controls_make(const uint64_t capability[VMX_WORDS], uint32_t words[VMX_WORDS])
{
	for (const struct control *c = controls; c < controls + CONTROLS; c++)
		if (!possible(c, capability[c->word]))
			return c->missing;
	for (unsigned word = 0; word < VMX_WORDS; word++)
		words[word] = (uint32_t)capability[word];
	for (const struct control *c = controls; c < controls + CONTROLS; c++)
		if (wanted(c, capability[c->word]))
			words[c->word] |= (uint32_t)BIT(c->bit);
	return NULL;
}

/* A.10 "VPID and EPT Capabilities". */
enum { EPT_WALK_4 = 6, EPT_WRITE_BACK = 14, EPT_2M = 16, EPT_1G = 17, EPT_INVEPT = 20, EPT_INVEPT_ALL = 26 };
enum { VPID_INVVPID = 32, VPID_INVVPID_SINGLE = 41, VPID_INVVPID_ALL = 42 };

const char *vmx_paging_missing(uint64_t capability)
{
	const uint64_t ept = BIT(EPT_WALK_4) | BIT(EPT_WRITE_BACK) | BIT(EPT_INVEPT) | BIT(EPT_INVEPT_ALL);
	const uint64_t vpid = BIT(VPID_INVVPID) | BIT(VPID_INVVPID_SINGLE) | BIT(VPID_INVVPID_ALL);

	if (~capability & ept)
		return "the processor's EPT has no four levels in write-back memory that can be invalidated; use a newer one";
	return ~capability & vpid ? "the processor's VPIDs cannot be invalidated; use a newer one" : NULL;
}

uint8_t vmx_leaf_levels(uint64_t capability)
{
	return (uint8_t)(PT_LEAF_4K | (capability & BIT(EPT_2M) ? PT_LEAF_2M : 0) | (capability & BIT(EPT_1G) ? PT_LEAF_1G : 0));
}
