/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: silences every PCI function, then places the granted ones as the table says. */
#include "hal/pci/pci.h"

#include "board.h"
#include "hal/pci/config.h"

enum { FUNCTIONS_A_DEVICE = 8, NOBODY = 0xffff, OFFSETS = 0xfc, MOST_CAPABILITIES = 48 };
enum { VENDOR_VIRTIO = 0x1af4, VIRTIO_TRANSITIONAL = 0x1000, VIRTIO_MODERN = 0x1040, VIRTIO_LAST = 0x107f };
enum { PCI_INTERRUPT_PIN = 0xff00 }; /* in the word of PCI_INTERRUPT_LINE; 0: it has none */

static uint32_t read(uint32_t id, uint32_t offset)
{
	return pci_config_read(id << PCI_REGISTER_BITS | offset);
}

static void write(uint32_t id, uint32_t offset, uint32_t value)
{
	pci_config_write(id << PCI_REGISTER_BITS | offset, value);
}

/* The list is the function's own word: a circle in it ends, too. */
uint32_t pci_capability(uint32_t function, uint32_t kind)
{
	uint32_t offset = read(function, PCI_COMMAND) & PCI_STATUS_CAPABILITIES ? read(function, PCI_CAPABILITIES) & OFFSETS : 0;

	for (uint32_t left = MOST_CAPABILITIES; offset && left; left--) {
		uint32_t header = read(function, offset);

		if ((header & 0xff) == kind)
			return offset;
		offset = header >> 8 & OFFSETS;
	}
	return 0;
}

static bool exists(uint32_t id)
{
	return (read(id, PCI_IDENTITY) & NOBODY) != NOBODY;
}

static bool is_iommu(uint32_t id)
{
	return board.iommu.kind == BH_IOMMU_AMDVI && id == board.iommu.function;
}

/*
 * The PC's own bridges decode and master for the board and can often do no less; what lies behind a bridge to PCI falls silent with it. So
 * does an IOMMU that is a function.
 */
static bool is_board(uint32_t id)
{
	bool is_bridge = read(id, PCI_CLASS) >> 24 == PCI_CLASS_BRIDGE;

	return is_iommu(id) || (is_bridge && !(read(id, PCI_HEADER) & PCI_HEADER_TYPE));
}

/*
 * Reads the command back: start-up writes memory next, and until then a loader's DMA may go on (pci.h). What decodes for ever harms nobody
 * until it is granted, and pci_grant looks; what masters for ever is returned as false.
 */
static bool silence(uint32_t id)
{
	write(id, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE);
	return !(read(id, PCI_COMMAND) & PCI_COMMAND_MASTER);
}

static bool silence_device(uint32_t first)
{
	uint32_t count = read(first, PCI_HEADER) & PCI_HEADER_MULTI ? FUNCTIONS_A_DEVICE : 1;
	bool silent = true;

	for (uint32_t id = first; id < first + count; id++)
		if (exists(id) && !is_board(id))
			silent = silence(id) && silent;
	return silent;
}

bool hal_machine_silence_functions(void)
{
	bool silent = true;

	if (board.pci.ecam)
		pci_ecam = board.pci.ecam;
	for (uint32_t id = 0; id < board.pci.functions; id += FUNCTIONS_A_DEVICE)
		if (exists(id))
			silent = silence_device(id) && silent;
	return silent;
}

void pci_create_view(struct pci_view *view, struct hal_kick_mailbox *boxes)
{
	view->lock = board.pci.ecam ? &view->own : hal_lock_of(boxes, HAL_LOCK_PCI);
}

/* Whether each register is as wide as the table says. */
static bool has_bars(const struct bh_pci_function *function)
{
	bool has = true;

	write(function->id, PCI_COMMAND, 0);
	for (uint32_t bar = 0; bar < BH_PCI_FUNCTION_BARS; bar++) {
		write(function->id, PCI_BASE_ADDRESS + 4 * bar, UINT32_MAX);
		has = has && read(function->id, PCI_BASE_ADDRESS + 4 * bar) == function->bar_mask[bar];
	}
	return has;
}

static bool holds_bars(const struct bh_pci_function *function)
{
	for (uint32_t bar = 0; bar < BH_PCI_FUNCTION_BARS; bar++)
		if (read(function->id, PCI_BASE_ADDRESS + 4 * bar) != function->bar[bar])
			return false;
	return true;
}

static bool is_there(const struct bh_pci_function *function)
{
	return !is_iommu(function->id) && read(function->id, PCI_IDENTITY) == function->identity &&
	       !(read(function->id, PCI_HEADER) & PCI_HEADER_TYPE);
}

