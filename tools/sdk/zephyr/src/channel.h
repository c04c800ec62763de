/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings between this sandbox and another one, for threads of Zephyr. An end belongs to one thread, or lies behind a lock. Who waits looks
 * every millisecond and sleeps in between; no message is an exit or an interrupt.
 */
#pragma once
#include <stdint.h>

#include <bulkhead/abi/channel_inline.h>

#define CHANNEL_FOREVER UINT32_MAX

/*
 * Finds the channel of that name among what the partition file gives this sandbox, and maps it. Requires: a thread, once for each channel.
 * Returns 0; -ENODEV: this is no sandbox, or its information page is of another version; -ENOENT: it has no such channel; -EINVAL: it is of
 * a version that these headers do not know; -ENOTSUP: it is opened on request, by a call of the monitor that this application does not
 * make.
 */
int channel_open(struct bh_end *end, const char *name);

/*
 * Waits for room, at most `limit_ms`, and sends a copy of `length` bytes. Returns BH_END_OK; BH_END_AGAIN: not in time; BH_END_NEW: one of
 * the ends lives anew, nothing was sent, and what was under way is lost; BH_END_SIZE: longer than a slot; BH_END_GONE, BH_END_BROKEN,
 * BH_END_INVALID.
 */
enum bh_end_result channel_send(struct bh_end *end, const void *data, uint32_t length, uint32_t limit_ms);

/*
 * Waits for a message, at most `limit_ms`, and copies it. Returns BH_END_OK; BH_END_AGAIN: none came in time; BH_END_NEW: as above;
 * BH_END_CHECK: it came damaged, and is taken; BH_END_SIZE: longer than `room`, and taken; BH_END_GONE: the other end will not come back,
 * and all it had sent was taken; BH_END_BROKEN, BH_END_INVALID. `*message` says number and length after BH_END_OK and BH_END_SIZE; its data
 * are in `buffer`.
 */
enum bh_end_result channel_receive(struct bh_end *end, void *buffer, uint32_t room, struct bh_message *message, uint32_t limit_ms);
