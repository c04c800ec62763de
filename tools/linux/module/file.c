// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * /dev/bulkhead/NAME, as programs use it. One open file at a time, as an end has one owner, or as many as a latest value has readers;
 * threads and children that share it take turns. A read or a write is one message. A file that was mapped is its program's alone: it has
 * the end's counters, and the module's would be others.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "device.h"

/* As misc_open leaves it. */
static struct channel *channel_of(const struct file *file)
{
	return container_of(file->private_data, struct channel, misc);
}

static unsigned int most_files(const struct channel *channel)
{
	return channel->shape.role == BH_END_LATEST_READER ? min_t(unsigned int, channel->shape.readers, CHANNEL_FILES) : 1;
}

/* NULL: all of them are open. */
static struct channel_file *take_file(struct channel *channel)
{
	unsigned int n;

	for (n = 0; n < most_files(channel); n++)
		if (!test_and_set_bit(n, &channel->opened))
			return &channel->files[n];
	return NULL;
}

static void give_file(struct channel_file *one)
{
	struct channel *channel = one->channel;

	kvfree(one->buffer);
	one->buffer = NULL;
	clear_bit_unlock(one - channel->files, &channel->opened);
}

/* Its connection is over, and the memory may be reached no more, before another program can have the end. */
static void close_file(struct channel_file *one)
{
	channel_let_go(one->channel);
	give_file(one);
}

static int channel_open(struct inode *inode, struct file *file)
{
	struct channel *channel = channel_of(file);
	struct channel_file *one = take_file(channel);
	int error;

	if (!one)
		return -EBUSY;
	one->buffer = kvmalloc(channel->shape.slot_bytes, GFP_KERNEL);
	error = one->buffer ? channel_hold(channel) : -ENOMEM;
	if (error) {
		give_file(one);
		return error;
	}
	one->mapped = false;
	one->polled = (struct channel_words){};
	mutex_lock(&one->lock);
	error = channel_attach(one);
	if (!error)
		channel_ready(one); /* takes part from now on, so that the other end need not wait for the first message */
	mutex_unlock(&one->lock);
	if (error) {
		close_file(one);
		return error;
	}
	file->private_data = one;
	return stream_open(inode, file);
}

static int channel_release(struct inode *inode, struct file *file)
{
	close_file(file->private_data);
	return 0;
}

/* ---- One message --------------------------------------------------------------------------------------------------------------------- */

struct order {
	bool sends, again, waits;
	void __user *data;
	size_t length;
	u32 flags;
	struct bh_message message;
};

enum { MOST_FUTILE = 8 };

/* For which somebody may wait: a reader of a latest value changes nothing. What came damaged, or was lost to the program, is taken, too. */
static bool has_changed_something(const struct channel_file *one, const struct order *order, int done)
{
	return one->end.role != BH_END_LATEST_READER && (done >= 0 || (!order->sends && (done == -EBADMSG || done == -EFAULT)));
}

static int carry_out(struct channel_file *one, struct order *order)
{
	struct channel *channel = one->channel;
	struct channel_words before;
	unsigned int futile = 0;
	int done;

	for (;;) {
		if (READ_ONCE(one->mapped))
			return -EBUSY;
		if (mutex_lock_interruptible(&one->lock))
			return -ERESTARTSYS;
		channel_look(channel, &before);
		done = order->sends ? channel_send(one, order->data, order->length, order->flags)
				    : channel_receive(one, order->data, order->length, order->again, &order->message);
		mutex_unlock(&one->lock);
		if (has_changed_something(one, order, done)) {
			channel_ring(channel);
			channel_wake(channel);
		}
		if (done != -EAGAIN || !order->waits)
			return done;
		done = channel_wait(channel, &before);
		if (done)
			return done;
		if (++futile >= MOST_FUTILE) { /* an end that changes words which bring nothing keeps nobody awake */
			futile = 0;
			schedule_timeout_interruptible(1);
		}
	}
}

static ssize_t channel_read(struct file *file, char __user *data, size_t room, loff_t *unused)
{
	struct order order = { .data = data, .length = room, .waits = !(file->f_flags & O_NONBLOCK) };

	return carry_out(file->private_data, &order);
}

static ssize_t channel_write(struct file *file, const char __user *data, size_t length, loff_t *unused)
{
	struct order order = {
		.sends = true,
		.data = (void __user *)data,
		.length = length,
		.flags = BH_CHANNEL_START | BH_CHANNEL_END,
		.waits = !(file->f_flags & O_NONBLOCK),
	};

	return carry_out(file->private_data, &order);
}

static __poll_t channel_poll(struct file *file, poll_table *table)
{
	struct channel_file *one = file->private_data;
	struct channel *channel = one->channel;
	struct channel_words now;
	__poll_t ready;

	poll_wait(file, &channel->waiters, table);
	if (!poll_does_not_wait(table))
		channel_watch(channel);
	mutex_lock(&one->lock);
	if (READ_ONCE(one->mapped)) {
		/* It is the program that knows what it has read: it is told that something is another than when it last asked. */
		channel_look(channel, &now);
		ready = memcmp(&now, &one->polled, sizeof(now)) ? EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM : 0;
		one->polled = now;
	} else {
		ready = channel_ready(one);
	}
	mutex_unlock(&one->lock);
	return ready;
}

/* ---- More than read and write can say ------------------------------------------------------------------------------------------------ */

