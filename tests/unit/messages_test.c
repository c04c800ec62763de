/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.dma, BH-I1.device. Messages of functions whose address is the monitor's, as with VT-d: what start-up makes of the capabilities of a
 * function, and what a guest's writes then do to them and to its table of MSI-X. PCI Local Bus 3.0, 6.8.
 */
#include <string.h>

#include "arch/arch.h"
#include "check.h"
#include "fake_arch.h"
#include "hal/pci/config.h"
#include "hal/pci/pci.h"

enum { SELF = 1 << 3, ID = 0x28, MSI = 0xd0, MSI_X = 0xa0, WORDS = PCI_PAGE_BYTES / 4, ENTRIES = 5, TABLE_OFFSET = 0x2000 };
#define MINE     UINT32_C(0xfee80018) /* the address that messages must have */
#define BASE     UINT32_C(0xc0020000)
#define TABLE_AT UINT64_C(0xc0022000)

uint64_t pci_ecam;

static uint32_t word[WORDS];
static struct pci_view view;
static struct bh_pci_function granted;
static struct {
	uint64_t address;
	uint32_t value;
	unsigned count;
} device;

uint32_t pci_config_read(uint32_t place)
{
	CHECK_EQ(place >> PCI_REGISTER_BITS, ID);
	return word[place % PCI_PAGE_BYTES / 4];
}

/* Of a capability's first word the lower half is read-only. */
void pci_config_write(uint32_t place, uint32_t value)
{
	uint32_t offset = place % PCI_PAGE_BYTES, kept = offset == MSI || offset == MSI_X ? 0xffff : 0;

	CHECK_EQ(place >> PCI_REGISTER_BITS, ID);
	word[offset / 4] = (word[offset / 4] & kept) | (value & ~kept);
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	device.address = address;
	device.value = value;
	device.count++;
}

enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	return HAL_E_DENIED;
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	uint64_t *mapped = (uint64_t *)space;

	CHECK_EQ((uintptr_t)va, hpa.v);
	CHECK_EQ(permissions, HAL_READ | HAL_WRITE);
	CHECK_EQ(memory, HAL_MEMORY_DEVICE);
	mapped[0] = hpa.v;
	mapped[1] = size;
	return HAL_OK;
}

/* MSI, of 64 bits and with masks if `is_long`, leads to MSI-X. */
static void reset(bool is_long)
{
	memset(word, 0, sizeof(word));
	memset(&view, 0, sizeof(view));
	word[PCI_COMMAND / 4] = PCI_STATUS_CAPABILITIES;
	word[PCI_CAPABILITIES / 4] = MSI;
	word[MSI / 4] = (is_long ? 0x01800000 : 0) | MSI_X << 8 | PCI_CAPABILITY_MSI;
	word[MSI_X / 4] = (ENTRIES - 1) << 16 | PCI_CAPABILITY_MSI_X;
	word[MSI_X / 4 + 1] = TABLE_OFFSET | 1;
	for (unsigned n = 1; n < 6; n++)
		word[MSI / 4 + n] = 0xaaaaaaaa;
	granted = (struct bh_pci_function){ .id = ID, .dma = BH_DMA_TRANSLATED, .table = TABLE_OFFSET | 1, .messages = ENTRIES };
	granted.bar[1] = BASE;
	granted.bar_mask[1] = 0xffffc000;
	view.lock = &view.own;
	view.count = 1;
	view.functions[0].place = ID << PCI_REGISTER_BITS;
}

static enum hal_status allow(uint32_t address, const struct pci_table **table)
{
	*table = &view.tables[0];
	return pci_allow_messages(&view, &granted, address, table);
}

static void poke(uint32_t offset, uint32_t value)
{
	CHECK_EQ(pci_write(&view, SELF, ID << PCI_REGISTER_BITS | offset, 4, value), HAL_SKIP);
}

