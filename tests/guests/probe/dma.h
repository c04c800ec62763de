/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function that masters the bus, aimed anywhere (BH-I1.dma): an Intel 82574 (e1000e) that receives what it sends itself. Its rings lie in
 * the probe's own memory; what it is aimed at is the frame that it sends, or the buffer that it receives into.
 *
 *   dma_write: own frame ─► card ─► target           dma_read: target ─► card ─► own buffer
 */
#pragma once
#include <stdint.h>

/* Bytes of a frame. Byte n is n * 0x1d ^ 0x5a: nothing else in the machine reads so. */
enum { DMA_FRAME_BYTES = 64 };

/*
 * Has the card write a frame to `target`, an address as the card knows it. `card` numbers the role label: nic0, nic1. Returns 1 if the card
 * says that it did, which it also says of a write that led nowhere; else 0.
 */
uint64_t dma_write(uint64_t target, uint64_t card);

/* The same with a frame of words of 32 bits, `data` each: as a message-signalled interrupt is a write, an interrupt that the card forges.
 */
uint64_t dma_message(uint64_t target, uint64_t data);

/*
 * Has the card read a frame at `target`. Returns the first eight bytes that came, or DMA_NOTHING.
 */
#define DMA_NOTHING UINT64_C(0x676e6968746f6e) /* "nothing" */
uint64_t dma_read(uint64_t target, uint64_t card);

/*
 * Have nic0 listen to its network until a frame has come, and fill its buffer with `byte` then; one more may come later, whatever the probe
 * does. Have a card send a marked frame to its network. Both return 1 when the frame has come, or gone. Require: there is such a card.
 */
uint64_t dma_listen(uint64_t byte, uint64_t unused);
uint64_t dma_send(uint64_t card, uint64_t unused);
