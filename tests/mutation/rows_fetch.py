# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what an access to a trapped page was: how its instruction is fetched, noted and decoded. For the tests on the host."""

from tests.mutation.mutation import Mutation

DECODE = "hal/x86/decode.c"
FETCH = "hal/x86/fetch.c"
NOTED = "hal/x86/noted_boot.c"
SVM, VMX, IOAPIC, PORT = "hal/x86/svm/svm.c", "hal/x86/vmx/vmx.c", "hal/x86/apic/ioapic.c", "hal/x86/port.c"

FETCHES = (
    Mutation("a register for memory", DECODE, "if (*at >> 6 == MODRM_REGISTER)\n\t\treturn false;\n", "", "decode_test"),
    Mutation("C7 /1 is a MOV", DECODE, " && !(*at >> 3 & 7)", "", "decode_test"),
    Mutation("RSP may be loaded", DECODE, "!(load && mov->target == X86_TARGET_RSP)", "true", "decode_test"),
    Mutation("half an instruction will do", DECODE, "return mov->length <= code->count;", "return true;", "decode_test"),
    Mutation("AH is SPL", DECODE, "if (width == 1 && !rex && number & 4)", "if (false)", "decode_test"),
    Mutation("any RAM of stage 2", FETCH, "(entry & partition->ram_mask) == partition->ram_leaf", "true", "fetch_test"),
    Mutation("what lies beyond stage 2 is RAM", FETCH, "if (gpa >> shift)\n\t\treturn false;\n", "", "fetch_test"),
    Mutation("walks are accesses on SVM", SVM, "error & NPF_FINAL ? X86_TARGET_MEMORY : 0", "X86_TARGET_MEMORY", "svm_test"),
    Mutation("walks are accesses on VT-x", VMX, "(qualification & FINAL) == FINAL ?", "FINAL ?", "vmx_test"),
    Mutation(
        "registers below the entries are entries",
        IOAPIC,
        "(line->shown ^ view->index) <= 1",
        "(line->shown ^ (view->index | IOREDTBL)) <= 1",
        "ioapic_test",
    ),
    Mutation("IN AL writes EAX", PORT, "width == 4 ? UINT64_MAX : x86_mask_of(width)", "UINT64_MAX", "port_test"),
    Mutation("IN EAX keeps the upper half", PORT, "width == 4 ? UINT64_MAX : x86_mask_of(width)", "x86_mask_of(width)", "port_test"),
    Mutation("holes are RAM", FETCH, "if (!(entry & PRESENT))\n\t\t\treturn false;\n\t\ttable", "table", "fetch_test"),
    Mutation("large leaves of stage 2 lead further", FETCH, "shift > PAGE_SHIFT && !(entry & LARGE)", "shift > PAGE_SHIFT", "fetch_test"),
    Mutation("large leaves of stage 2 are pages", FETCH, "table + inside(gpa, shift)", "table + inside(gpa, PAGE_SHIFT)", "fetch_test"),
    Mutation("large leaves of the guest's lead further", FETCH, "bits && !(*entry & LARGE)", "bits", "fetch_test"),
    Mutation("low bits of a large leaf are its address", FETCH, "table - inside(table, (unsigned)bits) +", "table +", "fetch_test"),
    Mutation("the second page is beside the first", FETCH, "(n && rip & PAGE_MASK)", "n", "fetch_test"),
    Mutation("more than 15 bytes", FETCH, "count < X86_CODE_MAX ? count : X86_CODE_MAX", "count", "fetch_test"),
    Mutation("walks of the guest's tables are its instruction's", FETCH, "exit->target != X86_TARGET_MEMORY || ", "", "fetch_test"),
    Mutation("deliveries are its instruction's", FETCH, "if (!x86_vendor->has_event(core))", "", "fetch_test"),
    Mutation("fetches are stores", FETCH, "access == BH_ACCESS_EXECUTE || ", "", "fetch_test"),
    Mutation("a walk is never stale", FETCH, "while (n--)", "while (n-- > X86_STATE_WORDS + 4)", "fetch_test"),
    Mutation("code is never stale", FETCH, "size_t n = noted->count;", "size_t n = noted->count - 1;", "fetch_test"),
    Mutation("the way to a second page is never stale", FETCH, "size_t n = noted->count;", "size_t n = 12;", "fetch_test"),
    Mutation("what is noted holds for any tables", FETCH, "while (n--)", "while (n-- > 2)", "fetch_test"),
    Mutation("what is noted holds in any mode", NOTED, "core->field[X86_CR0 + n]", "core->field[n ? X86_CR0 + n : X86_CR3]", "fetch_test"),
    Mutation("what is noted holds wherever the guest is", NOTED, "n < X86_STATE_WORDS", "n < X86_STATE_WORDS - 1", "fetch_test"),
    Mutation(
        "what is noted holds for either direction",
        FETCH,
        "if (noted->access != access) return x86_fetch(partition, noted, access);",
        "if (!noted->access) return x86_fetch(partition, noted, access);",
        "fetch_test",
    ),
    Mutation("what was not understood is what was noted", FETCH, "noted->access = BH_ACCESS_NONE;", "", "fetch_test"),
)
