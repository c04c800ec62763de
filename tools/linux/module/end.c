// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* One message, sent or received by what both ends in Linux have (channel_try.h), and the copy between kernel and program. */
#include <linux/errno.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "device.h"

static_assert(TRY_POLLERR == (__force u32)EPOLLERR && TRY_POLLHUP == (__force u32)EPOLLHUP, "events of poll(2)");

static int error_of(struct channel_file *file, enum bh_end_result result)
{
	return try_error(&file->news, result);
}

int channel_attach(struct channel_file *file)
{
	const struct channel *channel = file->channel;
	const u32 reader = file - channel->files;
	enum bh_end_result result;

	file->news = (struct try_news){ .fresh = true };
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
	const enum bh_end_result result = try_show(&file->end, room, message);

	if (result != BH_END_OK)
		return error_of(file, result);
	if (copy_to_user(data, message->data, message->length))
		return -EFAULT;
	return error_of(file, bh_ring_release(&file->end));
}

static int receive_copy(struct channel_file *file, void __user *data, size_t room, bool again, struct bh_message *message)
{
	struct bh_end *end = &file->end;
	const u32 capacity = min_t(size_t, room, end->slot_bytes);
	const enum bh_end_result result = end->role == BH_END_LATEST_READER ? try_latest(end, file->buffer, capacity, again, message)
									    : bh_mailbox_receive(end, file->buffer, capacity, message);

	if (result != BH_END_OK)
		return error_of(file, result);
	return copy_to_user(data, file->buffer, message->length) ? -EFAULT : 0;
}

int channel_receive(struct channel_file *file, void __user *data, size_t room, bool again, struct bh_message *message)
{
	int error = try_tell_reset(&file->end, &file->news);

	if (error)
		return error;
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
	if (copy_from_user(file->buffer, data, length))
		return -EFAULT;
	return error_of(file, try_send_copy(&file->end, file->buffer, length, flags));
}

int channel_send(struct channel_file *file, const void __user *data, size_t length, u32 flags)
{
	int error = try_tell_reset(&file->end, &file->news);

	if (error)
		return error;
	if (file->end.role == BH_END_RING_READER || file->end.role == BH_END_LATEST_READER)
		return -EINVAL;
	error = error_of(file, try_fits(&file->end, length, flags));
	if (error)
		return error;
	error = file->end.role == BH_END_RING_SENDER ? send_to_ring(file, data, length, flags) : send_copy(file, data, length, flags);
	return error ? error : (int)length;
}

/* ---- What would not have to wait ----------------------------------------------------------------------------------------------------- */

__poll_t channel_ready(struct channel_file *file)
{
	const u32 in = (__force u32)(EPOLLIN | EPOLLRDNORM), out = (__force u32)(EPOLLOUT | EPOLLWRNORM);

	return (__force __poll_t)try_ready(&file->end, &file->news, in, out);
}
