# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what guests reach of the I/O APIC and of PCI's configuration registers, and in what start-up makes of lines, for the tests on the host."""

from tests.mutation.mutation import Mutation

IOAPIC, START, PCI, PORT = "hal/x86/apic/ioapic.c", "hal/x86/apic/ioapic_boot.c", "hal/pci/filter.c", "hal/x86/port.c"

FILTERS = (
    Mutation("start-up opens what its guest has masked", IOAPIC, "!line->touched && ", "", "ioapic_test"),
    Mutation("a reset without the lock", IOAPIC, "hal_lock_take(partition->ioapic.lock, self);", "", "ioapic_test"),
    Mutation("nobody notes that a guest has programmed a line", IOAPIC, "line->touched = true;", "", "ioapic_test"),
    Mutation("a register's number has more than eight bits", IOAPIC, "(uint8_t)exit->value;", "(uint32_t)exit->value;", "ioapic_test"),
    Mutation("more lines than there is room for", START, "if (view->count == IOAPIC_LINES) return false;", "", "ioapic_test"),
    Mutation("pin 0 stays as firmware left it", START, "uint32_t pin = 0, end", "uint32_t pin = 1, end", "ioapic_test"),
    Mutation("the neighbour of a function is found", PCI, "^ place) < PCI_PAGE_BYTES", "^ place) < 2 * PCI_PAGE_BYTES", "pci_test"),
    Mutation(
        "a function that can be reset by itself is not", PCI, "command == PCI_FUNCTION_RESET && function", "false && function", "pci_test"
    ),
    Mutation(
        "a function that cannot be reset is", PCI, "PCI_FUNCTION_RESET && function->device_control)", "PCI_FUNCTION_RESET)", "pci_test"
    ),
    Mutation("a reset clears the status above it", PCI, "& UINT16_MAX) | command", ") | command", "pci_test"),
    Mutation("half an address is one", PORT, "gpa == PCI_PORT_ADDRESS && exit->width == 4,", "gpa == PCI_PORT_ADDRESS,", "port_test"),
    Mutation("strings reach configuration registers", PORT, "if (exit->target == X86_TARGET_MEMORY)", "if (false)", "port_test"),
    Mutation("an address that is not enabled is one", PORT, "address & PCI_ADDRESS_ENABLE ? function :", "true ? function :", "port_test"),
)