/* Control, data and masks are the guest's; the address is not, whatever it or a reset of the function makes of it. */
static void test_msi(void)
{
	const struct pci_table *table;

	for (unsigned is_long = 0; is_long < 2; is_long++) {
		uint32_t data = is_long ? 3 : 2, end = is_long ? 6 : 3;

		check_context.subject = is_long ? "MSI of 64 bits" : "MSI of 32 bits";
		reset(is_long);
		CHECK_EQ(allow(MINE, &table), HAL_OK);
		CHECK_EQ(word[MSI / 4 + 1], MINE);
		CHECK_EQ(is_long ? word[MSI / 4 + 2] : 0, 0);
		for (unsigned n = 0; n < 7; n++) {
			uint32_t before = word[MSI / 4 + n];

			check_context.round = n;
			poke(MSI + 4 * n, 0x01230000);
			if (n >= data && n < end)
				CHECK_EQ(word[MSI / 4 + n], 0x01230000);
			else
				CHECK_EQ(word[MSI / 4 + n], n ? before : 0x01230000 | (before & 0xffff));
		}
		word[MSI / 4 + 1] = 0;
		pci_reset(&view, SELF, PCI_SILENT);
		CHECK_EQ(word[MSI / 4] >> 16, 0);
		CHECK_EQ(word[MSI / 4 + 1], MINE);
	}
}

/* Where the IOMMU goes by the function and by data, all is the guest's, and its table, too. */
static void test_any_address(void)
{
	const struct pci_table *table;

	check_context.subject = "messages of any address";
	reset(true);
	granted.messages = granted.table = 0;
	CHECK_EQ(allow(0, &table), HAL_OK);
	CHECK(!table);
	for (unsigned n = 1; n < 6; n++)
		poke(MSI + 4 * n, 0xfee00000 + n);
	for (unsigned n = 1; n < 6; n++)
		CHECK_EQ(word[MSI / 4 + n], 0xfee00000 + n);
	poke(MSI_X, 0x80000000);
	CHECK_EQ(word[MSI_X / 4] >> 16, 0x8000);
	CHECK(!pci_table_of(&view, TABLE_AT));
}

static enum hal_action store(uint64_t address, uint32_t width, uint32_t value)
{
	const struct pci_table *table = pci_table_of(&view, address);
	struct hal_exit exit = { .gpa = address, .width = width, .value = value };

	CHECK(table);
	return pci_write_table(table, &exit);
}

/* Each double word of the pages of the table, and around. */
static void test_table(void)
{
	const struct pci_table *table;
	uint64_t mapped[2];

	check_context.subject = "table of MSI-X";
	reset(false);
	CHECK_EQ(allow(MINE, &table), HAL_OK);
	CHECK(table);
	CHECK_EQ(table->pages, TABLE_AT);
	CHECK_EQ(table->page_bytes, BH_PAGE_BYTES);
	CHECK_EQ(pci_map((struct hal_space *)mapped, &view), HAL_OK);
	CHECK_EQ(mapped[0], TABLE_AT);
	CHECK_EQ(mapped[1], BH_PAGE_BYTES);
	CHECK(!pci_table_of(&view, TABLE_AT - 1));
	CHECK(!pci_table_of(&view, TABLE_AT + BH_PAGE_BYTES));
	for (uint32_t offset = 0; offset < BH_PAGE_BYTES; offset += 4) {
		uint32_t wanted = 0xfee12345;

		if (offset < ENTRIES * 16 && offset % 16 == 0)
			wanted = MINE;
		if (offset < ENTRIES * 16 && offset % 16 == 4)
			wanted = 0;
		check_context.round = offset;
		CHECK_EQ(store(TABLE_AT + offset, 4, 0xfee12345), HAL_SKIP);
		CHECK_EQ(device.address, TABLE_AT + offset);
		CHECK_EQ(device.value, wanted);
	}
	device.count = 0;
	for (uint32_t offset = 0; offset < 32; offset++)
		for (uint32_t width = 1; width <= 8; width *= 2)
			if (width != 4 || offset % 4)
				CHECK_EQ(store(TABLE_AT + offset, width, 0), HAL_FAULT);
	CHECK_EQ(device.count, 0);
}

