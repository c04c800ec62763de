/* SPDX-License-Identifier: Apache-2.0 */
/* Aims a card by what it sends, or by where it receives (dma.h). */
#include "probe/dma.h"

#include "kernel/core/info.h"
#include "kernel/drivers/i82574.h"

_Static_assert((int)DMA_FRAME_BYTES == (int)I82574_FRAME_BYTES, "what tests look for is what the card sends");
static _Alignas(2048) uint8_t frame[2048], buffer[2048];

static bool pass(uint64_t source, uint64_t sink, uint64_t card)
{
	char name[] = "nic0";

	name[3] += (char)card;
	return i82574_copy(name, source, sink);
}

static void mark_frame(void)
{
	for (unsigned n = 0; n < DMA_FRAME_BYTES; n++)
		frame[n] = (uint8_t)(n * 0x1d ^ 0x5a);
}

/* dma-write=TARGET,CARD */
uint64_t dma_write(uint64_t target, uint64_t card)
{
	mark_frame();
	return pass(info_dma_address(frame), target, card);
}

/* dma-message=ADDRESS,DATA: of nic0 */
uint64_t dma_message(uint64_t target, uint64_t data)
{
	for (unsigned n = 0; n < DMA_FRAME_BYTES; n++)
		frame[n] = (uint8_t)(data >> n % sizeof(uint32_t) * 8);
	return pass(info_dma_address(frame), target, 0);
}

/* dma-read=TARGET,CARD */
uint64_t dma_read(uint64_t target, uint64_t card)
{
	uint64_t *first = (uint64_t *)buffer;

	*first = DMA_NOTHING;
	(void)pass(target, info_dma_address(buffer), card);
	return *first;
}

static _Alignas(I82574_RING_BYTES) struct i82574_descriptor to_send[I82574_DESCRIPTORS], to_receive[I82574_DESCRIPTORS];

/* dma-listen=BYTE: two frames may come; of the first nothing is left */
uint64_t dma_listen(uint64_t byte, uint64_t unused)
{
	uint64_t card = i82574_take("nic0");
	bool came;

	(void)unused;
	to_receive[0] = to_receive[1] = (struct i82574_descriptor){ (uintptr_t)buffer, 0, 0 };
	i82574_reset(card, (uintptr_t)to_send, (uintptr_t)to_receive);
	i82574_connect(card, I82574_RING_BYTES);
	i82574_receive(card, 2);
	came = i82574_is_done(&to_receive[0], UINT32_MAX);
	for (unsigned n = 0; n < DMA_FRAME_BYTES; n++)
		buffer[n] = (uint8_t)byte;
	return came;
}

/* dma-send=CARD */
uint64_t dma_send(uint64_t number, uint64_t unused)
{
	char name[] = "nic0";
	uint64_t card;

	(void)unused;
	name[3] += (char)number;
	card = i82574_take(name);
	mark_frame();
	to_send[0] = i82574_frame((uintptr_t)frame);
	i82574_reset(card, (uintptr_t)to_send, (uintptr_t)to_receive);
	i82574_connect(card, I82574_RING_BYTES);
	i82574_send(card, 1);
	return i82574_is_done(&to_send[0], UINT32_MAX);
}
