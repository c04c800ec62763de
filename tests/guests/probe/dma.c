/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest driver of an 82574 in loopback. Intel 82574 Datasheet 10 "Driver Programming Interface", 7.1.5 and 7.2.4 (legacy
 * descriptors). */
#include "probe/dma.h"

#include <stdbool.h>
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/info.h"
#include "probe/mapping.h"

enum card_register {
	CTRL = 0x0000,
	IMC = 0x00d8,
	RCTL = 0x0100,
	TCTL = 0x0400,
	RDBAL = 0x2800, /* of a ring: address, its upper half, bytes, head, tail */
	TDBAL = 0x3800,
};
enum { RING_BYTES = 0x8, RING_HEAD = 0x10, RING_TAIL = 0x18 };
enum { CTRL_SLU = 1 << 6, CTRL_RST = 1 << 26 };
enum { TCTL_EN = 1 << 1, TCTL_PSP = 1 << 3 };
/* Everything is received that is sent: LBM = 01. The frame's check sum is not. */
enum { RCTL_EN = 1 << 1, RCTL_UPE = 1 << 3, RCTL_MPE = 1 << 4, RCTL_LBM_MAC = 1 << 6, RCTL_BAM = 1 << 15, RCTL_SECRC = 1 << 26 };
enum { SEND_EOP = 1 << 24, SEND_IFCS = 1 << 25, SEND_RS = 1 << 27, DONE = 1 };
enum { PCI_COMMAND = 4, PCI_COMMAND_MEMORY = 1 << 1, PCI_COMMAND_MASTER = 1 << 2 };
enum { CARDS = 2, DESCRIPTORS = 8, TURNS = 100000 };

struct descriptor {
	uint64_t address;
	uint32_t length; /* and of one that is sent, its command */
	uint32_t status;
};

static _Alignas(128) struct descriptor to_send[DESCRIPTORS], to_receive[DESCRIPTORS];
static _Alignas(2048) uint8_t frame[2048], buffer[2048];

static const struct bh_grant *granted(enum bh_grant_kind kind, uint64_t card)
{
	char name[] = "nic0";

	name[3] += (char)card;
	return info_find(kind, name);
}

static void set_ring(uint64_t card, enum card_register ring, const struct descriptor *descriptors)
{
	uint64_t start = (uintptr_t)descriptors;

	arch_mmio_write32(card + ring, (uint32_t)start);
	arch_mmio_write32(card + ring + 4, (uint32_t)(start >> 32));
	arch_mmio_write32(card + ring + RING_BYTES, sizeof(to_send));
	arch_mmio_write32(card + ring + RING_HEAD, 0);
	arch_mmio_write32(card + ring + RING_TAIL, 0);
}

/* The kernel does not map configuration registers. Where they are not memory, the test has let the card master the bus. */
static void let_master(uint64_t card)
{
	const struct bh_grant *function = granted(BH_GRANT_PCI_FUNCTION, card);
	static uint64_t reached[CARDS];

	if (!function || !function->size)
		return;
	if (!reached[card])
		reached[card] = mapping_reach(function->gpa, function->size);
	arch_mmio_write32(reached[card] + PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

static void reset(uint64_t card)
{
	arch_mmio_write32(card + CTRL, CTRL_RST);
	for (unsigned turns = TURNS; turns && arch_mmio_read32(card + CTRL) & CTRL_RST; turns--)
		arch_relax();
	arch_mmio_write32(card + IMC, UINT32_MAX);
	arch_mmio_write32(card + CTRL, CTRL_SLU);
	set_ring(card, RDBAL, to_receive);
	set_ring(card, TDBAL, to_send);
	arch_mmio_write32(card + RCTL, RCTL_EN | RCTL_UPE | RCTL_MPE | RCTL_LBM_MAC | RCTL_BAM | RCTL_SECRC);
	arch_mmio_write32(card + TCTL, TCTL_EN | TCTL_PSP);
}

static bool is_done(const struct descriptor *descriptor)
{
	return __atomic_load_n(&descriptor->status, __ATOMIC_ACQUIRE) & DONE;
}

/* Has the card send a frame at `source` to itself, at `sink`. Returns whether the card says that it came. */
static bool pass(uint64_t source, uint64_t sink, uint64_t number)
{
	const struct bh_grant *registers = number < CARDS ? granted(BH_GRANT_DEVICE, number) : NULL;
	uint64_t card = registers ? registers->gpa : 0;

	if (!card)
		return false;
	to_send[0] = (struct descriptor){ source, DMA_FRAME_BYTES | SEND_EOP | SEND_IFCS | SEND_RS, 0 };
	to_receive[0] = (struct descriptor){ sink, 0, 0 };
	let_master(number);
	reset(card);
	arch_barrier();
	arch_mmio_write32(card + RDBAL + RING_TAIL, 1);
	arch_mmio_write32(card + TDBAL + RING_TAIL, 1);
	for (unsigned turns = TURNS; turns && !is_done(&to_receive[0]); turns--)
		arch_relax();
	return is_done(&to_receive[0]);
}

/* dma-write=TARGET,CARD */
uint64_t dma_write(uint64_t target, uint64_t card)
{
	for (unsigned n = 0; n < DMA_FRAME_BYTES; n++)
		frame[n] = (uint8_t)(n * 0x1d ^ 0x5a);
	return pass((uintptr_t)frame, target, card);
}

/* dma-read=TARGET,CARD */
uint64_t dma_read(uint64_t target, uint64_t card)
{
	uint64_t *first = (uint64_t *)buffer;

	*first = DMA_NOTHING;
	(void)pass(target, (uintptr_t)buffer, card);
	return *first;
}
