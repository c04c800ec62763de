/* SPDX-License-Identifier: Apache-2.0 */
/* PCI Local Bus 3.0, 3.2.2.3.2 "Software Generation of Configuration Transactions": one address register for the whole machine. */
#include "hal/pci/config.h"

#include "arch/x86_64/x86.h"
#include "hal/pci/pci.h"

uint32_t pci_place(const struct pci_view *view, uint64_t gpa)
{
	return PCI_NOWHERE;
}

enum { CONFIG_ADDRESS = 0xcf8, CONFIG_DATA = 0xcfc };
#define CONFIG_ENABLE (UINT32_C(1) << 31)

static void select(uint32_t place)
{
	x86_out32(CONFIG_ADDRESS, CONFIG_ENABLE | place >> PCI_REGISTER_BITS << 8 | (place & 0xfc));
}

uint32_t pci_config_read(uint32_t place)
{
	select(place);
	return x86_in32(CONFIG_DATA);
}

void pci_config_write(uint32_t place, uint32_t value)
{
	select(place);
	x86_out32(CONFIG_DATA, value);
}
