/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.linux. What libbulkhead-channel asks of Linux, and makes of what it answers: names, time limits, messages, mappings. The calls are
 * fakes, put in their place by the linker; so is what does without the module (linux_memory_test.c). tools/linux/lib/bulkhead_channel.c
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bulkhead_channel.h"
#include "check.h"
#include "memory.h"

enum { FILE_NUMBER = 40, WHOLE = 0x5000, OWN_AT = 0x2000, OWN = 0x3000, MS = 1000000 };

/* What the fakes answer, and what they were asked. */
static struct {
	int opens;  /* 0, or an errno */
	int asks;   /* likewise, of BULKHEAD_GET_INFO */
	int result; /* of a message, once `waits` is 0 */
	int waits;  /* how often it is EAGAIN first */
	int interrupted;
	int maps; /* so many succeed */
	int64_t poll_takes_ns;
	short comes;
	int64_t now_ns;
	char path[64];
	struct bulkhead_message message;
	unsigned long command;
	unsigned polls, closed, unmapped, checked;
	int last_limit;
	short events;
	size_t mapped[2];
	int protection[2];
	void *place[2];
} linux_is;

static uint8_t memory[WHOLE];
static struct bulkhead_channel channel;

/* Without the module. */
static struct bulkhead_memory {
	int opens;  /* 0, or -errno */
	int result; /* of a message, once `waits` is 0 */
	int waits;
	short ready; /* once `waits` is 0 */
	char name[BULKHEAD_NAME_BYTES];
	struct bulkhead_message message;
	unsigned sends, receives, closed, given, checked;
} direct;

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int file, unsigned long command, ...);
int __wrap_poll(struct pollfd *one, nfds_t count, int limit);
int __wrap_close(int file);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
void *__wrap_mmap(void *place, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *place, size_t bytes);

/* As the C library calls these where files may be large. */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));
void *__wrap_mmap64(void *place, size_t bytes, int protection, int flags, int file, off_t offset) __attribute__((alias("__wrap_mmap")));

int __wrap_open(const char *path, int flags, ...)
{
	CHECK(flags & O_CLOEXEC);
	CHECK(strlen(path) < sizeof(linux_is.path));
	memcpy(linux_is.path, path, strlen(path) + 1);
	errno = linux_is.opens;
	return linux_is.opens ? -1 : FILE_NUMBER;
}

int __wrap_ioctl(int file, unsigned long command, ...)
{
	va_list arguments;
	void *argument;

	CHECK_EQ(file, FILE_NUMBER);
	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (command == BULKHEAD_GET_INFO) {
		*(struct bulkhead_info *)argument = (struct bulkhead_info){
			.bytes = WHOLE, .own_offset = OWN_AT, .own_bytes = OWN, .slot_bytes = 64
		};
		errno = linux_is.asks;
		return linux_is.asks ? -1 : 0;
	}
	if (command == BULKHEAD_SET_CHECKED) {
		linux_is.checked = *(uint32_t *)argument;
		return 0;
	}
	linux_is.command = command;
	linux_is.message = *(struct bulkhead_message *)argument;
	if (linux_is.waits) {
		linux_is.waits--;
		errno = linux_is.interrupted ? EINTR : EAGAIN;
		return -1;
	}
	if (command == BULKHEAD_RECEIVE) {
		((struct bulkhead_message *)argument)->length = 5;
		((struct bulkhead_message *)argument)->number = 7;
	}
	errno = linux_is.result;
	return linux_is.result ? -1 : 0;
}

int __wrap_poll(struct pollfd *one, nfds_t count, int limit)
{
	if (!one) { /* a nap */
		CHECK_EQ(limit, 1);
		linux_is.polls++;
		linux_is.now_ns += MS;
		return 0;
	}
	CHECK_EQ(count, 1);
	CHECK_EQ(one->fd, FILE_NUMBER);
	linux_is.polls++;
	linux_is.last_limit = limit;
	linux_is.events = one->events;
	linux_is.now_ns += linux_is.poll_takes_ns;
	one->revents = linux_is.comes;
	return linux_is.comes ? 1 : 0;
}

int __wrap_close(int file)
{
	linux_is.closed += file == FILE_NUMBER;
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	CHECK_EQ(clock, CLOCK_MONOTONIC);
	now->tv_sec = linux_is.now_ns / 1000000000;
	now->tv_nsec = linux_is.now_ns % 1000000000;
	return 0;
}