void channel_describe(const struct channel_file *file, struct bulkhead_info *info)
{
	const struct channel *channel = file->channel;
	const struct channel_shape *shape = &channel->shape;
	const struct bh_end *end = &channel->first;

	memset(info, 0, sizeof(*info));
	strscpy(info->name, channel->name, sizeof(info->name));
	strscpy(info->peer, channel->peer, sizeof(info->peer));
	info->kind = try_kind_of(shape->role);
	info->end = channel->side;
	info->slots = shape->slots;
	info->slot_bytes = shape->slot_bytes;
	info->bytes = channel->bytes;
	info->own_offset = channel->own_offset;
	info->own_bytes = channel->own_bytes;
	info->page_offset = channel->page_offset;
	info->features = (channel->doorbell > 0 ? BULKHEAD_HAS_DOORBELL : 0) | (channel->is_terminal ? BULKHEAD_IS_TERMINAL : 0) |
			 (channel->is_telemetry ? BULKHEAD_IS_TELEMETRY : 0) | (channel->on_request ? BULKHEAD_IS_ON_REQUEST : 0);
	info->reader = file - channel->files;
	info->connections = READ_ONCE(file->end.connections);
	info->refused = READ_ONCE(file->end.refused);
	if (!channel->memory)
		return;
	info->epoch = READ_ONCE(end->own_life->epoch);
	info->peer_epoch = READ_ONCE(end->peer_life->epoch);
	info->peer_state = READ_ONCE(end->peer_life->state);
	info->sent = READ_ONCE(end->own->sent);
	info->taken = READ_ONCE(end->own->taken);
	info->peer_sent = READ_ONCE(end->peer->sent);
	info->peer_taken = READ_ONCE(end->peer->taken);
}

static long tell(const struct channel_file *file, void __user *argument)
{
	struct bulkhead_info info;

	channel_describe(file, &info);
	return copy_to_user(argument, &info, sizeof(info)) ? -EFAULT : 0;
}

static long set_checked(struct channel_file *file, const void __user *argument)
{
	u32 checked;

	if (copy_from_user(&checked, argument, sizeof(checked)))
		return -EFAULT;
	mutex_lock(&file->lock);
	bh_end_set_checked(&file->end, checked != 0);
	mutex_unlock(&file->lock);
	return 0;
}

static long carry_message(struct file *file, struct bulkhead_message __user *argument, bool sends)
{
	struct bulkhead_message said;
	struct order order = { .sends = sends };
	int done;

	if (copy_from_user(&said, argument, sizeof(said)))
		return -EFAULT;
	if (said.options & ~(u32)(BULKHEAD_NO_WAIT | (sends ? 0 : BULKHEAD_AGAIN)))
		return -EINVAL;
	order.data = u64_to_user_ptr(said.data);
	order.length = said.length;
	order.flags = said.flags;
	order.again = said.options & BULKHEAD_AGAIN;
	order.waits = !(file->f_flags & O_NONBLOCK) && !(said.options & BULKHEAD_NO_WAIT);
	done = carry_out(file->private_data, &order);
	if (sends || (done < 0 && done != -EMSGSIZE))
		return done < 0 ? done : 0;
	said.length = order.message.length;
	said.flags = order.message.flags;
	said.number = order.message.number;
	if (copy_to_user(argument, &said, sizeof(said)))
		return -EFAULT;
	return done < 0 ? done : 0;
}

static long channel_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	void __user *pointer = (void __user *)argument;

	switch (command) {
	case BULKHEAD_GET_INFO:
		return tell(file->private_data, pointer);
	case BULKHEAD_SEND:
		return file->f_mode & FMODE_WRITE ? carry_message(file, pointer, true) : -EBADF;
	case BULKHEAD_RECEIVE:
		return file->f_mode & FMODE_READ ? carry_message(file, pointer, false) : -EBADF;
	case BULKHEAD_SET_CHECKED:
		return set_checked(file->private_data, pointer);
	default:
		return -ENOTTY;
	}
}

/* ---- In place ------------------------------------------------------------------------------------------------------------------------ */

/*
 * A write to what is not this end's own would be a fault of the whole sandbox, not of the program: so such a mapping is not made, and one
 * for reading cannot become one.
 */
static int channel_mmap(struct file *file, struct vm_area_struct *area)
{
	struct channel_file *one = file->private_data;
	const struct channel *channel = one->channel;
	const size_t length = area->vm_end - area->vm_start;
	size_t offset;
	bool own;
	int error;

	if (PAGE_SIZE != BH_PAGE_BYTES)
		return -ENODEV;
	if (!(area->vm_flags & VM_MAYSHARE) || area->vm_pgoff > channel->bytes >> PAGE_SHIFT)
		return -EINVAL;
	offset = area->vm_pgoff << PAGE_SHIFT;
	if (length > channel->bytes - offset)
		return -EINVAL;
	own = offset >= channel->own_offset && offset + length <= channel->own_offset + channel->own_bytes;
	if (area->vm_flags & (own ? VM_EXEC : VM_EXEC | VM_WRITE))
		return -EACCES;
	vm_flags_clear(area, own ? VM_MAYEXEC : VM_MAYEXEC | VM_MAYWRITE);
	error = remap_pfn_range(area, area->vm_start, (channel->start + offset) >> PAGE_SHIFT, length, area->vm_page_prot);
	if (!error)
		WRITE_ONCE(one->mapped, true); /* not with the lock held: who holds it may wait for the lock of this address space */
	return error;
}

const struct file_operations channel_file_operations = {
	.owner = THIS_MODULE,
	.open = channel_open,
	.release = channel_release,
	.read = channel_read,
	.write = channel_write,
	.poll = channel_poll,
	.mmap = channel_mmap,
	.unlocked_ioctl = channel_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
