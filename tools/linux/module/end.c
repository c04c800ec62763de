// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * One message, sent or received by the functions that every guest has (abi/channel_inline.h). What they return becomes an errno here:
 *
 *   AGAIN   -EAGAIN      nothing to read, no room, or the other end does not take part yet
 *   NEW     -ECONNRESET  once, but for the first connection after the file was opened: nothing was under way then, so -EAGAIN
 *   GONE    -EPIPE
 *   BROKEN  -EPROTO
 *   SIZE    -EMSGSIZE
 *   CHECK   -EBADMSG
 *   INVALID -EINVAL
 */
#include <linux/errno.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "device.h"

static int error_of(struct channel_file *file, enum bh_end_result result)
{
	switch (result) {
	case BH_END_OK:
		return 0;
	case BH_END_AGAIN:
		return -EAGAIN;
	case BH_END_NEW:
		if (!file->fresh)
			return -ECONNRESET;
		file->fresh = false;
		return -EAGAIN;
	case BH_END_GONE:
		return -EPIPE;
	case BH_END_BROKEN:
		return -EPROTO;
	case BH_END_SIZE:
		return -EMSGSIZE;
	case BH_END_CHECK:
		return -EBADMSG;
	case BH_END_INVALID:
		break;
	}
	return -EINVAL;
}

/* Takes part in a new connection, if there is one. Returns whether one has begun that no program was told of, and is to be. */
static bool was_reset(struct channel_file *file)
{
	if (error_of(file, bh_end_look(&file->end)) == -ECONNRESET)
		file->reset = true;
	return file->reset;
}

int channel_attach(struct channel_file *file)
{
	const struct channel *channel = file->channel;
	const u32 reader = file - channel->files;
	enum bh_end_result result;

	file->fresh = true;
	file->reset = false;
	if (reader)
		result = bh_end_attach_reader(&file->end, channel->memory, channel->bytes, channel->page_offset, reader);
	else
		result = bh_end_attach(&file->end, channel->memory, channel->bytes, channel->page_offset, channel->side);
	return error_of(file, result);
}

/* ---- Receiving ----------------------------------------------------------------------------------------------------------------------- */

/* From the slot into the program's memory: the one copy that there is. It is released if the program has it, or never will. */
static int receive_from_ring(struct channel_file *file, void __user *data, size_t room, struct bh_message *message)
{
	enum bh_end_result result = bh_ring_peek(&file->end, message), released;

	if (result == BH_END_OK && message->length > room)
		return -EMSGSIZE;
	if (result == BH_END_OK && copy_to_user(data, message->data, message->length))
		return -EFAULT;
	if (result != BH_END_OK && result != BH_END_CHECK)
		return error_of(file, result);
	released = bh_ring_release(&file->end);
	return error_of(file, result == BH_END_OK ? released : result);
}

static int receive_copy(struct channel_file *file, void __user *data, size_t room, bool again, struct bh_message *message)
{
	struct bh_end *end = &file->end;
	const u32 capacity = min_t(size_t, room, end->slot_bytes), known = end->taken;
	const bool started = end->started, latest = end->role == BH_END_LATEST_READER;
	enum bh_end_result result = latest ? bh_latest_read(end, file->buffer, capacity, message)
					   : bh_mailbox_receive(end, file->buffer, capacity, message);

	if (result != BH_END_OK)
		return error_of(file, result);
	if (latest && started && end->taken == known && !again)
		return -EAGAIN;
	return copy_to_user(data, file->buffer, message->length) ? -EFAULT : 0;
}

int channel_receive(struct channel_file *file, void __user *data, size_t room, bool again, struct bh_message *message)
{
	int error;

	if (was_reset(file)) {
		file->reset = false;
		return -ECONNRESET;
	}
	switch (file->end.role) {
	case BH_END_RING_READER:
		error = receive_from_ring(file, data, room, message);
		break;
	case BH_END_MAILBOX:
	case BH_END_LATEST_READER:
		error = receive_copy(file, data, room, again, message);
		break;
	default:
		return -EINVAL;
	}
	return error ? error : (int)message->length;
}

