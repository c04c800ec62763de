/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests/emulated/test_linux_channels.py has a program in Linux do with libbulkhead-channel. Each word a line says is an errno's name,
 * or OK.
 *
 *   channels receive NAME COUNT LIMIT_MS     each message: its number, its length, its text; or why there is none
 *   channels again NAME                      the latest value, whether it was received before or not
 *   channels send NAME TEXT LIMIT_MS         OK, or why not
 *   channels small NAME                      receives into a buffer of one byte, then into one that is large enough
 *   channels wait NAME LIMIT_MS              the events that came
 *   channels count NAME COUNT                receives so many, and how many of them came in order
 *   channels place NAME COUNT LIMIT_MS       as receive, in place: mapped, with the functions of channel_inline.h
 *   channels map NAME                        mappings that there must not be, one a line
 *   channels protect NAME                    maps it, and tries to make what is not its own writable; then how much is its own, to write
 *   channels fork NAME COUNT                 what a child receives of it, or how it ended; then receives COUNT
 *   channels twice NAME                      opens it twice, then closes and opens it again
 *   channels readers NAME COUNT              opens it COUNT times in all, and says which reader each is and what it reads; the last one in
 *                                            place; then opens it once more, and once more after it has closed the second one
 *   channels reopen NAME COUNT               opens and closes it so often, each on another core than before, and how often something came
 *   channels keeps NAME                      who still has it open when its file was closed: a copy of the file, a mapping, a child's
 * mapping
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bulkhead_channel.h"
#include "channel_inline.h"

enum { ROOM = 4096, PAGE = 4096, MOST = 8, SOON_MS = 1000, VALUES = 200, SOMETIMES = 10 };

static struct bulkhead_channel channel;
static char room[ROOM];

static const char *named(int result)
{
	return result < 0 ? strerrorname_np(-result) : "OK";
}

static void show(const struct bulkhead_message *message, const void *data)
{
	printf("%u %u %.*s\n", message->number, message->length, (int)message->length, (const char *)data);
}

static void receive(int count, int limit)
{
	struct bulkhead_message message;

	for (int n = 0; n < count; n++) {
		const int bytes = bulkhead_receive_part(&channel, room, sizeof(room), &message, limit);

		if (bytes < 0)
			printf("%s\n", named(bytes));
		else
			show(&message, room);
	}
}

static void again(void)
{
	struct bulkhead_message message;
	const int bytes = bulkhead_latest(&channel, room, sizeof(room), &message);

	if (bytes < 0)
		printf("%s\n", named(bytes));
	else
		show(&message, room);
}

static void small(void)
{
	struct bulkhead_message message;
	const int bytes = bulkhead_receive_part(&channel, room, 1, &message, 1000);

	printf("%s %u\n", named(bytes), message.length);
	receive(1, 1000);
}

static void count(int wanted)
{
	struct bulkhead_message message;
	uint32_t last = 0;
	int came = 0, ordered = 0;

	while (came < wanted && bulkhead_receive_part(&channel, room, sizeof(room), &message, 1000) >= 0) {
		ordered += came == 0 || message.number > last;
		last = message.number;
		came++;
	}
	printf("%d came, %d in order\n", came, ordered);
}

/* Waits in the module, for a change; all else is done here. */
static void place(int wanted, int limit)
{
	struct bh_end end;
	struct bh_message message;
	int left = wanted;

	if (bulkhead_map(&channel) ||
	    bh_end_attach(&end, channel.memory, channel.info.bytes, channel.info.page_offset, channel.info.end) != BH_END_OK) {
		printf("not mapped\n");
		return;
	}
	while (left > 0) {
		const enum bh_end_result result = bh_ring_peek(&end, &message);

		if (result == BH_END_OK) {
			printf("%u %u %.*s\n", message.number, message.length, (int)message.length, (const char *)message.data);
			bh_ring_release(&end);
			left--;
		} else if (result == BH_END_AGAIN && bulkhead_wait(&channel, POLLIN, limit) <= 0) {
			printf("nothing came\n");
			return;
		} else if (result != BH_END_AGAIN && result != BH_END_NEW) {
			printf("result %d\n", result);
			return;
		}
	}
	printf("%s\n", named(bulkhead_receive(&channel, room, sizeof(room), 0)));
}

static void try_map(const char *what, size_t length, int protection, int flags, off_t offset)
{
	void *memory = mmap(NULL, length, protection, flags, channel.file, offset);

	printf("%s %s\n", what, memory == MAP_FAILED ? strerrorname_np(errno) : "OK");
	if (memory != MAP_FAILED)
		munmap(memory, length);
}

