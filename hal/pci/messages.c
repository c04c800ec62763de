/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: what a guest may write of its function's table of MSI-X where the address of messages says who sends them (VT-d). Messages name
 * an entry of the IOMMU's by address + data, and the IOMMU compares its source, so data are the guest's own. PCI Local Bus 3.0, 6.8.2
 * "MSI-X Capability and Table Structures": address, upper address, data, control.
 */
#include "hal/pci/pci.h"

#include "arch/arch.h"

enum { ENTRY_UPPER_ADDRESS = 4, ENTRY_DATA = 8 };

const struct pci_table *pci_table_of(const struct pci_view *view, uint64_t gpa)
{
	for (uint32_t n = 0; n < view->count; n++)
		if (gpa - view->tables[n].pages < view->tables[n].page_bytes)
			return &view->tables[n];
	return NULL;
}

/* Other registers in the same pages are the guest's own. */
enum hal_action pci_write_table(const struct pci_table *table, const struct hal_exit *exit)
{
	uint32_t value = (uint32_t)exit->value;

	if (exit->width != sizeof(value) || exit->gpa % sizeof(value))
		return HAL_FAULT;
	if (exit->gpa - table->start < table->bytes && !(exit->gpa & ENTRY_DATA))
		value = exit->gpa & ENTRY_UPPER_ADDRESS ? 0 : table->address;
	arch_mmio_write32(exit->gpa, value);
	return HAL_SKIP;
}
