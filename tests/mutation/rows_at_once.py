# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what monitors of PCs answer at once, for the tests on the host."""

from tests.mutation.mutation import Mutation

ICR = "hal/x86/apic/icr.c"
SVM = "hal/x86/svm/svm.c"
FIELDS = "hal/x86/svm/fields_boot.c"

AT_ONCE = (
    Mutation("users call at once", SVM, "vmcb->save.cpl || core->registers.rax != ", "core->registers.rax != ", "svm_test"),
    Mutation("every call is one for the version", SVM, "|| core->registers.rax != BH_CALL_VERSION", "", "svm_test"),
    Mutation(
        "a delivery that an exit interrupted is forgotten",
        SVM,
        "if (vmcb->control.exitintinfo & X86_EVENT_VALID) return NULL;",
        "",
        "svm_test",
    ),
    Mutation("an event is delivered twice", SVM, "vmcb->control.eventinj = 0;", "", "svm_test"),
    Mutation(
        "the TLB is flushed for ever",
        SVM,
        "vmcb->control.eventinj = 0; vmcb->control.tlb_control = 0;",
        "vmcb->control.eventinj = 0;",
        "svm_test",
    ),
    Mutation("an interrupt shadow stays", SVM, "vmcb->control.interrupt_shadow = 0;", "", "svm_test"),
    Mutation("an answer at once is not counted", SVM, "core->exits[kind]++;", "", "svm_test"),
    Mutation("a refused register is skipped", SVM, "if (action == HAL_SKIP) advance", "advance", "svm_test"),
    Mutation("a next instruction that the processor tells is not taken", SVM, "svm_saves_nrip ? vmcb->control.nrip :", "", "svm_test"),
    Mutation(
        "an interrupt that was not sent is done",
        SVM,
        "apic_send_fixed(core, exit->value) ? HAL_SKIP : HAL_FAULT",
        "apic_send_fixed(core, exit->value) ? HAL_SKIP : HAL_SKIP",
        "svm_test",
    ),
    Mutation("registers that are not saved are at hand", SVM, " || NOT_SAVED >> (exit.target & X86_TARGET_NUMBER) & 1", "", "svm_test"),
    Mutation("the processor tells the length of an access", SVM, "vmcb->save.rip + exit.length", "next_rip(vmcb, 0)", "svm_test"),
    Mutation("a field is another", FIELDS, "save.cr3", "save.cr0", "svm_test"),
    Mutation("other modes are fixed interrupts", ICR, "icr & (ICR_MODE | ICR_LOGICAL", "icr & (ICR_LOGICAL", "icr_test"),
    Mutation("logical destinations are APIC IDs", ICR, "(ICR_MODE | ICR_LOGICAL | ICR", "(ICR_MODE | ICR", "icr_test"),
    Mutation("shorthands do not count", ICR, "ICR_LOGICAL | ICR_SHORTHAND)", "ICR_LOGICAL)", "icr_test"),
    Mutation("exceptions are interrupts at once", ICR, " || !apic_vector_exists(icr)", "", "icr_test"),
    *(
        Mutation(f"{who} may be level-triggered", ICR, f"{where}, APIC_FIXED,", f"{where}, (enum apic_mode)(icr >> 8 & 0x80),", "icr_test")
        for who, where in (
            ("what is sent at once", "apic_send(partition->apic_id[slot]"),
            ("what goes the long way", "apic_send(to->apic_id"),
        )
    ),
    Mutation("any core may be named at once", ICR, "if (partition->apic_id[slot] == icr >> 32) {", "{", "icr_test"),
)