void *__wrap_mmap(void *place, size_t bytes, int protection, int flags, int file, off_t offset)
{
	const int second = flags & MAP_FIXED ? 1 : 0;

	CHECK_EQ(file, FILE_NUMBER);
	CHECK(flags & MAP_SHARED);
	if (linux_is.maps-- <= 0) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	linux_is.mapped[second] = bytes;
	linux_is.protection[second] = protection;
	linux_is.place[second] = place;
	CHECK_EQ(offset, second ? OWN_AT : 0);
	return second ? place : memory;
}

int __wrap_munmap(void *place, size_t bytes)
{
	CHECK(place == memory);
	CHECK_EQ(bytes, WHOLE);
	linux_is.unmapped++;
	return 0;
}

int bulkhead_memory_open(struct bulkhead_memory **opened, const char *name, const char *root)
{
	CHECK_EQ(root[0], 0);
	memcpy(direct.name, name, strlen(name) + 1);
	if (!direct.opens)
		*opened = &direct;
	return direct.opens;
}

void bulkhead_memory_close(struct bulkhead_memory *one)
{
	one->closed++;
}

static int direct_result(struct bulkhead_memory *one)
{
	return one->waits-- > 0 ? -EAGAIN : one->result;
}

int bulkhead_memory_send(struct bulkhead_memory *one, const struct bulkhead_message *message)
{
	one->sends++;
	one->message = *message;
	return direct_result(one);
}

int bulkhead_memory_receive(struct bulkhead_memory *one, struct bulkhead_message *message)
{
	int result = direct_result(one);

	one->receives++;
	one->message = *message;
	message->length = result ? 9 : 5;
	return result;
}

short bulkhead_memory_ready(struct bulkhead_memory *one)
{
	return one->waits-- > 0 ? 0 : one->ready;
}

void bulkhead_memory_ask(const struct bulkhead_memory *one, struct bulkhead_info *info)
{
	*info = (struct bulkhead_info){ .bytes = WHOLE, .slot_bytes = 32 };
}

void bulkhead_memory_set_checked(struct bulkhead_memory *one, int checked)
{
	one->checked = (unsigned)checked;
}

void *bulkhead_memory_give(struct bulkhead_memory *one)
{
	one->given++;
	return memory;
}

static void begin(void)
{
	memset(&linux_is, 0, sizeof(linux_is));
	linux_is.now_ns = 1500000000;
	linux_is.comes = POLLIN;
	linux_is.maps = 2;
	CHECK_EQ(bulkhead_open(&channel, "speed"), 0);
}

static void test_names(void)
{
	static const char *const none[] = { "", ".", "..", ".hidden", "a/b", "../null", "12345678901234567890123456789012" };

	for (size_t n = 0; n < sizeof(none) / sizeof(none[0]); n++) {
		begin();
		linux_is.path[0] = '\0';
		CHECK_EQ(bulkhead_open(&channel, none[n]), -EINVAL);
		CHECK_EQ(linux_is.path[0], '\0');
	}
	begin();
	CHECK_EQ(bulkhead_open(&channel, "1234567890123456789012345678901"), 0);
	CHECK_EQ(strcmp(linux_is.path, "/dev/bulkhead/1234567890123456789012345678901"), 0);
	CHECK_EQ(channel.info.slot_bytes, 64);
	linux_is.opens = EBUSY;
	CHECK_EQ(bulkhead_open(&channel, "speed"), -EBUSY);
	linux_is.opens = 0;
	linux_is.asks = ENOTTY; /* a device that is no channel */
	CHECK_EQ(bulkhead_open(&channel, "speed"), -ENOTTY);
	CHECK_EQ(linux_is.closed, 1);
}

