/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels from programs of a Linux sandbox: what uapi/bulkhead.h offers, with a time limit to each call. In a kernel without the module,
 * on a PC, the same by /dev/mem, for root: who waits looks every millisecond, nobody is rung, and a channel is one thread's at a time, and
 * of the process that has opened it.
 *
 * What returns an int returns 0 or more, or -errno:
 *   -ETIMEDOUT    not in time: nothing came, or there was no room
 *   -ECONNRESET   the other end lives anew: what was under way is lost, numbers begin at 0. Said once
 *   -EPIPE        the other end will not come back, and all that it had sent was received
 *   -EMSGSIZE     longer than a slot, or than the buffer
 *   -EBADMSG      a message came damaged, and is taken
 *   -EPROTO       the other end broke the protocol
 *   -EACCES       only root may have it; or it is opened on request, and the monitor does not open it
 *   -EBUSY        somebody else has the channel open, or as many as it has readers; or it is used in place
 *   -EINVAL       a name that none can be; an end that only sends, or only receives
 *   -ENOENT       there is no such channel
 *   -EPERM        without the module: this kernel, or this program's rights, keep /dev/mem shut
 *   -EOPNOTSUPP   there is, but not without the module: it is opened on request, or this kernel would map it other than the other end does
 *   -ENXIO        without the module: what lies there is not what the kernel was told of
 * What sends, receives or waits has a time limit in milliseconds: 0 tries once, negative is none. A signal whose handler returns does not
 * end a call.
 */
#ifndef BULKHEAD_CHANNEL_H
#define BULKHEAD_CHANNEL_H
#include <stddef.h>
#include <stdint.h>

#include "bulkhead.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bulkhead_channel {
	int file;                       /* may be polled with others; -1, which poll(2) takes for none: there is no module */
	void *memory;                   /* NULL: it is not mapped */
	struct bulkhead_info info;      /* as it was when the channel was opened */
	struct bulkhead_memory *direct; /* NULL: by the module */
};

/* Opens /dev/bulkhead/NAME; where there is none, the memory that it stands for. On failure nothing is open. */
int bulkhead_open(struct bulkhead_channel *channel, const char *name);
void bulkhead_close(struct bulkhead_channel *channel);
/* What such a -errno says, in English. */
const char *bulkhead_error_text(int error);
/* What the channel is, and how it stands, now. */
int bulkhead_ask(const struct bulkhead_channel *channel, struct bulkhead_info *info);

int bulkhead_send(const struct bulkhead_channel *channel, const void *data, size_t length, int limit_ms);
/* As one part of a transaction. flags: BULKHEAD_START, BULKHEAD_END. */
int bulkhead_send_part(const struct bulkhead_channel *channel, const void *data, size_t length, uint32_t flags, int limit_ms);
/* Returns how many bytes there are. A latest value that was received before is waited out. */
int bulkhead_receive(const struct bulkhead_channel *channel, void *data, size_t room, int limit_ms);
/* And what else there is to know of it. message: may be NULL. */
int bulkhead_receive_part(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message, int limit_ms);
/* The latest value, also if it was received before. Returns -EAGAIN if nothing was written yet. */
int bulkhead_latest(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message);

/* Waits for POLLIN, POLLOUT. Returns the events that came (poll(2)), or 0 if none came in time. */
int bulkhead_wait(const struct bulkhead_channel *channel, short events, int limit_ms);
/* From now on messages have a CRC, and none without one is taken. */
int bulkhead_set_checked(const struct bulkhead_channel *channel, int checked);

/*
 * Maps all of it, in one piece: the own part for writing, the rest for reading. From now on the end is the program's, which uses it in
 * place: bh_end_attach(&end, channel->memory, channel->info.bytes, channel->info.page_offset, channel->info.end) of channel_inline.h; of a
 * latest value's reader bh_end_attach_reader, with channel->info.reader as the last.
 * bulkhead_wait still waits, for a change.
 */
int bulkhead_map(struct bulkhead_channel *channel);

#ifdef __cplusplus
}
#endif
#endif