/* One that ends in another page, of a register of 64 bits. */
static void test_long_table(void)
{
	const struct pci_table *table;

	check_context.subject = "a table over two pages";
	reset(false);
	word[MSI_X / 4] |= 0x7ff << 16;
	word[MSI_X / 4 + 1] = granted.table = 0x3f00 | 2;
	granted.messages = 0x800;
	granted.bar[2] = BASE | 4;
	granted.bar[3] = 1;
	granted.bar_mask[2] = 0xfffe0004;
	granted.bar_mask[3] = UINT32_MAX;
	CHECK_EQ(allow(MINE, &table), HAL_OK);
	CHECK_EQ(table->start, UINT64_C(0x1c0023f00));
	CHECK_EQ(table->pages, UINT64_C(0x1c0023000));
	CHECK_EQ(table->page_bytes, 0x9000);
}

/* The board tree says another table than the function has, or one outside its base address. */
static void test_wrong_tables(void)
{
	static const struct {
		uint32_t table, messages, there, entries;
	} rows[] = {
		{ 0, 0, TABLE_OFFSET | 1, ENTRIES },
		{ TABLE_OFFSET | 1, ENTRIES + 1, TABLE_OFFSET | 1, ENTRIES },
		{ 0x1000 | 1, ENTRIES, TABLE_OFFSET | 1, ENTRIES },
		{ TABLE_OFFSET | 0, ENTRIES, TABLE_OFFSET | 0, ENTRIES },
		{ TABLE_OFFSET | 4, ENTRIES, TABLE_OFFSET | 4, ENTRIES },
		{ TABLE_OFFSET | 7, ENTRIES, TABLE_OFFSET | 7, ENTRIES },
		{ 0x3fc0 | 1, ENTRIES, 0x3fc0 | 1, ENTRIES },
		{ 0xfffffff8 | 1, ENTRIES, 0xfffffff8 | 1, ENTRIES },
		{ 0x2008 | 1, ENTRIES, 0x2008 | 1, ENTRIES }, /* entries lie as their words do */
	};
	const struct pci_table *table;

	check_context.subject = "another table than the board tree's";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		reset(false);
		granted.bar[4] = 0x8001;
		granted.bar_mask[4] = 0xffffc001;
		granted.table = rows[n].table;
		granted.messages = rows[n].messages;
		word[MSI_X / 4] = (rows[n].entries - 1) << 16 | PCI_CAPABILITY_MSI_X;
		word[MSI_X / 4 + 1] = rows[n].there;
		CHECK_EQ(allow(MINE, &table), HAL_E_UNSUPPORTED);
	}
	reset(false);
	word[MSI / 4] = PCI_CAPABILITY_MSI; /* and no MSI-X behind it */
	CHECK_EQ(allow(MINE, &table), HAL_E_UNSUPPORTED);
	granted.messages = 0;
	CHECK_EQ(allow(MINE, &table), HAL_OK);
	CHECK(!table);
}

/* Of two functions of a sandbox, whose base addresses are smaller than a page. */
static void test_tables_in_one_page(void)
{
	static const struct {
		uint64_t pages;
		uint32_t page_bytes;
		enum hal_status expected;
	} rows[] = {
		{ 0, 0, HAL_OK }, /* a function without a table */
		{ TABLE_AT - BH_PAGE_BYTES, BH_PAGE_BYTES, HAL_OK },
		{ TABLE_AT + BH_PAGE_BYTES, BH_PAGE_BYTES, HAL_OK },
		{ TABLE_AT, BH_PAGE_BYTES, HAL_E_UNSUPPORTED },
		{ TABLE_AT - BH_PAGE_BYTES, 2 * BH_PAGE_BYTES, HAL_E_UNSUPPORTED },
	};
	const struct pci_table *table;

	check_context.subject = "two tables of MSI-X";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		reset(false);
		view.functions[1] = view.functions[0];
		view.tables[0] = (struct pci_table){ .pages = rows[n].pages, .page_bytes = rows[n].page_bytes };
		view.count = 2;
		CHECK_EQ(allow(MINE, &table), rows[n].expected);
	}
}

int main(void)
{
	test_tables_in_one_page();
	test_msi();
	test_any_address();
	test_table();
	test_long_table();
	test_wrong_tables();
	return 0;
}
