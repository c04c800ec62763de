/* SPDX-License-Identifier: Apache-2.0 */
/* Rings for threads of Zephyr (channel.h): the library of abi/channel_inline.h, Zephyr's sleep, and its map of memory. */
#include "channel.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <zephyr/kernel.h>
#include <zephyr/sys/device_mmio.h>

#include "sandbox.h" /* BH_INFO */

enum { LOOK_MS = 1 };

/* As normal memory that caches hold: what both ends read and write has to be coherent between their cores. */
static void *map(uint64_t address, uint64_t bytes)
{
	mm_reg_t mapped = 0;

	device_map(&mapped, (uintptr_t)address, (size_t)bytes, K_MEM_CACHE_WB);
	return (void *)mapped;
}

/* Mapped once. NULL: there is none that this program understands. */
static const struct bh_info *information(void)
{
	static const struct bh_info *info;

	if (!info)
		info = map(BH_INFO, BH_PAGE_BYTES);
	return info->magic == BH_INFO_MAGIC && info->version >= BH_INFO_OLDEST && info->version <= BH_INFO_VERSION ? info : NULL;
}

int channel_open(struct bh_end *end, const char *name)
{
	const struct bh_info *info = information();

	if (!info)
		return -ENODEV;
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		const struct bh_grant *grant = &info->grants[n];

		if (grant->kind != BH_GRANT_CHANNEL || strncmp((const char *)grant->name, name, sizeof(grant->name)) != 0)
			continue;
		if (grant->flags & BH_CHANNEL_ON_REQUEST) /* to touch it before BH_CALL_OPEN would be a fault */
			return -ENOTSUP;
		if (bh_end_attach(end, map(grant->gpa, grant->size), grant->size, grant->line, grant->vector) != BH_END_OK)
			return -EINVAL;
		return 0;
	}
	return -ENOENT;
}

/* Returns whether there is time for another look. */
static bool wait(uint32_t *left_ms)
{
	if (*left_ms == 0)
		return false;
	if (*left_ms != CHANNEL_FOREVER)
		--*left_ms;
	k_sleep(K_MSEC(LOOK_MS));
	return true;
}

enum bh_end_result channel_send(struct bh_end *end, const void *data, uint32_t length, uint32_t limit_ms)
{
	enum bh_end_result result;
	void *slot;

	if (length > end->slot_bytes)
		return BH_END_SIZE;
	do
		result = bh_ring_reserve(end, &slot);
	while (result == BH_END_AGAIN && wait(&limit_ms));
	if (result != BH_END_OK)
		return result;
	bh_copy_to_slot(slot, data, length);
	return bh_ring_send(end, length, BH_CHANNEL_START | BH_CHANNEL_END);
}

enum bh_end_result channel_receive(struct bh_end *end, void *buffer, uint32_t room, struct bh_message *message, uint32_t limit_ms)
{
	enum bh_end_result result, released;
	struct bh_message found;

	do
		result = bh_ring_peek(end, &found);
	while (result == BH_END_AGAIN && wait(&limit_ms));
	if (result != BH_END_OK && result != BH_END_CHECK)
		return result;
	if (result == BH_END_OK && found.length > room)
		result = BH_END_SIZE;
	if (result == BH_END_OK)
		bh_copy_from_slot(buffer, found.data, found.length);
	released = bh_ring_release(end);
	if (released != BH_END_OK)
		return released;
	*message = found;
	message->data = buffer;
	return result;
}