static void test_a_message_goes_at_once_if_it_can(void)
{
	struct bulkhead_message message;
	char data[8];

	begin();
	CHECK_EQ(bulkhead_send(&channel, "order", 5, -1), 0);
	CHECK_EQ(linux_is.command, BULKHEAD_SEND);
	CHECK_EQ(linux_is.message.length, 5);
	CHECK_EQ(linux_is.message.flags, BULKHEAD_START | BULKHEAD_END);
	CHECK_EQ(linux_is.message.options, BULKHEAD_NO_WAIT);
	CHECK_EQ(bulkhead_send_part(&channel, "order", 5, BULKHEAD_START, 0), 0);
	CHECK_EQ(linux_is.message.flags, BULKHEAD_START);
	CHECK_EQ(bulkhead_receive_part(&channel, data, sizeof(data), &message, -1), 5);
	CHECK_EQ(message.number, 7);
	CHECK_EQ(linux_is.message.length, sizeof(data));
	CHECK_EQ(linux_is.message.data, (uintptr_t)data);
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), -1), 5);
	CHECK_EQ(linux_is.message.options, BULKHEAD_NO_WAIT);
	CHECK_EQ(bulkhead_latest(&channel, data, sizeof(data), NULL), 5);
	CHECK_EQ(linux_is.message.options, BULKHEAD_NO_WAIT | BULKHEAD_AGAIN);
	CHECK_EQ(linux_is.polls, 0);
	CHECK_EQ(bulkhead_set_checked(&channel, 8), 0);
	CHECK_EQ(linux_is.checked, 1);
#if SIZE_MAX > UINT32_MAX
	CHECK_EQ(bulkhead_send(&channel, "order", (size_t)1 << 32, 0), -EMSGSIZE);
#endif
}

static void test_what_linux_refuses_is_said(void)
{
	static const int errors[] = { ECONNRESET, EPIPE, EMSGSIZE, EBADMSG, EPROTO, EBUSY, EINVAL };
	char data[8];

	for (size_t n = 0; n < sizeof(errors) / sizeof(errors[0]); n++) {
		begin();
		linux_is.result = errors[n];
		CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), -1), -errors[n]);
		CHECK_EQ(bulkhead_send(&channel, data, 1, -1), -errors[n]);
		CHECK_EQ(linux_is.polls, 0);
	}
}

static void test_limits(void)
{
	char data[8];

	begin(); /* 0: once */
	linux_is.waits = 1;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), 0), -ETIMEDOUT);
	CHECK_EQ(linux_is.polls, 0);
	linux_is.waits = 1;
	CHECK_EQ(bulkhead_latest(&channel, data, sizeof(data), NULL), -EAGAIN);

	begin(); /* none */
	linux_is.waits = 3;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), -1), 5);
	CHECK_EQ(linux_is.polls, 3);
	CHECK_EQ(linux_is.last_limit, -1);
	CHECK_EQ(linux_is.events, POLLIN);

	begin(); /* what is left is rounded up, and ends the call */
	linux_is.waits = 10;
	linux_is.poll_takes_ns = 3 * MS + 1;
	linux_is.comes = POLLOUT;
	CHECK_EQ(bulkhead_send(&channel, data, 1, 10), -ETIMEDOUT);
	CHECK_EQ(linux_is.polls, 4);
	CHECK_EQ(linux_is.last_limit, 1);
	CHECK_EQ(linux_is.events, POLLOUT);

	begin();
	linux_is.waits = 100;
	linux_is.comes = 0;
	linux_is.poll_takes_ns = 10 * MS;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), 10), -ETIMEDOUT);
	CHECK_EQ(linux_is.polls, 1);
	CHECK_EQ(linux_is.last_limit, 10);

	begin(); /* a signal costs no time */
	linux_is.waits = 1;
	linux_is.interrupted = 1;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), 0), 5);

	begin();
	CHECK_EQ(bulkhead_wait(&channel, POLLIN | POLLOUT, 20), POLLIN);
	CHECK_EQ(linux_is.last_limit, 20);
	linux_is.comes = 0;
	CHECK_EQ(bulkhead_wait(&channel, POLLIN, 0), 0);
}

static void test_mapping(void)
{
	begin();
	CHECK_EQ(bulkhead_map(&channel), 0);
	CHECK_EQ(linux_is.mapped[0], WHOLE);
	CHECK_EQ(linux_is.protection[0], PROT_READ);
	CHECK_EQ(linux_is.mapped[1], OWN);
	CHECK_EQ(linux_is.protection[1], PROT_READ | PROT_WRITE);
	CHECK(linux_is.place[1] == memory + OWN_AT);
	CHECK(channel.memory == memory);
	CHECK_EQ(bulkhead_map(&channel), 0); /* it is */
	bulkhead_close(&channel);
	CHECK_EQ(linux_is.unmapped, 1);
	CHECK_EQ(linux_is.closed, 1);

	begin(); /* the own part is refused: nothing stays */
	linux_is.maps = 1;
	CHECK_EQ(bulkhead_map(&channel), -EINVAL);
	CHECK_EQ(linux_is.unmapped, 1);
	CHECK(channel.memory == NULL);
	begin();
	linux_is.maps = 0;
	CHECK_EQ(bulkhead_map(&channel), -EINVAL);
	CHECK_EQ(linux_is.unmapped, 0);
}