/* ---- Sending ------------------------------------------------------------------------------------------------------------------------- */

static int send_to_ring(struct channel_file *file, const void __user *data, size_t length, u32 flags)
{
	enum bh_end_result result;
	void *slot;

	result = bh_ring_reserve(&file->end, &slot);
	if (result != BH_END_OK)
		return error_of(file, result);
	if (copy_from_user(slot, data, length))
		return -EFAULT;
	return error_of(file, bh_ring_send(&file->end, length, flags));
}

static int send_copy(struct channel_file *file, const void __user *data, size_t length, u32 flags)
{
	struct bh_end *end = &file->end;

	if (copy_from_user(file->buffer, data, length))
		return -EFAULT;
	if (end->role == BH_END_MAILBOX)
		return error_of(file, bh_mailbox_send(end, file->buffer, length, flags));
	return error_of(file, bh_latest_write(end, file->buffer, length));
}

int channel_send(struct channel_file *file, const void __user *data, size_t length, u32 flags)
{
	int error;

	if (was_reset(file)) {
		file->reset = false;
		return -ECONNRESET;
	}
	if (file->end.role == BH_END_RING_READER || file->end.role == BH_END_LATEST_READER || !bh_flags_valid(flags))
		return -EINVAL;
	if (length > file->end.slot_bytes)
		return -EMSGSIZE;
	error = file->end.role == BH_END_RING_SENDER ? send_to_ring(file, data, length, flags) : send_copy(file, data, length, flags);
	return error ? error : (int)length;
}

/* ---- What would not have to wait ----------------------------------------------------------------------------------------------------- */

static enum bh_end_result may_receive(struct bh_end *end)
{
	enum bh_end_result result;

	switch (end->role) {
	case BH_END_RING_READER:
	case BH_END_MAILBOX:
		return bh_end_waiting(end);
	case BH_END_LATEST_READER:
		result = bh_end_look(end);
		if (result != BH_END_OK)
			return result;
		if (__atomic_load_n(&end->peer->sent, __ATOMIC_RELAXED) != (end->started ? end->taken : 0))
			return BH_END_OK;
		return bh_end_peer_gone(end) ? BH_END_GONE : BH_END_AGAIN;
	default:
		return BH_END_INVALID;
	}
}

static enum bh_end_result may_send(struct bh_end *end)
{
	enum bh_end_result result;
	void *slot;

	switch (end->role) {
	case BH_END_RING_SENDER:
		return bh_ring_reserve(end, &slot);
	case BH_END_LATEST_WRITER:
		result = bh_end_look(end);
		return result == BH_END_OK && bh_end_peer_gone(end) ? BH_END_GONE : result;
	case BH_END_MAILBOX:
		result = bh_end_look(end);
		if (result == BH_END_OK && bh_end_peer_gone(end))
			return BH_END_GONE;
		if (result == BH_END_OK)
			result = bh_end_read_taken(end);
		if (result == BH_END_OK)
			result = bh_end_read_sent(end);
		return result == BH_END_OK && (end->peer_taken != end->sent || end->peer_sent != end->taken) ? BH_END_AGAIN : result;
	default:
		return BH_END_INVALID;
	}
}

static __poll_t ready_for(enum bh_end_result result, __poll_t open)
{
	switch (result) {
	case BH_END_OK:
		return open;
	case BH_END_GONE:
		return open | EPOLLHUP;
	case BH_END_NEW:
	case BH_END_BROKEN:
		return open | EPOLLERR;
	default:
		return 0;
	}
}

__poll_t channel_ready(struct channel_file *file)
{
	if (was_reset(file))
		return EPOLLERR | EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM;
	return ready_for(may_receive(&file->end), EPOLLIN | EPOLLRDNORM) | ready_for(may_send(&file->end), EPOLLOUT | EPOLLWRNORM);
}