/* Device capabilities, and device control. PCI Express Base 3.0, 7.8.3, 7.8.4. */
enum { EXPRESS_CAPABILITIES = 4, EXPRESS_CONTROL = 8, EXPRESS_RESETS = 1 << 28 };
static void allow_reset(struct pci_function *own, uint32_t id)
{
	uint32_t express = pci_capability(id, PCI_CAPABILITY_EXPRESS);

	if (express && read(id, express + EXPRESS_CAPABILITIES) & EXPRESS_RESETS)
		own->device_control = (uint8_t)(express + EXPRESS_CONTROL);
}

uint32_t pci_reset_ms(const struct pci_view *view)
{
	for (uint32_t n = 0; n < view->count; n++)
		if (view->functions[n].device_control)
			return PCI_RESET_MS;
	return 0;
}

/*
 * Virtio masters the bus whatever its command register says, once its driver has reset it (QEMU); transitional devices pass the IOMMU, too,
 * as legacy drivers cannot accept VIRTIO_F_ACCESS_PLATFORM. Virtual I/O Device 1.2, 4.1.2 "PCI Device Discovery".
 */
static bool can_be_held(const struct bh_pci_function *function)
{
	uint32_t device = function->identity >> 16;

	if ((function->identity & PCI_VENDOR) != VENDOR_VIRTIO || device < VIRTIO_TRANSITIONAL || device > VIRTIO_LAST)
		return true;
	return function->dma == BH_DMA_UNPROTECTED || (function->dma == BH_DMA_TRANSLATED && device >= VIRTIO_MODERN);
}

/* Who may not raise a line drives no pin, or one that can be switched off: since PCI 2.3. PCI Local Bus 3.0, 6.2.2 "Device Control". */
static bool keeps_line_down(const struct pci_function *own, uint32_t id)
{
	return !own->always || !(read(id, PCI_INTERRUPT_LINE) & PCI_INTERRUPT_PIN) || read(id, PCI_COMMAND) & PCI_COMMAND_INTX_DISABLE;
}

/* Its ROM is off. */
enum hal_status pci_grant(struct pci_view *view, const struct bh_pci_function *function)
{
	struct pci_function *own = &view->functions[view->count];

	if (view->count == BH_MAX_PCI_FUNCTIONS || function->id >= board.pci.functions)
		return HAL_E_RANGE;
	if (!is_there(function) || !can_be_held(function) || !has_bars(function))
		return HAL_E_UNSUPPORTED;
	write(function->id, PCI_ROM_ADDRESS, 0);
	own->place = function->id << PCI_REGISTER_BITS;
	own->may = PCI_COMMAND_DECODE | (function->dma != BH_DMA_FREE ? PCI_COMMAND_MASTER : 0);
	own->always = function->line ? 0 : PCI_COMMAND_INTX_DISABLE;
	allow_reset(own, function->id);
	for (uint32_t bar = 0; bar < BH_PCI_FUNCTION_BARS; bar++)
		own->bar[bar] = function->bar[bar];
	view->count++;
	pci_reset(view, HAL_LOCK_START_UP, PCI_COMMAND_DECODE);
	return holds_bars(function) && keeps_line_down(own, function->id) ? HAL_OK : HAL_E_UNSUPPORTED;
}

static uint64_t page_of(uint32_t id)
{
	return board.pci.ecam + ((uint64_t)id << PCI_REGISTER_BITS);
}

static bool owns(const struct pci_view *view, uint32_t id)
{
	for (uint32_t n = 0; n < view->count; n++)
		if (view->functions[n].place == id << PCI_REGISTER_BITS)
			return true;
	return false;
}

enum hal_status pci_show(struct hal_partition *partition, const struct pci_view *view, hpa_t absent, bool open)
{
	enum hal_status status = HAL_OK;

	for (uint32_t id = 0; board.pci.ecam && id < board.pci.functions && status == HAL_OK; id++) {
		bool real = open || owns(view, id);

		status = hal_partition_map(partition, (gpa_t){ page_of(id) }, real ? (hpa_t){ page_of(id) } : absent, PCI_PAGE_BYTES,
					   HAL_READ | (open ? HAL_WRITE : 0), real ? HAL_MEMORY_DEVICE : HAL_MEMORY_RAM);
	}
	return status;
}

enum hal_status pci_map(struct hal_space *space, const struct pci_view *view)
{
	enum hal_status status = HAL_OK;

	for (uint32_t n = 0; board.pci.ecam && n < view->count && status == HAL_OK; n++) {
		const struct pci_table *table = &view->tables[n];

		status = hal_space_map_same(space, board.pci.ecam + view->functions[n].place, PCI_PAGE_BYTES, HAL_MEMORY_DEVICE);
		if (status == HAL_OK && table->page_bytes)
			status = hal_space_map_same(space, table->pages, table->page_bytes, HAL_MEMORY_DEVICE);
	}
	return status;
}
