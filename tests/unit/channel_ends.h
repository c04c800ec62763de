/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of one channel of the host (channel_scene.h), and what tests do with them: messages whose bytes follow from their numbers. */
#pragma once
#include "channel_scene.h"

enum { SLOT_BYTES = 128, SLOTS = 4 };
static struct scene scene;
static struct bh_end end[2];
static struct bh_message message;

static inline uint8_t byte_of(uint32_t number, uint32_t at)
{
	return (uint8_t)(number * 31 + at * 7 + (number >> 8));
}

static inline void open_channel(uint32_t kind, uint32_t slots)
{
	scene_open(&scene, kind, slots, SLOT_BYTES);
	for (unsigned side = 0; side < 2; side++)
		scene_attach(&scene, side, &end[side]);
}

static inline enum bh_end_result look(unsigned side)
{
	return bh_end_look(&end[side]);
}

/* Both have found the other's life. */
static inline void meet(void)
{
	CHECK_EQ(look(0), BH_END_NEW);
	CHECK_EQ(look(0), BH_END_AGAIN);
	CHECK_EQ(look(1), BH_END_NEW);
	CHECK_EQ(look(1), BH_END_OK);
	CHECK_EQ(look(0), BH_END_OK);
}

static inline void connected(uint32_t kind, uint32_t slots)
{
	open_channel(kind, slots);
	meet();
}

static inline enum bh_end_result ring_put(uint32_t number, uint32_t length, uint32_t flags)
{
	void *data;
	enum bh_end_result result = bh_ring_reserve(&end[0], &data);

	if (result != BH_END_OK)
		return result;
	for (uint32_t n = 0; n < length; n++)
		((uint8_t *)data)[n] = byte_of(number, n);
	return bh_ring_send(&end[0], length, flags);
}

static inline void check_message(uint32_t number, uint32_t length, uint32_t flags)
{
	CHECK_EQ(message.number, number);
	CHECK_EQ(message.length, length);
	CHECK_EQ(message.flags, flags);
	for (uint32_t n = 0; n < length; n++)
		CHECK_EQ(((const uint8_t *)message.data)[n], byte_of(number, n));
}

static inline void ring_get(uint32_t number, uint32_t length, uint32_t flags)
{
	CHECK_EQ(bh_ring_peek(&end[1], &message), BH_END_OK);
	check_message(number, length, flags);
	CHECK_EQ(bh_ring_release(&end[1]), BH_END_OK);
}

static inline enum bh_end_result mail(unsigned side, uint32_t number, uint32_t length, uint32_t flags)
{
	uint8_t data[SLOT_BYTES + 1];

	for (uint32_t n = 0; n < sizeof(data); n++)
		data[n] = byte_of(number, n);
	return bh_mailbox_send(&end[side], data, length, flags);
}

static inline enum bh_end_result value(uint32_t number, uint32_t length)
{
	uint8_t data[SLOT_BYTES + 1];

	for (uint32_t n = 0; n < sizeof(data); n++)
		data[n] = byte_of(number, n);
	return bh_latest_write(&end[0], data, length);
}