static void begin_direct(void)
{
	memset(&linux_is, 0, sizeof(linux_is));
	memset(&direct, 0, sizeof(direct));
	linux_is.opens = ENOENT;
	CHECK_EQ(bulkhead_open(&channel, "speed"), 0);
}

static void test_without_the_module(void)
{
	char data[8];

	begin_direct();
	CHECK_EQ(strcmp(direct.name, "speed"), 0);
	CHECK_EQ(channel.file, -1);
	CHECK_EQ(channel.info.slot_bytes, 32);
	CHECK_EQ(bulkhead_send(&channel, "order", 5, 0), 0);
	CHECK(direct.message.length == 5 && direct.message.flags == (BULKHEAD_START | BULKHEAD_END));
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), 0), 5);
	CHECK(direct.message.length == sizeof(data) && direct.message.data == (uintptr_t)data);
	CHECK_EQ(bulkhead_latest(&channel, data, sizeof(data), NULL), 5);
	CHECK(direct.message.options & BULKHEAD_AGAIN);
	CHECK_EQ(bulkhead_set_checked(&channel, 1), 0);
	CHECK_EQ(direct.checked, 1);
	direct.result = -ECONNRESET;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), -1), -ECONNRESET);
	CHECK_EQ(linux_is.polls, 0);

	begin_direct(); /* it looks every millisecond, each time with all the room there is */
	direct.waits = 3;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), -1), 5);
	CHECK(linux_is.polls == 3 && direct.message.length == sizeof(data));
	direct.waits = 100;
	CHECK_EQ(bulkhead_send(&channel, data, 1, 10), -ETIMEDOUT);
	CHECK_EQ(linux_is.polls, 13);
	direct.waits = 1;
	CHECK_EQ(bulkhead_receive(&channel, data, sizeof(data), 0), -ETIMEDOUT);
	CHECK_EQ(linux_is.polls, 13);

	begin_direct(); /* and so does who waits, for what he asked for and for what nobody need ask for */
	direct.ready = POLLIN | POLLOUT;
	direct.waits = 2;
	CHECK_EQ(bulkhead_wait(&channel, POLLIN, -1), POLLIN);
	CHECK_EQ(linux_is.polls, 2);
	direct.ready = POLLOUT;
	CHECK_EQ(bulkhead_wait(&channel, POLLIN, 5), 0);
	CHECK_EQ(linux_is.polls, 7);
	direct.ready = POLLIN | POLLHUP;
	CHECK_EQ(bulkhead_wait(&channel, POLLOUT, 0), POLLHUP);

	CHECK_EQ(bulkhead_map(&channel), 0);
	CHECK(channel.memory == memory && direct.given == 1);
	CHECK_EQ(bulkhead_map(&channel), 0);
	CHECK_EQ(direct.given, 1);
	bulkhead_close(&channel);
	CHECK(direct.closed == 1 && linux_is.closed == 0 && linux_is.unmapped == 0);

	begin_direct(); /* only where there is no device */
	direct.opens = -EOPNOTSUPP;
	CHECK_EQ(bulkhead_open(&channel, "orders"), -EOPNOTSUPP);
	CHECK(strstr(bulkhead_error_text(-EOPNOTSUPP), "module") != NULL);
	CHECK(strstr(bulkhead_error_text(-EBUSY), "in use") && strstr(bulkhead_error_text(-ECONNRESET), "anew"));
	CHECK(strstr(bulkhead_error_text(-EPIPE), "gone") && strstr(bulkhead_error_text(-EPROTO), "broke"));
	CHECK(strstr(bulkhead_error_text(-EBADMSG), "damaged") && !strcmp(bulkhead_error_text(-EMSGSIZE), strerror(EMSGSIZE)));
	linux_is.opens = EBUSY;
	direct.name[0] = '\0';
	CHECK_EQ(bulkhead_open(&channel, "orders"), -EBUSY);
	CHECK_EQ(direct.name[0], '\0');
}

int main(void)
{
	test_names();
	test_a_message_goes_at_once_if_it_can();
	test_what_linux_refuses_is_said();
	test_limits();
	test_mapping();
	test_without_the_module();
	return 0;
}