static void map(void)
{
	const struct bulkhead_info *info = &channel.info;
	const int both = PROT_READ | PROT_WRITE;
	void *memory;

	try_map("own", info->own_bytes, both, MAP_SHARED, (off_t)info->own_offset);
	try_map("whole", info->bytes, PROT_READ, MAP_SHARED, 0);
	try_map("longer", info->bytes + PAGE, PROT_READ, MAP_SHARED, 0);
	try_map("behind", PAGE, PROT_READ, MAP_SHARED, (off_t)info->bytes);
	try_map("far", PAGE, PROT_READ, MAP_SHARED, (off_t)1 << 31);
	try_map("last", 2 * PAGE, PROT_READ, MAP_SHARED, (off_t)info->bytes - PAGE);
	try_map("writable", info->bytes, both, MAP_SHARED, 0);
	try_map("page", PAGE, both, MAP_SHARED, info->page_offset);
	try_map("private", info->own_bytes, both, MAP_PRIVATE, (off_t)info->own_offset);
	try_map("executable", PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0);
	memory = mmap(NULL, info->bytes, PROT_READ, MAP_SHARED, channel.file, 0);
	printf("changed %s\n", memory != MAP_FAILED && mprotect(memory, info->bytes, both) ? strerrorname_np(errno) : "OK");
	printf("moved %s\n", mremap(memory, info->bytes, info->bytes + PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? strerrorname_np(errno) : "OK");
}

static void protect(void)
{
	const struct bulkhead_info *info = &channel.info;
	const int both = PROT_READ | PROT_WRITE;
	char *memory;

	if (bulkhead_map(&channel)) {
		printf("not mapped\n");
		return;
	}
	memory = channel.memory;
	printf("page %s\n", mprotect(memory + info->page_offset, PAGE, both) ? strerrorname_np(errno) : "OK");
	printf("other %s\n", mprotect(info->end ? memory : memory + info->page_offset + PAGE, PAGE, both) ? strerrorname_np(errno) : "OK");
	for (uint64_t n = 0; n < info->own_bytes; n += PAGE) {
		uint8_t *last = (uint8_t *)memory + info->own_offset + n + PAGE - 1;

		__atomic_store_n(last, __atomic_load_n(last, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	}
	printf("own OK\n");
	printf("%s\n", named(bulkhead_send(&channel, room, 1, 0)));
}

static void fork_it(int count)
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		receive(1, 0);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("%s\n", WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : "OK");
	receive(count, SOON_MS);
}

static void twice(const char *name)
{
	struct bulkhead_channel second;

	printf("%s\n", named(bulkhead_open(&second, name)));
	bulkhead_close(&channel);
	printf("%s\n", named(bulkhead_open(&channel, name)));
}

/* In place, as a thread or a process of its own would. */
static void read_in_place(struct bulkhead_channel *one)
{
	struct bh_end end;
	struct bh_message message;
	enum bh_end_result result = BH_END_NEW;

	if (bulkhead_map(one) ||
	    bh_end_attach_reader(&end, one->memory, one->info.bytes, one->info.page_offset, one->info.reader) != BH_END_OK) {
		printf("not mapped\n");
		return;
	}
	while (result == BH_END_NEW || result == BH_END_AGAIN)
		result = bh_latest_read(&end, room, sizeof(room), &message);
	printf("%u in place: %d, %u bytes\n", one->info.reader, result, message.length);
}

/* The module's reader 1, as one who has it mapped sees it. */
static void watch_second(const struct bulkhead_channel *second, const struct bulkhead_channel *mapped)
{
	const struct bh_channel_control *own = (const void *)((const char *)mapped->memory + mapped->info.own_offset);
	const uint32_t before = __atomic_load_n(&own->reading[1], __ATOMIC_RELAXED);
	int left = VALUES;

	while (left && __atomic_load_n(&own->reading[1], __ATOMIC_RELAXED) == before &&
	       bulkhead_receive(second, room, sizeof(room), SOON_MS) > 0)
		left--;
	printf("%s what it reads\n", left ? "1 says" : "1 does not say");
}

static void readers(const char *name, int wanted)
{
	struct bulkhead_channel one[MOST], more = { .file = -1 };

	one[0] = channel;
	for (int n = 0; n < wanted && n < MOST; n++) {
		const int error = n ? bulkhead_open(&one[n], name) : 0;

		if (error) {
			printf("%s\n", named(error));
			return;
		}
		if (n == wanted - 1)
			read_in_place(&one[n]);
		else
			printf("%u: %d\n", one[n].info.reader, bulkhead_receive(&one[n], room, sizeof(room), SOON_MS));
	}
	watch_second(&one[1], &one[wanted - 1]);
	printf("%s\n", named(bulkhead_open(&more, name)));
	bulkhead_close(&one[1]);
	printf("%s", named(bulkhead_open(&more, name)));
	printf(" %u\n", more.info.reader);
}

static void move_to(int core)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	if (sched_setaffinity(0, sizeof(cores), &cores))
		printf("%s\n", named(-errno));
}

/* Each time opened by one core and closed by the other; in each tenth it stays until there is something. */
static void reopen(const char *name, int wanted)
{
	int came = 0, error = 0, n = 0;

	bulkhead_close(&channel);
	for (; n < wanted && !error; n++) {
		move_to(n % 2);
		error = bulkhead_open(&channel, name);
		move_to((n + 1) % 2);
		if (!error && n % SOMETIMES == 0)
			came += bulkhead_receive(&channel, room, sizeof(room), SOON_MS) >= 0;
		if (!error)
			bulkhead_close(&channel);
	}
	printf("%s, %d times, %d came\n", named(error), n, came);
}

/* By another file: EBUSY, or OK if nobody has it, and then nobody has it again. */
static void try_open(const char *who, const char *name)
{
	struct bulkhead_channel other;
	const int error = bulkhead_open(&other, name);

	printf("%s: %s\n", who, named(error));
	if (!error)
		bulkhead_close(&other);
}

static bool is_there(const void *memory)
{
	const struct bh_channel *page = (const void *)((const char *)memory + channel.info.page_offset);

	return page->magic == BH_CHANNEL_MAGIC;
}

static void keeps(const char *name)
{
	const int copy = dup(channel.file);
	int until[2], status = 0;
	void *memory;
	pid_t child;
	char byte;

	close(channel.file);
	try_open("a copy", name);
	memory = mmap(NULL, channel.info.bytes, PROT_READ, MAP_SHARED, copy, 0);
	close(copy);
	channel.file = -1;
	if (memory == MAP_FAILED || pipe(until))
		return;
	try_open("a mapping", name);
	printf("it is %s\n", is_there(memory) ? "there" : "not there");
	fflush(stdout);
	child = fork();
	if (!child) {
		close(until[1]);
		(void)!read(until[0], &byte, 1);
		_exit(is_there(memory) ? 0 : 1);
	}
	munmap(memory, channel.info.bytes);
	try_open("a child", name);
	close(until[1]);
	waitpid(child, &status, 0);
	printf("to the child it was %s\n", WIFEXITED(status) && !WEXITSTATUS(status) ? "there" : "not there");
	try_open("nobody", name);
}

int main(int words, char **word)
{
	const char *what = words > 2 ? word[1] : "";
	const int first = words > 3 ? atoi(word[3]) : 0, second = words > 4 ? atoi(word[4]) : 0;
	int error;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (words < 3)
		return 2;
	error = bulkhead_open(&channel, word[2]);
	if (error) {
		printf("%s\n", named(error));
		return 1;
	}
	if (!strcmp(what, "receive"))
		receive(first, second);
	else if (!strcmp(what, "again"))
		again();
	else if (!strcmp(what, "send") && words > 3)
		printf("%s\n", named(bulkhead_send(&channel, word[3], strlen(word[3]), second)));
	else if (!strcmp(what, "small"))
		small();
	else if (!strcmp(what, "wait"))
		printf("%d\n", bulkhead_wait(&channel, POLLIN | POLLOUT, first));
	else if (!strcmp(what, "count"))
		count(first);
	else if (!strcmp(what, "place"))
		place(first, second);
	else if (!strcmp(what, "map"))
		map();
	else if (!strcmp(what, "protect"))
		protect();
	else if (!strcmp(what, "fork"))
		fork_it(first);
	else if (!strcmp(what, "twice"))
		twice(word[2]);
	else if (!strcmp(what, "readers"))
		readers(word[2], first);
	else if (!strcmp(what, "reopen"))
		reopen(word[2], first);
	else if (!strcmp(what, "keeps"))
		keeps(word[2]);
	bulkhead_close(&channel);
	return 0;
}
