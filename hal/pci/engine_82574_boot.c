/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: BH-I1.dma. Does the IOMMU block, as its registers say? An Intel 82574 is asked: it does DMA when told, and sends nothing away
 * meanwhile, as what it sends it receives itself. Intel 82574 Datasheet, 10 "Driver Programming Interface"; legacy
 * descriptors: 7.1.5, 7.2.4.
 *
 *   silent ──► placed, mastering ──► one frame to itself ──► silent, as it was ──► has a word in memory changed?
 */
#include "hal/pci/pci.h"

#include "arch/arch.h"
#include "arch/words.h"
#include "board.h"
#include "hal/iommu/iommu.h"
#include "hal/pci/config.h"

enum { FUNCTIONS_A_DEVICE = 8, IDENTITY_82574 = 0x10d38086 };
/* Base addresses: registers, flash, ports, MSI-X. The flash is the largest, and ports are not decoded. */
enum { BASES = 4, BASE_BYTES = 0x800000 };
/* Of a register or two each: some milliseconds on silicon. */
enum { TURNS = 1 << 14 };

enum card_register {
	CTRL = 0x0000,
	IMC = 0x00d8,
	RCTL = 0x0100,
	TCTL = 0x0400,
	RDBAL = 0x2800, /* of a ring: address, its upper half, bytes, head, tail */
	TDBAL = 0x3800,
};
enum { RING_UPPER = 0x4, RING_BYTES = 0x8, RING_HEAD = 0x10, RING_TAIL = 0x18 };
enum { CTRL_SLU = 1 << 6, CTRL_RST = 1 << 26 };
enum { TCTL_EN = 1 << 1, TCTL_PSP = 1 << 3 };
/* Everything is received: unicast, multicast, broadcast. */
enum { RCTL_EN = 1 << 1, RCTL_UPE = 1 << 3, RCTL_MPE = 1 << 4, RCTL_LBM_MAC = 1 << 6, RCTL_BAM = 1 << 15, RCTL_SECRC = 1 << 26 };
enum { SEND_EOP = 1 << 24, SEND_IFCS = 1 << 25, SEND_RS = 1 << 27 };
enum { DESCRIPTORS = 8, FRAME_WORDS = 8, BUFFER_WORDS = 256 };
#define MARK UINT64_C(0x5a1dc0de5a1dc0de)

struct descriptor {
	uint64_t address;
	uint64_t control; /* length, and of one that is sent, its command; status above */
};

/* What the card is told to read and to write, in a frame of start-up's own. */
static _Alignas(BH_PAGE_BYTES) struct {
	struct descriptor to_send[DESCRIPTORS], to_receive[DESCRIPTORS];
	uint64_t source[FRAME_WORDS], sink[BUFFER_WORDS];
} lab;
enum { LAB_WORDS = sizeof(lab) / WORD_BYTES };
static uint64_t before[LAB_WORDS];

static uint32_t place_of(uint32_t id, uint32_t offset)
{
	return id << PCI_REGISTER_BITS | offset;
}

/* An 82574 has one function. */
static uint32_t find_card(void)
{
	for (uint32_t id = 0; id < board.pci.functions; id += FUNCTIONS_A_DEVICE)
		if (pci_config_read(place_of(id, PCI_IDENTITY)) == IDENTITY_82574)
			return id;
	return board.pci.functions;
}

static void set(uint32_t where, uint32_t value)
{
	arch_mmio_write32(board.pci.window.start + where, value);
}

static uint32_t get(uint32_t where)
{
	return arch_mmio_read32(board.pci.window.start + where);
}

/* Returns whether the bits have come to hold `value`, within a bound. */
static bool settles(uint32_t where, uint32_t bits, uint32_t value)
{
	for (unsigned turns = TURNS; turns; turns--) {
		if ((get(where) & bits) == value)
			return true;
		arch_relax();
	}
	return false;
}

static bool reset(void)
{
	set(CTRL, CTRL_RST);
	if (!settles(CTRL, CTRL_RST, 0))
		return false;
	set(IMC, UINT32_MAX);
	return true;
}

