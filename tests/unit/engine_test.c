/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.dma, BH-I8.bounded. hal/pci/engine_82574_boot.c over a card that does in memory what it is told, as far as an IOMMU lets it.
 * Registers and descriptors are written down from the Intel 82574 Datasheet.
 */
#include <stdbool.h>
#include <string.h>

#include "arch/arch.h"
#include "board.h"
#include "check.h"
#include "fake_arch.h"
#include "hal/hal.h"
#include "hal/iommu/iommu.h"
#include "hal/pci/config.h"

enum { CARD = 7 << 3, REGISTERS = 0x20000, BASES = 6, COMMAND = 0x04, BASE_0 = 0x10, DECODES = 2, MASTERS = 4, QUIET = 0x400 };
enum { CTRL = 0x0, RCTL = 0x100, TCTL = 0x400, RX = 0x2800, TX = 0x3800, BYTES = 8, HEAD = 0x10, TAIL = 0x18 };
enum { RESET = 1 << 26, ENABLED = 2, LOOPBACK = 0xc0, MAC_LOOPBACK = 0x40, MOST_ACCESSES = 200000 };

enum moves { BLOCKED, PASSES, ALL_MOVES };
static struct {
	uint32_t identity, command, base[BASES];
	uint32_t registers[REGISTERS / 4];
	enum moves reads, writes;
	bool hangs, sleeps; /* its reset does not end; it sends nothing */
	unsigned sent, accesses, forgotten;
} card;

static void start(void)
{
	memset(&card, 0, sizeof(card));
	card.identity = 0x10d38086;
	card.command = QUIET;
	for (uint32_t n = 0; n < BASES; n++)
		card.base[n] = 0xfeb00000 + n * REGISTERS;
}

static void count(void)
{
	CHECK(++card.accesses < MOST_ACCESSES);
}

uint32_t pci_config_read(uint32_t place)
{
	uint32_t offset = place & 0xfff, base = (offset - BASE_0) / 4;

	count();
	if (place >> 12 != CARD || !card.identity)
		return UINT32_MAX;
	if (offset == COMMAND)
		return card.command | 0x10 << 16;
	return offset == 0 ? card.identity : card.base[base];
}

void pci_config_write(uint32_t place, uint32_t value)
{
	uint32_t offset = place & 0xfff, base = (offset - BASE_0) / 4;

	count();
	CHECK_EQ(place >> 12, CARD);
	if (offset == COMMAND) {
		card.command = value;
		return;
	}
	CHECK(base < BASES);
	CHECK(!(card.command & DECODES)); /* nothing moves that decodes */
	card.base[base] = value;
}

static uint32_t at(uint64_t address)
{
	CHECK(card.command & DECODES);
	CHECK(card.base[0] >= board.pci.window.start && card.base[0] + REGISTERS <= board.pci.window.start + board.pci.window.bytes);
	CHECK(address >= card.base[0] && address - card.base[0] < REGISTERS);
	for (uint32_t n = 1; n < 4; n++) /* its other addresses lie elsewhere, and in the window */
		CHECK(card.base[n] - card.base[0] >= REGISTERS && card.base[n] - board.pci.window.start < board.pci.window.bytes);
	return (uint32_t)(address - card.base[0]);
}

static uint64_t *ring(uint32_t which)
{
	return (uint64_t *)(uintptr_t)((uint64_t)card.registers[(which + 4) / 4] << 32 | card.registers[which / 4]);
}

static void dma_write(void *where, const void *what, size_t bytes)
{
	if (card.writes == PASSES)
		memcpy(where, what, bytes);
}

/* What it may not read, it takes for zeros. */
static void dma_read(void *what, const void *where, size_t bytes)
{
	memset(what, 0, bytes);
	if (card.reads == PASSES)
		memcpy(what, where, bytes);
}

static void send(void)
{
	uint64_t sent[2], received[2];
	uint8_t frame[2048] = { 0 };

	CHECK(card.registers[RCTL / 4] & ENABLED && (card.registers[RCTL / 4] & LOOPBACK) == MAC_LOOPBACK); /* nothing leaves the machine */
	CHECK(card.registers[TCTL / 4] & ENABLED);
	CHECK(card.command & MASTERS && card.registers[(RX + TAIL) / 4] == 1);
	card.sent++;
	dma_read(sent, ring(TX), sizeof(sent));
	dma_read(received, ring(RX), sizeof(received));
	if (sent[0])
		dma_read(frame, (const void *)(uintptr_t)sent[0], sent[1] & 0xffff);
	if (received[0])
		dma_write((void *)(uintptr_t)received[0], frame, sent[1] & 0xffff);
	received[1] = UINT64_C(1) << 32 | (sent[1] & 0xffff);
	dma_write(ring(RX), received, sizeof(received));
	sent[1] |= UINT64_C(1) << 32;
	dma_write(ring(TX), sent, sizeof(sent));
	card.registers[(TX + HEAD) / 4] = card.registers[(RX + HEAD) / 4] = 1;
}

uint32_t arch_mmio_read32(uint64_t address)
{
	count();
	return card.registers[at(address) / 4];
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	uint32_t offset = at(address);

	count();
	card.registers[offset / 4] = value;
	if (offset == CTRL && value & RESET && !card.hangs)
		memset(card.registers, 0, sizeof(card.registers));
	if (offset == TX + TAIL && value == 1 && !card.sleeps)
		send();
}

/* What the card was kept from is start-up's own doing, if it is silent by then. */
void iommu_clear_faults(void)
{
	CHECK_EQ(card.command & 0xffff, QUIET);
	card.forgotten++;
}

/* Whatever comes of it, the card is silent and where it was, and nothing of what it was told is left. */
static enum hal_status ask(const char **missing)
{
	enum hal_status status = hal_machine_try_dma(missing);

	CHECK_EQ(card.forgotten, card.identity == 0x10d38086);
	CHECK_EQ(card.command & 0xffff, QUIET);
	for (uint32_t n = 0; n < BASES; n++)
		CHECK_EQ(card.base[n], 0xfeb00000 + n * REGISTERS);
	CHECK(card.hangs || !(card.registers[TCTL / 4] | card.registers[RCTL / 4] | card.registers[TX / 4]));
	return status;
}

static void test_blocked(void)
{
	const char *missing = "";

	check_context.subject = "everything is blocked";
	start();
	CHECK_EQ(ask(&missing), HAL_OK);
	CHECK_EQ(card.sent, 1);
}

static void test_passes(void)
{
	const char *missing = "";

	check_context.subject = "something passes";
	for (enum moves reads = BLOCKED; reads < ALL_MOVES; reads++) {
		start();
		card.reads = reads;
		card.writes = PASSES; /* of reads alone nothing can be seen */
		CHECK_EQ(ask(&missing), HAL_E_UNSUPPORTED);
		CHECK(strstr(missing, "DMA of function 00:07.0 pass; in QEMU start it with pt=off"));
	}
}

static void test_no_answer(void)
{
	const char *missing = NULL;

	check_context.subject = "nobody answers";
	start();
	card.identity = 0;
	CHECK_EQ(ask(&missing), HAL_OK);
	start();
	card.identity = 0x10c98086;
	CHECK_EQ(ask(&missing), HAL_OK);
	CHECK_EQ(card.sent, 0);
	start();
	card.hangs = true;
	CHECK_EQ(ask(&missing), HAL_OK);
	start();
	card.sleeps = true;
	CHECK_EQ(ask(&missing), HAL_OK);
	CHECK(!missing);
}

int main(void)
{
	test_blocked();
	test_passes();
	test_no_answer();
	return 0;
}
