/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.dma, BH-I1.device. Which PCI functions start-up grants (hal/pci/functions_boot.c), and what state they are then in. */
#include <string.h>

#include "arch/arch.h"
#include "board.h"
#include "check.h"
#include "fake_arch.h"
#include "hal/pci/config.h"
#include "hal/pci/pci.h"

enum { ID = 0x28, CARD = 0x10d38086, MASK = 0xfffe0000, PLACE = 0xfeb80000, COMMANDS = 0x0147, ROM_IS_ON = 0xfeb40001, PIN = 0x0100 };
enum { BLOCK = 0x10011af4, MODERN_NETWORK = 0x10411af4, MODERN_LAST = 0x107f1af4, NO_VIRTIO = 0x10801af4 };

static uint32_t words[PCI_PAGE_BYTES / 4], writable[PCI_PAGE_BYTES / 4];
static struct pci_view view;
static struct hal_kick_mailbox boxes[BH_PAGE_BYTES / sizeof(struct hal_kick_mailbox)];
static struct bh_pci_function function;

uint64_t pci_ecam;

uint32_t pci_config_read(uint32_t place)
{
	CHECK_EQ(place >> PCI_REGISTER_BITS, ID);
	return words[place % PCI_PAGE_BYTES / 4];
}

void pci_config_write(uint32_t place, uint32_t value)
{
	uint32_t n = place % PCI_PAGE_BYTES / 4;

	CHECK_EQ(place >> PCI_REGISTER_BITS, ID);
	words[n] = (words[n] & ~writable[n]) | (value & writable[n]);
}

/* ---- what nothing here maps ---- */

enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	CHECK(!"a mapping");
	return HAL_E_RANGE;
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	CHECK(!"a mapping");
	return HAL_E_RANGE;
}

/* A function as firmware leaves it: it masters the bus, and its ROM is on. */
static void begin(uint32_t identity)
{
	memset(words, 0, sizeof(words));
	memset(writable, 0, sizeof(writable));
	words[PCI_IDENTITY / 4] = identity;
	words[PCI_COMMAND / 4] = PCI_COMMAND_DECODE | PCI_COMMAND_MASTER;
	writable[PCI_COMMAND / 4] = COMMANDS | PCI_COMMAND_INTX_DISABLE;
	writable[PCI_BASE_ADDRESS / 4] = MASK;
	words[PCI_ROM_ADDRESS / 4] = ROM_IS_ON;
	writable[PCI_ROM_ADDRESS / 4] = ROM_IS_ON;
	words[PCI_INTERRUPT_LINE / 4] = PIN;
	view = (struct pci_view){ 0 };
	pci_create_view(&view, boxes);
	function = (struct bh_pci_function){ .id = ID, .identity = identity, .dma = BH_DMA_TRANSLATED };
	function.bar[0] = PLACE;
	function.bar_mask[0] = MASK;
}

static void test_granted(void)
{
	check_context.subject = "a function that is what the table says";
	begin(CARD);
	CHECK_EQ(pci_grant(&view, &function), HAL_OK);
	CHECK_EQ(view.count, 1);
	CHECK_EQ(words[PCI_ROM_ADDRESS / 4] & 1, 0);
	CHECK_EQ(words[PCI_COMMAND / 4], PCI_COMMAND_DECODE | PCI_COMMAND_INTX_DISABLE);
	CHECK_EQ(words[PCI_BASE_ADDRESS / 4], PLACE);
}

static void test_another(void)
{
	check_context.subject = "a function that is another";
	begin(CARD);
	function.identity++;
	CHECK_EQ(pci_grant(&view, &function), HAL_E_UNSUPPORTED);
	begin(CARD);
	words[PCI_HEADER / 4] = 1 << 16;
	CHECK_EQ(pci_grant(&view, &function), HAL_E_UNSUPPORTED);
	begin(CARD);
	function.bar_mask[0] = MASK << 1;
	CHECK_EQ(pci_grant(&view, &function), HAL_E_UNSUPPORTED);
	begin(CARD);
	function.id = board.pci.functions;
	CHECK_EQ(pci_grant(&view, &function), HAL_E_RANGE);
	CHECK_EQ(view.count, 0);
}

/* PCI before 2.3 has no bit that switches a pin off: who has no line could hold down that of others. */
static void test_pin(void)
{
	check_context.subject = "a pin that cannot be switched off";
	begin(CARD);
	writable[PCI_COMMAND / 4] = COMMANDS;
	CHECK_EQ(pci_grant(&view, &function), HAL_E_UNSUPPORTED);
	begin(CARD);
	writable[PCI_COMMAND / 4] = COMMANDS;
	function.line = 1;
	CHECK_EQ(pci_grant(&view, &function), HAL_OK);
	begin(CARD);
	writable[PCI_COMMAND / 4] = COMMANDS;
	words[PCI_INTERRUPT_LINE / 4] = 0;
	CHECK_EQ(pci_grant(&view, &function), HAL_OK);
}

/* Nothing but an IOMMU holds a virtio function, and that no transitional one. */
static void test_virtio(void)
{
	static const struct {
		uint32_t identity;
		uint8_t dma;
		enum hal_status status;
	} rows[] = {
		{ BLOCK, BH_DMA_FREE, HAL_E_UNSUPPORTED },
		{ BLOCK, BH_DMA_TRANSLATED, HAL_E_UNSUPPORTED },
		{ BLOCK, BH_DMA_UNPROTECTED, HAL_OK },
		{ MODERN_NETWORK, BH_DMA_FREE, HAL_E_UNSUPPORTED },
		{ MODERN_NETWORK, BH_DMA_TRANSLATED, HAL_OK },
		{ MODERN_LAST, BH_DMA_FREE, HAL_E_UNSUPPORTED },
		{ NO_VIRTIO, BH_DMA_FREE, HAL_OK },
		{ CARD, BH_DMA_FREE, HAL_OK },
	};

	check_context.subject = "virtio";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		begin(rows[n].identity);
		function.dma = rows[n].dma;
		CHECK_EQ(pci_grant(&view, &function), rows[n].status);
	}
}

int main(void)
{
	test_granted();
	test_another();
	test_pin();
	test_virtio();
	return 0;
}