static void set_ring(enum card_register ring, const struct descriptor *descriptors)
{
	uint64_t start = (uintptr_t)descriptors;

	set(ring, (uint32_t)start);
	set(ring + RING_UPPER, (uint32_t)(start >> 32));
	set(ring + RING_BYTES, sizeof(lab.to_send));
	set(ring + RING_HEAD, 0);
	set(ring + RING_TAIL, 0);
}

static void lay_out(void)
{
	words_fill((uint64_t *)&lab, LAB_WORDS, MARK);
	lab.to_send[0] = (struct descriptor){ (uintptr_t)lab.source, sizeof(lab.source) | SEND_EOP | SEND_IFCS | SEND_RS };
	lab.to_receive[0] = (struct descriptor){ (uintptr_t)lab.sink, 0 };
	lab.source[0] = ~MARK;
	words_copy(before, (const uint64_t *)&lab, LAB_WORDS);
	arch_cache_clean(&lab, sizeof(lab));
	arch_barrier();
}

/* The card has done its part when it has moved on to the next descriptor, whatever became of its DMA. */
static void send_to_itself(void)
{
	if (!reset())
		return;
	set(CTRL, CTRL_SLU);
	set_ring(RDBAL, lab.to_receive);
	set_ring(TDBAL, lab.to_send);
	set(RCTL, RCTL_EN | RCTL_UPE | RCTL_MPE | RCTL_LBM_MAC | RCTL_BAM | RCTL_SECRC);
	set(TCTL, TCTL_EN | TCTL_PSP);
	set(RDBAL + RING_TAIL, 1);
	set(TDBAL + RING_TAIL, 1);
	(void)settles(TDBAL + RING_HEAD, UINT32_MAX, 1);
	(void)reset();
}

/* At addresses of start-up's own, as nobody decodes any yet. In the end it is as it was; read back, its command has taken effect, and all
 * that it wrote has arrived. */
static void ask(uint32_t id)
{
	uint32_t command = pci_config_read(place_of(id, PCI_COMMAND)) & UINT16_MAX, bases[BASES];

	for (uint32_t n = 0; n < BASES; n++) {
		bases[n] = pci_config_read(place_of(id, PCI_BASE_ADDRESS + 4 * n));
		pci_config_write(place_of(id, PCI_BASE_ADDRESS + 4 * n), (uint32_t)board.pci.window.start + n * BASE_BYTES);
	}
	pci_config_write(place_of(id, PCI_COMMAND), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	send_to_itself();
	pci_config_write(place_of(id, PCI_COMMAND), command);
	(void)pci_config_read(place_of(id, PCI_COMMAND));
	for (uint32_t n = 0; n < BASES; n++)
		pci_config_write(place_of(id, PCI_BASE_ADDRESS + 4 * n), bases[n]);
}

static bool has_changed(void)
{
	const uint64_t *words = (const uint64_t *)&lab;

	arch_cache_clean(&lab, sizeof(lab));
	for (size_t n = 0; n < LAB_WORDS; n++)
		if (__atomic_load_n(&words[n], __ATOMIC_RELAXED) != before[n])
			return true;
	return false;
}

/* As lspci writes a function: bus:device.function. */
#define SENTENCE "the IOMMU that the board names lets DMA of function "
static const char *sentence(uint32_t id)
{
	static const char digits[] = "0123456789abcdef";
	static char text[] = SENTENCE "00:00.0 pass; in QEMU start it with pt=off, elsewhere switch its pass-through off in the firmware";
	char *at = text + sizeof(SENTENCE) - 1;

	at[0] = digits[id >> 12 & 0xf];
	at[1] = digits[id >> 8 & 0xf];
	at[3] = digits[id >> 7 & 1];
	at[4] = digits[id >> 3 & 0xf];
	at[6] = digits[id & 7];
	return text;
}

/* A card that does not answer has shown nothing, and is no reason to refuse. */
enum hal_status hal_machine_try_dma(const char **missing)
{
	uint32_t id = board.iommu.kind == BH_IOMMU_NONE ? board.pci.functions : find_card();

	if (id == board.pci.functions || board.pci.window.bytes < (uint64_t)BASES * BASE_BYTES)
		return HAL_OK;
	lay_out();
	ask(id);
	iommu_clear_faults();
	if (!has_changed())
		return HAL_OK;
	*missing = sentence(id);
	return HAL_E_UNSUPPORTED;
}
