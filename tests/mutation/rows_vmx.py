# SPDX-License-Identifier: Apache-2.0
"""Mistakes in VT-x's control words, for the tests on the host."""

from tests.mutation.mutation import Mutation

VMX, CONTROLS = "hal/x86/vmx/vmx.c", "hal/x86/vmx/controls_boot.c"

CONTROL_WORDS = (
    Mutation(
        "CR0 is shown as another register", VMX, "qualification >> 8 & 0xf) & CR0_KEPT", "qualification >> 4 & 0xf) & CR0_KEPT", "vmx_test"
    ),
    Mutation("CR0 is shown with all its bits", VMX, "qualification >> 8 & 0xf) & CR0_KEPT", "qualification >> 8 & 0xf)", "vmx_test"),
    Mutation("NMIs stay with the guest", CONTROLS, "PIN_NMI_EXITING = 3,", "PIN_NMI_EXITING = 4,", "vmx_controls_test"),
    Mutation("CR3 loads may exit", CONTROLS, "PROCESSOR_CR3_LOAD_EXITING = 15,", "PROCESSOR_CR3_LOAD_EXITING = 14,", "vmx_controls_test"),
    Mutation(
        "a processor without NMI windows will do",
        CONTROLS,
        "PROCESSOR_NMI_WINDOW_EXITING, LATER,",
        "PROCESSOR_NMI_WINDOW_EXITING, OFF,",
        "vmx_controls_test",
    ),
    Mutation("bits that must be 1 are 0", CONTROLS, "words[word] = (uint32_t)capability[word];", "words[word] = 0;", "vmx_controls_test"),
    Mutation("1 GiB leaves always", CONTROLS, "(capability & BIT(EPT_1G) ? PT_LEAF_1G : 0)", "PT_LEAF_1G", "vmx_controls_test"),
    Mutation("write-back EPT is not asked for", CONTROLS, "| BIT(EPT_WRITE_BACK)", "", "vmx_controls_test"),
    Mutation("CR0 does not decide about code on VT-x", VMX, "n = X86_CR0; n <= X86_RIP", "n = X86_CR3; n <= X86_RIP", "vmx_test"),
    Mutation("where the guest is does not decide about code on VT-x", VMX, "n <= X86_RIP; n++", "n < X86_RIP; n++", "vmx_test"),
    Mutation("every register decides about code on VT-x", VMX, "n = X86_CR0; n <= X86_RIP", "n = X86_RFLAGS; n <= X86_RIP", "vmx_test"),
    Mutation("CR3 is noted as CR0", VMX, "[X86_CR3] = GUEST_CR3", "[X86_CR3] = GUEST_CR0", "vmx_test"),
    Mutation("a code segment is noted without its base", VMX, "[X86_CS_BASE] = GUEST_CS_BASE", "[X86_CS_BASE] = GUEST_RFLAGS", "vmx_test"),
    Mutation("nothing is noted", VMX, "core->state[n] = vmx_read(fields[n]);", ";", "vmx_test"),
    Mutation("L of a code segment is D", VMX, ".code_shift = 13,", ".code_shift = 14,", "vmx_test"),
)
