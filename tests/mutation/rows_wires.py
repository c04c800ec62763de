# SPDX-License-Identifier: Apache-2.0
"""Mistakes that let a core's own wires reach others (docs/sideband.md), or its leftovers its monitor."""

from tests.emulated.case import SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

WIRES = (
    MachineMutation(
        "the line of FERR# is a device's",
        "arch/x86_64/board_pc.h",
        "#define PC_PRIVATE_LINES { 13, 1 }",
        "#define PC_PRIVATE_LINES { 12, 1 }",
        "lent-line",
        SVM,
        "victim said .*stray interrupt",
    ),
    MachineMutation(
        "an interrupt with the vector of an exception is one",
        "arch/x86_64/resident.S",
        "cmpq $drained, (%rsp) jne 1f",
        "jmp 1f",
        "restart-with-exceptions-vectors-pending",
        SVM,
        "crash record of mortal: reason error",
    ),
    MachineMutation(
        "a machine check strikes a monitor whose guest has left that vector in service",
        "hal/x86/apic/apic.c",
        "void apic_reset(void) { apic_quiet();",
        'void apic_reset(void) { apic_quiet(); __asm__ volatile("int $18");',
        "restart-with-a-machine-check-s-vector-in-service",
        SVM,
        "mortal is parked",
    ),
    MachineMutation(
        "local vectors of exceptions are not masked",
        "hal/x86/apic/apic.c",
        "mode == APIC_FIXED && apic_vector_exists(*value)",
        "mode == APIC_FIXED",
        "lvt-holds-exception-vector",
        SVM,
        "gave 'returned 0xf'",
    ),
    MachineMutation(
        "performance counters are shown",
        "hal/x86/cpuid_boot.c",
        "{ 0x00000015, 0x00000016, 0,",
        "{ 0x0000000a, 0x0000000a, 0,",
        "counters-not-shown",
        VTX,
        "gave 'returned 0x",
    ),
)
