/* SPDX-License-Identifier: Apache-2.0 */
/* PCI Express Base 3.0, 7.2.2 "PCI Express Enhanced Configuration Access Mechanism (ECAM)": a page a function. */
#include "hal/pci/config.h"

#include "arch/arch.h"
#include "board.h"
#include "hal/pci/pci.h"

uint64_t pci_ecam;

uint32_t pci_place(const struct pci_view *view, uint64_t gpa)
{
	uint64_t place = gpa - pci_ecam;

	return view->count && place >> PCI_REGISTER_BITS < board.pci.functions ? (uint32_t)place : PCI_NOWHERE;
}

uint32_t pci_config_read(uint32_t place)
{
	return arch_mmio_read32(pci_ecam + place);
}

void pci_config_write(uint32_t place, uint32_t value)
{
	arch_mmio_write32(pci_ecam + place, value);
}
