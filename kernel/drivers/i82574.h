/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Intel 82574 (QEMU's e1000e) in loopback: it receives what it sends itself, and so copies memory by DMA. It is no network driver:
 * nothing leaves the card.
 *
 *   source ─► card ─► sink
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { I82574_FRAME_BYTES = 64 };

/*
 * Has the card of this role label send a frame at `source` to itself, at `sink`: addresses as the card knows them (info_dma_address). The
 * monitor must let it master the bus. Requires: the main program of one core. Returns whether the card says that the frame came, which it
 * also says of one that led nowhere; false if there is no such card.
 */
bool i82574_copy(const char *card, uint64_t source, uint64_t sink);

/* ---- Step by step, with rings anywhere. `card`: its registers. All addresses are as the card knows them. ---- */

/* Legacy descriptors: Intel 82574 Datasheet 7.1.4, 7.2.4. */
struct i82574_descriptor {
	uint64_t address;
	uint32_t length; /* and of one that is sent, its command */
	uint32_t status;
};
enum { I82574_DESCRIPTORS = 8, I82574_RING_BYTES = I82574_DESCRIPTORS * sizeof(struct i82574_descriptor) };

/* Has the card of this role label master the bus. Returns where its registers are, or 0 if there is no such card. */
uint64_t i82574_take(const char *card);

/* Resets the card, which then has a ring to send by and one to receive by, both of I82574_DESCRIPTORS and empty, and no interrupts. */
void i82574_reset(uint64_t card, uint64_t send, uint64_t receive);

/* Takes it out of loopback: it sends to its network, and receives from there by a ring of `bytes`. After i82574_reset. */
void i82574_connect(uint64_t card, uint32_t bytes);

/* Returns the descriptor by which a frame at `address` is sent. */
struct i82574_descriptor i82574_frame(uint64_t address);

/* Hand the first `count` descriptors of a ring to the card. */
void i82574_receive(uint64_t card, uint32_t count);
void i82574_send(uint64_t card, uint32_t count);

/* Of the ring to receive by: the descriptors that the card was handed, and how many of them it has taken. */
struct i82574_received {
	uint32_t handed, taken;
};

/* Reads the card's registers, and does not have it master the bus. All 0 if there is no card of this role label. */
struct i82574_received i82574_received(const char *card);

/* Returns whether the card says that it is done with the descriptor, within so many looks. */
bool i82574_is_done(const struct i82574_descriptor *descriptor, unsigned looks);
