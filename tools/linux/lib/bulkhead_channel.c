// SPDX-License-Identifier: Apache-2.0
/* Channels from programs of a Linux sandbox (bulkhead_channel.h): try, and if it would have to wait, poll until the time is over. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bulkhead_channel.h"
#include "memory.h"

#define FOLDER    "/dev/bulkhead/"
#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

enum { PERIOD_MS = 1 }; /* how often who waits looks, without the module: as often as the module does */

/* ---- Time ---------------------------------------------------------------------------------------------------------------------------- */

struct limit {
	int ms;         /* as it was given */
	int64_t end_ns; /* where ms is positive */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static struct limit begin(int limit_ms)
{
	struct limit limit = { .ms = limit_ms };

	if (limit_ms > 0)
		limit.end_ns = now_ns() + limit_ms * NS_PER_MS;
	return limit;
}

/* For poll(2): rounded up, so that a call is not over before its time. */
static int left_ms(const struct limit *limit)
{
	int64_t left;

	if (limit->ms <= 0)
		return limit->ms < 0 ? -1 : 0;
	left = limit->end_ns - now_ns();
	return left <= 0 ? 0 : (int)((left + NS_PER_MS - 1) / NS_PER_MS);
}

/* Without the module. */
static int look_until(struct bulkhead_memory *memory, short events, const struct limit *limit)
{
	for (;;) {
		const short found = bulkhead_memory_ready(memory) & (events | POLLERR | POLLHUP);

		if (found || left_ms(limit) == 0)
			return found;
		poll(NULL, 0, PERIOD_MS);
	}
}

static int wait_until(const struct bulkhead_channel *channel, short events, const struct limit *limit)
{
	struct pollfd one = { .fd = channel->file, .events = events };
	int count;

	if (channel->direct)
		return look_until(channel->direct, events, limit);
	do
		count = poll(&one, 1, left_ms(limit));
	while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count == 0 ? 0 : one.revents;
}

/* ---- One message --------------------------------------------------------------------------------------------------------------------- */

static int try(const struct bulkhead_channel *channel, unsigned long command, struct bulkhead_message *message)
{
	if (!channel->direct)
		return ioctl(channel->file, command, message) ? -errno : 0;
	return command == BULKHEAD_SEND ? bulkhead_memory_send(channel->direct, message)
					: bulkhead_memory_receive(channel->direct, message);
}

static int carry(const struct bulkhead_channel *channel, unsigned long command, struct bulkhead_message *message, int limit_ms)
{
	const struct bulkhead_message asked = *message;
	const struct limit limit = begin(limit_ms);
	const short event = command == BULKHEAD_SEND ? POLLOUT : POLLIN;

	for (;;) {
		int came, error;

		*message = asked;
		error = try(channel, command, message);
		if (error == -EINTR)
			continue;
		if (error != -EAGAIN)
			return error;
		if (left_ms(&limit) == 0)
			return -ETIMEDOUT;
		if (channel->direct) {
			poll(NULL, 0, PERIOD_MS);
			continue;
		}
		came = wait_until(channel, event, &limit);
		if (came <= 0)
			return came < 0 ? came : -ETIMEDOUT;
	}
}

int bulkhead_send_part(const struct bulkhead_channel *channel, const void *data, size_t length, uint32_t flags, int limit_ms)
{
	struct bulkhead_message message = {
		.data = (uintptr_t)data, .length = (uint32_t)length, .flags = flags, .options = BULKHEAD_NO_WAIT
	};

	return length > UINT32_MAX ? -EMSGSIZE : carry(channel, BULKHEAD_SEND, &message, limit_ms);
}

int bulkhead_send(const struct bulkhead_channel *channel, const void *data, size_t length, int limit_ms)
{
	return bulkhead_send_part(channel, data, length, BULKHEAD_START | BULKHEAD_END, limit_ms);
}

static int receive(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message, uint32_t options,
		   int limit_ms)
{
	struct bulkhead_message own;
	int error;

	if (!message)
		message = &own;
	*message = (struct bulkhead_message){ .data = (uintptr_t)data,
					      .length = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room,
					      .options = BULKHEAD_NO_WAIT | options };
	error = carry(channel, BULKHEAD_RECEIVE, message, limit_ms);
	return error ? error : (int)message->length;
}

int bulkhead_receive_part(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message, int limit_ms)
{
	return receive(channel, data, room, message, 0, limit_ms);
}

int bulkhead_receive(const struct bulkhead_channel *channel, void *data, size_t room, int limit_ms)
{
	return receive(channel, data, room, NULL, 0, limit_ms);
}

int bulkhead_latest(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message)
{
	const int bytes = receive(channel, data, room, message, BULKHEAD_AGAIN, 0);

	return bytes == -ETIMEDOUT ? -EAGAIN : bytes;
}

/* ---- A channel ----------------------------------------------------------------------------------------------------------------------- */

int bulkhead_ask(const struct bulkhead_channel *channel, struct bulkhead_info *info)
{
	if (!channel->direct)
		return ioctl(channel->file, BULKHEAD_GET_INFO, info) ? -errno : 0;
	bulkhead_memory_ask(channel->direct, info);
	return 0;
}

/* As the module is not there, or has no such channel. */
static int open_memory(struct bulkhead_channel *channel, const char *name)
{
	int error = bulkhead_memory_open(&channel->direct, name, "");

	return error ? error : bulkhead_ask(channel, &channel->info);
}

int bulkhead_open(struct bulkhead_channel *channel, const char *name)
{
	char path[sizeof(FOLDER) + BULKHEAD_NAME_BYTES];
	const size_t length = strlen(name);
	int error;

	if (length == 0 || length >= BULKHEAD_NAME_BYTES || strchr(name, '/') || name[0] == '.')
		return -EINVAL;
	snprintf(path, sizeof(path), FOLDER "%s", name);
	*channel = (struct bulkhead_channel){ .file = open(path, O_RDWR | O_CLOEXEC) };
	if (channel->file < 0)
		return errno == ENOENT ? open_memory(channel, name) : -errno;
	error = bulkhead_ask(channel, &channel->info);
	if (error)
		bulkhead_close(channel);
	return error;
}

const char *bulkhead_error_text(int error)
{
	switch (error) {
	case -ENOENT:
		return "there is no such channel";
	case -EOPNOTSUPP:
		return "the module `bulkhead` is not loaded, and this channel cannot be used without it here";
	case -ENXIO:
		return "what lies there is not the channel that the kernel was told of";
	case -EBUSY:
		return "it is in use: by somebody else, by as many as it has readers, or by this program in place";
	case -ECONNRESET:
		return "the other end lives anew";
	case -EPIPE:
		return "the other end is gone for good";
	case -EPROTO:
		return "the other end broke the protocol";
	case -EBADMSG:
		return "a message came damaged";
	default:
		return strerror(-error);
	}
}

void bulkhead_close(struct bulkhead_channel *channel)
{
	if (channel->direct)
		bulkhead_memory_close(channel->direct);
	else if (channel->memory)
		munmap(channel->memory, channel->info.bytes);
	if (channel->file >= 0)
		close(channel->file);
	*channel = (struct bulkhead_channel){ .file = -1 };
}

int bulkhead_wait(const struct bulkhead_channel *channel, short events, int limit_ms)
{
	const struct limit limit = begin(limit_ms);

	return wait_until(channel, events, &limit);
}

int bulkhead_set_checked(const struct bulkhead_channel *channel, int checked)
{
	const uint32_t word = checked != 0;

	if (channel->direct) {
		bulkhead_memory_set_checked(channel->direct, checked);
		return 0;
	}
	return ioctl(channel->file, BULKHEAD_SET_CHECKED, &word) ? -errno : 0;
}

int bulkhead_map(struct bulkhead_channel *channel)
{
	const struct bulkhead_info *info = &channel->info;
	uint8_t *memory, *own;
	int error;

	if (channel->memory)
		return 0;
	if (channel->direct) {
		channel->memory = bulkhead_memory_give(channel->direct);
		return 0;
	}
	memory = mmap(NULL, info->bytes, PROT_READ, MAP_SHARED, channel->file, 0);
	if (memory == MAP_FAILED)
		return -errno;
	own = mmap(memory + info->own_offset, info->own_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, channel->file,
		   (off_t)info->own_offset);
	if (own == MAP_FAILED) {
		error = -errno;
		munmap(memory, info->bytes);
		return error;
	}
	channel->memory = memory;
	return 0;
}
