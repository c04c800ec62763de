/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration mechanism 1: one address register for the whole machine. */
#include "hal/pci/config.h"

#include "arch/x86_64/x86.h"
#include "hal/pci/pci.h"

uint32_t pci_place(const struct pci_view *view, uint64_t gpa)
{
	return PCI_NOWHERE;
}

static void select(uint32_t place)
{
	x86_out32(PCI_PORT_ADDRESS,
		  PCI_ADDRESS_ENABLE | place >> PCI_REGISTER_BITS << PCI_ADDRESS_FUNCTION_SHIFT | (place & PCI_ADDRESS_REGISTER_MASK));
}

uint32_t pci_config_read(uint32_t place)
{
	select(place);
	return x86_in32(PCI_PORT_DATA);
}

void pci_config_write(uint32_t place, uint32_t value)
{
	select(place);
	x86_out32(PCI_PORT_DATA, value);
}
