/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what a guest may write of its function's messages, where it does not interrupt by lines alone. */
#include "hal/pci/pci.h"

#include "hal/pci/config.h"

static uint32_t read(uint32_t id, uint32_t offset)
{
	return pci_config_read(id << PCI_REGISTER_BITS | offset);
}

/*
 * Message control above the identifier, address, data, and the mask of each message: PCI Local Bus 3.0, 6.8.1 "MSI Capability Structure".
 * MSI-X has its table in a base address, and here the control alone: 6.8.2.
 */
enum { MSI_BYTES = 12, MSI_LONG = 1 << 23, MSI_LONG_BYTES = 4, MSI_MASKS = 1 << 24, MSI_MASK_BYTES = 8, MSI_X_BYTES = 4 };
enum { MSI_ADDRESS = 4, MSI_DATA = 8 };
static void allow_msi(struct pci_function *own, uint32_t id, uint32_t msi, uint32_t address)
{
	uint32_t control = read(id, msi), more = control & MSI_LONG ? MSI_LONG_BYTES : 0;
	uint32_t bytes = MSI_BYTES + more + (control & MSI_MASKS ? MSI_MASK_BYTES : 0), data = MSI_DATA + more;

	own->messages[0] = (struct pci_stretch){ (uint8_t)msi, (uint8_t)bytes, 0 };
	if (!address)
		return;
	own->messages[0].bytes = MSI_ADDRESS;
	own->messages[2] = (struct pci_stretch){ (uint8_t)(msi + data), (uint8_t)(bytes - data), 0 };
	own->messages[3] = (struct pci_stretch){ (uint8_t)(msi + MSI_ADDRESS), 0, address };
	if (more)
		pci_config_write(own->place + msi + MSI_DATA, 0); /* the upper address, which nobody writes again */
}

/* Where the table lies: 6.8.2, "Table Offset/Table BIR": the register's number in bits 2:0. */
enum { MSI_X_TABLE = 4, MSI_X_ENTRY_BYTES = 16, MSI_X_ENTRIES = 0x7ff, MSI_X_REGISTER = 7 };
static bool place_table(struct pci_table *table, const struct bh_pci_function *function, uint32_t msi_x, uint32_t address)
{
	uint32_t bar = function->table & MSI_X_REGISTER, offset = function->table & ~(uint32_t)MSI_X_REGISTER;
	uint64_t bytes = (uint64_t)function->messages * MSI_X_ENTRY_BYTES, start, end;
	struct hal_base base;

	if (read(function->id, msi_x + MSI_X_TABLE) != function->table ||
	    (read(function->id, msi_x) >> 16 & MSI_X_ENTRIES) + 1 != function->messages || !hal_function_base(function, bar, &base) ||
	    base.ports || offset % MSI_X_ENTRY_BYTES || offset + bytes > base.bytes)
		return false;
	start = base.start + offset;
	end = start + bytes;
	table->start = start;
	table->bytes = (uint32_t)bytes;
	table->pages = start & ~(uint64_t)(PCI_PAGE_BYTES - 1);
	table->page_bytes = (uint32_t)(((end + PCI_PAGE_BYTES - 1) & ~(uint64_t)(PCI_PAGE_BYTES - 1)) - table->pages);
	table->address = address;
	return true;
}

/* Its pages are trapped for the one table that they are known to hold. */
static bool shares_a_page(const struct pci_view *view, const struct pci_table *table)
{
	for (const struct pci_table *other = view->tables; other < table; other++)
		if (other->pages < table->pages + table->page_bytes && table->pages < other->pages + other->page_bytes)
			return true;
	return false;
}

enum hal_status pci_allow_messages(struct pci_view *view, const struct bh_pci_function *function, uint32_t address,
				   const struct pci_table **table)
{
	struct pci_function *own = &view->functions[view->count - 1];
	struct pci_table *traps = &view->tables[view->count - 1];
	uint32_t msi = pci_capability(function->id, PCI_CAPABILITY_MSI), msi_x = pci_capability(function->id, PCI_CAPABILITY_MSI_X);

	*table = NULL;
	if (msi)
		allow_msi(own, function->id, msi, address);
	if (msi_x)
		own->messages[1] = (struct pci_stretch){ (uint8_t)msi_x, MSI_X_BYTES, 0 };
	if (address && (msi_x ? !place_table(traps, function, msi_x, address) || shares_a_page(view, traps) : function->messages))
		return HAL_E_UNSUPPORTED;
	if (address && msi_x)
		*table = traps;
	pci_reset(view, HAL_LOCK_START_UP, PCI_COMMAND_DECODE);
	return HAL_OK;
}
