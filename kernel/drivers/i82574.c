/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest driver of an 82574 in loopback (i82574.h). Intel 82574 Datasheet 10 "Driver Programming Interface", 7.1.5 and 7.2.4 (legacy
 * descriptors). */
#include "kernel/drivers/i82574.h"

#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/info.h"

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
enum { TURNS = 100000 };

static void set_ring(uint64_t card, enum card_register ring, uint64_t start)
{
	arch_mmio_write32(card + ring, (uint32_t)start);
	arch_mmio_write32(card + ring + 4, (uint32_t)(start >> 32));
	arch_mmio_write32(card + ring + RING_BYTES, I82574_RING_BYTES);
	arch_mmio_write32(card + ring + RING_HEAD, 0);
	arch_mmio_write32(card + ring + RING_TAIL, 0);
}

static void forget_rings(uint64_t card)
{
	arch_mmio_write32(card + CTRL, CTRL_RST);
	for (unsigned turns = TURNS; turns && arch_mmio_read32(card + CTRL) & CTRL_RST; turns--)
		arch_relax();
	arch_mmio_write32(card + IMC, UINT32_MAX);
}

/*
 * A card that nobody has reset since its sandbox's life before has that one's rings, so it forgets them first: frames wait for it.
 * Only a write exits. Where configuration registers are not memory, somebody else has let the card master the bus.
 */
static void let_master(const struct bh_grant *function, uint64_t card)
{
	if (!function || !function->size || arch_mmio_read32(function->gpa + PCI_COMMAND) & PCI_COMMAND_MASTER)
		return;
	arch_mmio_write32(function->gpa + PCI_COMMAND, PCI_COMMAND_MEMORY);
	forget_rings(card);
	arch_mmio_write32(function->gpa + PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

uint64_t i82574_take(const char *card)
{
	const struct bh_grant *registers = info_find(BH_GRANT_DEVICE, card);

	if (!registers)
		return 0;
	let_master(info_find(BH_GRANT_PCI_FUNCTION, card), registers->gpa);
	return registers->gpa;
}

void i82574_reset(uint64_t card, uint64_t send, uint64_t receive)
{
	forget_rings(card);
	arch_mmio_write32(card + CTRL, CTRL_SLU);
	set_ring(card, RDBAL, receive);
	set_ring(card, TDBAL, send);
	arch_mmio_write32(card + RCTL, RCTL_EN | RCTL_UPE | RCTL_MPE | RCTL_LBM_MAC | RCTL_BAM | RCTL_SECRC);
	arch_mmio_write32(card + TCTL, TCTL_EN | TCTL_PSP);
}

void i82574_connect(uint64_t card, uint32_t bytes)
{
	arch_mmio_write32(card + RDBAL + RING_BYTES, bytes);
	arch_mmio_write32(card + RCTL, RCTL_EN | RCTL_UPE | RCTL_MPE | RCTL_BAM | RCTL_SECRC);
}

struct i82574_descriptor i82574_frame(uint64_t address)
{
	return (struct i82574_descriptor){ address, I82574_FRAME_BYTES | SEND_EOP | SEND_IFCS | SEND_RS, 0 };
}

void i82574_receive(uint64_t card, uint32_t count)
{
	arch_barrier();
	arch_mmio_write32(card + RDBAL + RING_TAIL, count);
}

void i82574_send(uint64_t card, uint32_t count)
{
	arch_barrier();
	arch_mmio_write32(card + TDBAL + RING_TAIL, count);
}

struct i82574_received i82574_received(const char *name)
{
	const struct bh_grant *card = info_find(BH_GRANT_DEVICE, name);

	if (!card)
		return (struct i82574_received){ 0, 0 };
	return (struct i82574_received){ arch_mmio_read32(card->gpa + RDBAL + RING_TAIL), arch_mmio_read32(card->gpa + RDBAL + RING_HEAD) };
}

bool i82574_is_done(const struct i82574_descriptor *descriptor, unsigned looks)
{
	for (; looks; looks--) {
		if (__atomic_load_n(&descriptor->status, __ATOMIC_ACQUIRE) & DONE)
			return true;
		arch_relax();
	}
	return false;
}

bool i82574_copy(const char *name, uint64_t source, uint64_t sink)
{
	static _Alignas(I82574_RING_BYTES) struct i82574_descriptor to_send[I82574_DESCRIPTORS], to_receive[I82574_DESCRIPTORS];
	uint64_t card = i82574_take(name);

	if (!card)
		return false;
	to_send[0] = i82574_frame(source);
	to_receive[0] = (struct i82574_descriptor){ sink, 0, 0 };
	i82574_reset(card, info_dma_address(to_send), info_dma_address(to_receive));
	i82574_receive(card, 1);
	i82574_send(card, 1);
	return i82574_is_done(&to_receive[0], TURNS);
}
