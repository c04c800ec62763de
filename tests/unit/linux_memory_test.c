/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.linux. A channel in a Linux without the module: how it is found in what the kernel was told, what is refused, that nothing but the
 * own area can be written, who owns it, and each call as the module has it. A file is /dev/mem, in which a channel lies; the other end is
 * here, too. tools/linux/lib
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/channel_inline.h"
#include "linux_root.h"
#include "memory.h"

enum { SLOT = 64, ADDRESS = 0x103000 };

static struct {
	struct aml_channel about;
	uint8_t *memory;
	struct bh_channel *page;
	int file;
	struct bh_end other;
} machine;
static struct bulkhead_memory *memory;
static char data[ROOM];

/* ---- A machine ----------------------------------------------------------------------------------------------------------------------- */

/* Linux is end `side`; both live. `readers`: of a latest value. */
static void open_machine(uint32_t kind, uint32_t slots, unsigned side)
{
	const uint64_t area[] = { bh_channel_area_bytes(bh_channel_slots(kind, slots, 0), SLOT),
				  bh_channel_area_bytes(bh_channel_slots(kind, slots, 1), SLOT) };
	const uint64_t bytes = area[0] + BH_PAGE_BYTES + area[1];

	machine.about = (struct aml_channel){ "PRP0001", "bulkhead,channel-end-v1", "speed", "control", ADDRESS, bytes, side, area[0] };
	write_file("/dev/mem", "", 0);
	machine.file = open(path_of("/dev/mem"), O_RDWR);
	CHECK(ftruncate(machine.file, (off_t)(ADDRESS + bytes)) == 0);
	machine.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, machine.file, ADDRESS);
	CHECK(machine.memory != MAP_FAILED);
	machine.page = (struct bh_channel *)(void *)(machine.memory + area[0]);
	*machine.page = (struct bh_channel){ .magic = BH_CHANNEL_MAGIC,
					     .version = BH_CHANNEL_VERSION,
					     .kind = kind,
					     .slots = slots,
					     .slot_bytes = SLOT,
					     .slot_stride = SLOT + sizeof(struct bh_channel_slot),
					     .area_bytes = { area[0], area[1] },
					     .name = "speed",
					     .end = { { 1, BH_CHANNEL_LIVES, 0, 0, 0, { 0 } }, { 1, BH_CHANNEL_LIVES, 0, 0, 0, { 0 } } } };
	CHECK_EQ(bh_end_attach(&machine.other, machine.memory, bytes, (uint32_t)area[0], !side), BH_END_OK);
	tell(&machine.about, NULL);
	memory = NULL;
}

static int open_it(void)
{
	return bulkhead_memory_open(&memory, "speed", root);
}

static void close_machine(void)
{
	if (memory)
		bulkhead_memory_close(memory);
	munmap(machine.memory, machine.about.bytes);
	close(machine.file);
}

/* Opened, and both have found the other. */
static void meet(uint32_t kind, uint32_t slots, unsigned side)
{
	open_machine(kind, slots, side);
	CHECK_EQ(open_it(), 0);
	CHECK_EQ(bh_end_look(&machine.other), BH_END_NEW);
	CHECK_EQ(bh_end_look(&machine.other), BH_END_OK);
}

static void live_anew(unsigned side)
{
	struct bh_channel_control *control = (void *)(machine.memory + (side ? machine.about.page_offset + BH_PAGE_BYTES : 0));

	__atomic_store_n(&control->peer, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&machine.page->end[side].epoch, machine.page->end[side].epoch + 1, __ATOMIC_RELEASE);
}

static int receive(uint32_t room, uint32_t options, struct bulkhead_message *message)
{
	*message = (struct bulkhead_message){ .data = (uintptr_t)data, .length = room, .options = options };
	return bulkhead_memory_receive(memory, message);
}

static int send(const char *text, uint32_t flags)
{
	return bulkhead_memory_send(
		memory, &(struct bulkhead_message){ .data = (uintptr_t)text, .length = (uint32_t)strlen(text), .flags = flags });
}

static void check_came(const char *text, uint32_t number)
{
	struct bulkhead_message message;

	CHECK_EQ(receive(ROOM, 0, &message), 0);
	CHECK_EQ(message.length, strlen(text));
	CHECK_EQ(message.number, number);
	CHECK(memcmp(data, text, strlen(text)) == 0);
}

static void other_sends(const char *text)
{
	void *slot;

	CHECK_EQ(bh_ring_reserve(&machine.other, &slot), BH_END_OK);
	memcpy(slot, text, strlen(text));
	CHECK_EQ(bh_ring_send(&machine.other, (uint32_t)strlen(text), BH_CHANNEL_START | BH_CHANNEL_END), BH_END_OK);
}

/* ---- Opening ------------------------------------------------------------------------------------------------------------------------- */

static void test_what_lies_there_is_looked_at(void)
{
	struct aml_channel wrong;

	open_machine(BH_CHANNEL_RING, 4, 1);
	machine.page->name[0] = 'S'; /* another's */
	CHECK_EQ(open_it(), -ENXIO);
	machine.page->name[0] = 's';
	machine.page->name[5] = 'y'; /* which begins like it */
	CHECK_EQ(open_it(), -ENXIO);
	machine.page->name[5] = '\0';
	machine.page->version++;
	CHECK_EQ(open_it(), -ENXIO);
	machine.page->version--;
	machine.page->magic++;
	CHECK_EQ(open_it(), -ENXIO);
	machine.page->magic--;
	wrong = machine.about;
	wrong.page_offset += BH_PAGE_BYTES;
	tell(&wrong, NULL);
	CHECK_EQ(open_it(), -ENXIO);
	wrong.page_offset = UINT64_C(0x100000); /* behind it */
	tell(&wrong, NULL);
	CHECK_EQ(open_it(), -ENXIO);
	tell(&machine.about, NULL);
	CHECK_EQ(bulkhead_memory_open(&memory, "speeds", root), -ENOENT);
	CHECK(memory == NULL);
	CHECK_EQ(open_it(), 0);
	close_machine();
	unlink(path_of("/dev/mem"));
	CHECK_EQ(open_it(), -ENOENT);
}

static void test_what_is_told_of_it(void)
{
	struct bulkhead_info info;

	meet(BH_CHANNEL_RING, 4, 1);
	other_sends("one");
	bulkhead_memory_ask(memory, &info);
	CHECK(strcmp(info.name, "speed") == 0 && strcmp(info.peer, "control") == 0);
	CHECK_EQ(info.kind, BULKHEAD_RING);
	CHECK_EQ(info.end, 1);
	CHECK_EQ(info.slots, 4);
	CHECK_EQ(info.slot_bytes, SLOT);
	CHECK_EQ(info.bytes, machine.about.bytes);
	CHECK_EQ(info.own_offset, machine.about.page_offset + BH_PAGE_BYTES);
	CHECK_EQ(info.own_bytes, BH_PAGE_BYTES);
	CHECK_EQ(info.page_offset, machine.about.page_offset);
	CHECK_EQ(info.features, BULKHEAD_IS_TERMINAL);
	CHECK(info.epoch == 1 && info.peer_epoch == 1 && info.peer_state == BULKHEAD_LIVES && info.connections == 1);
	CHECK(info.peer_sent == 1 && info.taken == 0);
	close_machine();
	meet(BH_CHANNEL_MAILBOX, 1, 0);
	bulkhead_memory_ask(memory, &info);
	CHECK_EQ(info.kind, BULKHEAD_MAILBOX);
	CHECK_EQ(info.own_offset, 0);
	CHECK_EQ(info.own_bytes, machine.about.page_offset);
	close_machine();
}

/* Of its own area each page is written; of the rest none can be, nor made so. */
static void test_only_the_own_area_can_be_written(void)
{
	for (unsigned side = 0; side < 2; side++) {
		struct bulkhead_info info;
		uint8_t *whole;

		check_context.round = side;
		meet(BH_CHANNEL_MAILBOX, 1, side);
		bulkhead_memory_ask(memory, &info);
		whole = bulkhead_memory_give(memory);
		for (uint64_t at = 0; at < info.bytes; at += BH_PAGE_BYTES) {
			const bool own = at >= info.own_offset && at < info.own_offset + info.own_bytes;

			CHECK_EQ(mprotect(whole + at, BH_PAGE_BYTES, PROT_READ | PROT_WRITE) == 0, own);
			if (!own)
				CHECK_EQ(errno, EACCES);
			else
				whole[at + BH_PAGE_BYTES - 1] = 1;
		}
		close_machine();
	}
	check_context.round = 0;
}

static void test_an_end_has_one_owner(void)
{
	struct bulkhead_memory *second = NULL;
	int status = 0;
	pid_t child;

	meet(BH_CHANNEL_RING, 4, 1);
	CHECK_EQ(bulkhead_memory_open(&second, "speed", root), -EBUSY);
	child = fork();
	if (child == 0)
		_exit(bulkhead_memory_open(&second, "speed", root) == -EBUSY ? 0 : 1);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	bulkhead_memory_close(memory);
	CHECK_EQ(open_it(), 0);
	/* A child has no counters. */
	child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		(void)bulkhead_memory_ready(memory);
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	/* Who closes it leaves no lock to a child that has the file open, too; and the child's own close takes none. */
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	bulkhead_memory_close(memory);
	CHECK_EQ(open_it(), 0);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	child = fork();
	if (child == 0) {
		const size_t bytes = machine.about.bytes;
		char *where = bulkhead_memory_give(memory), *other;

		other = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		bulkhead_memory_close(memory); /* where it was is something else */
		_exit(other == where && *(volatile char *)other == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(bulkhead_memory_open(&second, "speed", root), -EBUSY);
	close_machine();
}

/* The library's files of /dev/mem, which programs that are started must not have. Returns how many. */
static unsigned count_files(void)
{
	unsigned count = 0;
	char name[64], path[PATH_MAX];

	for (int file = 0; file < 64; file++) {
		ssize_t length;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
		length = readlink(name, path, sizeof(path) - 1);
		if (file == machine.file || length < 0)
			continue;
		path[length] = '\0';
		if (strcmp(path, path_of("/dev/mem")) != 0)
			continue;
		CHECK(fcntl(file, F_GETFD) & FD_CLOEXEC);
		count++;
	}
	return count;
}

static void test_no_file_is_left(void)
{
	meet(BH_CHANNEL_RING, 4, 1);
	CHECK_EQ(count_files(), 1);
	bulkhead_memory_close(memory);
	CHECK_EQ(count_files(), 0);
	machine.page->version++;
	CHECK_EQ(open_it(), -ENXIO);
	CHECK_EQ(count_files(), 0);
	memory = NULL;
	close_machine();
}

/* As a kernel with CONFIG_IO_STRICT_DEVMEM refuses what a driver has: mmap says EPERM, and to its caller somebody has it. */
static void test_what_a_driver_has_is_busy(void)
{
	char name[64];
	int sealed;

	open_machine(BH_CHANNEL_RING, 4, 1);
	sealed = memfd_create("channel", MFD_ALLOW_SEALING);
	CHECK(sealed >= 0);
	CHECK(ftruncate(sealed, (off_t)(ADDRESS + machine.about.bytes)) == 0);
	CHECK(pwrite(sealed, machine.memory, machine.about.bytes, ADDRESS) == (ssize_t)machine.about.bytes);
	CHECK(fcntl(sealed, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", sealed);
	CHECK(unlink(path_of("/dev/mem")) == 0 && symlink(name, path_of("/dev/mem")) == 0);
	CHECK_EQ(open_it(), -EBUSY);
	CHECK(unlink(path_of("/dev/mem")) == 0);
	close(sealed);
	close_machine();
}

/* What the monitor opens on request only the module can have: nothing is mapped. */
static void test_none_is_opened_on_request(void)
{
	open_machine(BH_CHANNEL_RING, 4, 1);
	machine.about.compatible = "bulkhead,channel-end-on-request-v1";
	tell(&machine.about, NULL);
	CHECK_EQ(open_it(), -EOPNOTSUPP);
	close_machine();
}

static void test_a_latest_value_has_as_many_owners_as_readers(void)
{
	struct bulkhead_memory *reader[3] = { NULL };
	struct bulkhead_info info;

	open_machine(BH_CHANNEL_LATEST, bh_latest_slots(2), 1);
	for (unsigned n = 0; n < 2; n++) {
		CHECK_EQ(bulkhead_memory_open(&reader[n], "speed", root), 0);
		bulkhead_memory_ask(reader[n], &info);
		CHECK_EQ(info.reader, n);
	}
	CHECK_EQ(bulkhead_memory_open(&reader[2], "speed", root), -EBUSY);
	/* Each says its own pair. */
	CHECK_EQ(bh_end_look(&machine.other), BH_END_NEW);
	CHECK_EQ(bh_latest_write(&machine.other, "fifty", 5), BH_END_OK);
	CHECK_EQ(bh_latest_write(&machine.other, "sixty", 5), BH_END_OK);
	memory = reader[1];
	check_came("sixty", 1);
	CHECK_EQ(machine.other.peer->reading[0], 0);
	CHECK_EQ(machine.other.peer->reading[1], machine.other.own->latest);
	CHECK(machine.other.own->latest != 0);
	bulkhead_memory_close(reader[0]);
	CHECK_EQ(bulkhead_memory_open(&reader[0], "speed", root), 0);
	bulkhead_memory_close(reader[0]);
	close_machine();
	meet(BH_CHANNEL_LATEST, bh_latest_slots(2), 0); /* its writer is one */
	CHECK_EQ(bulkhead_memory_open(&reader[0], "speed", root), -EBUSY);
	close_machine();
}

/* ---- Messages ------------------------------------------------------------------------------------------------------------------------ */

static void test_a_ring_is_read(void)
{
	struct bulkhead_message message;

	meet(BH_CHANNEL_RING, 4, 1);
	CHECK_EQ(receive(ROOM, 0, &message), -EAGAIN);
	CHECK_EQ(bulkhead_memory_ready(memory), 0);
	other_sends("one");
	other_sends("three");
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN);
	check_came("one", 0);
	CHECK_EQ(receive(4, 0, &message), -EMSGSIZE);
	CHECK_EQ(message.length, 5);
	check_came("three", 1); /* it stayed */
	CHECK_EQ(receive(ROOM, 0, &message), -EAGAIN);
	CHECK_EQ(machine.other.peer->taken, 2);
	CHECK_EQ(send("no", 0), -EINVAL);
	bulkhead_memory_set_checked(memory, 1);
	other_sends("without a CRC");
	CHECK_EQ(receive(ROOM, 0, &message), -EBADMSG);
	CHECK_EQ(machine.other.peer->taken, 3);
	other_sends("last");
	bulkhead_memory_set_checked(memory, 0);
	machine.page->end[0].state = BH_CHANNEL_GONE;
	check_came("last", 3);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN | POLLHUP);
	CHECK_EQ(receive(ROOM, 0, &message), -EPIPE);
	close_machine();
}

static void test_a_ring_is_written(void)
{
	static const char too_long[SLOT + 2] = { [0 ... SLOT] = 'x' };
	struct bh_message message;

	meet(BH_CHANNEL_RING, 2, 0);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLOUT);
	CHECK_EQ(send("left", BH_CHANNEL_START), 0);
	CHECK_EQ(send(too_long, 0), -EMSGSIZE);
	CHECK_EQ(send("no", BH_CHANNEL_CHECKED), -EINVAL);
	CHECK_EQ(send(too_long + 1, BH_CHANNEL_END), 0);
	CHECK_EQ(*(const uint8_t *)bh_peer_slot(&machine.other, 2), 0); /* where it would have gone on */
	CHECK_EQ(bulkhead_memory_ready(memory), 0);
	CHECK_EQ(send("full", 0), -EAGAIN);
	CHECK_EQ(bh_ring_peek(&machine.other, &message), BH_END_OK);
	CHECK(message.length == 4 && message.flags == BH_CHANNEL_START && memcmp(message.data, "left", 4) == 0);
	CHECK_EQ(bh_ring_release(&machine.other), BH_END_OK);
	CHECK_EQ(bh_ring_peek(&machine.other, &message), BH_END_OK);
	CHECK(message.length == SLOT && message.flags == BH_CHANNEL_END);
	CHECK_EQ(send("room", 0), 0);
	machine.page->end[1].state = BH_CHANNEL_GONE;
	CHECK_EQ(bulkhead_memory_ready(memory), POLLOUT | POLLHUP);
	CHECK_EQ(send("anybody", 0), -EPIPE);
	close_machine();
}

static void test_a_mailbox(void)
{
	struct bulkhead_message message;
	struct bh_message theirs;

	meet(BH_CHANNEL_MAILBOX, 1, 0);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLOUT);
	CHECK_EQ(send("order", BH_CHANNEL_START | BH_CHANNEL_END), 0);
	CHECK_EQ(bulkhead_memory_ready(memory), 0);
	CHECK_EQ(send("again", 0), -EAGAIN);
	CHECK_EQ(bh_mailbox_receive(&machine.other, data, ROOM, &theirs), BH_END_OK);
	CHECK(theirs.length == 5 && memcmp(data, "order", 5) == 0);
	CHECK_EQ(bh_mailbox_send(&machine.other, "why", 3, 0), BH_END_OK);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN);
	CHECK_EQ(send("because", 0), -EAGAIN);
	CHECK_EQ(receive(2, 0, &message), -EMSGSIZE);
	CHECK_EQ(message.length, 3);
	check_came("why", 0);
	CHECK_EQ(send("because", 0), 0);
	machine.page->end[1].state = BH_CHANNEL_GONE; /* with the last one in hand */
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN | POLLOUT | POLLHUP);
	CHECK_EQ(receive(ROOM, 0, &message), -EPIPE);
	CHECK_EQ(send("anybody", 0), -EPIPE);
	close_machine();
}

static void test_a_latest_value(void)
{
	struct bulkhead_message message;

	meet(BH_CHANNEL_LATEST, bh_latest_slots(1), 1);
	CHECK_EQ(receive(ROOM, BULKHEAD_AGAIN, &message), -EAGAIN);
	CHECK_EQ(bh_latest_write(&machine.other, "fifty", 5), BH_END_OK);
	CHECK_EQ(bh_latest_write(&machine.other, "sixty", 5), BH_END_OK);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN);
	check_came("sixty", 1);
	CHECK_EQ(bulkhead_memory_ready(memory), 0);
	memset(data, 'x', sizeof(data));
	CHECK_EQ(receive(ROOM, 0, &message), -EAGAIN); /* and the buffer is as it was */
	CHECK_EQ(data[0], 'x');
	CHECK_EQ(receive(ROOM, BULKHEAD_AGAIN, &message), 0);
	CHECK(message.number == 1 && message.length == 5 && memcmp(data, "sixty", 5) == 0);
	machine.other.own->sent = 1; /* as if it were being written: that it is there is known before it counts */
	CHECK_EQ(receive(ROOM, 0, &message), -EAGAIN);
	CHECK_EQ(bulkhead_memory_ready(memory), 0); /* or who polls would ask again and again until its writer goes on */
	CHECK_EQ(send("no", 0), -EINVAL);
	machine.other.own->sent = 2;
	machine.page->end[0].state = BH_CHANNEL_GONE;
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN | POLLHUP);
	CHECK_EQ(receive(ROOM, 0, &message), -EPIPE);
	close_machine();

	meet(BH_CHANNEL_LATEST, bh_latest_slots(1), 0);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLOUT);
	CHECK_EQ(send("no", BH_CHANNEL_CHECKED), -EINVAL);
	CHECK_EQ(send("seventy", 0), 0);
	CHECK_EQ(bh_latest_read(&machine.other, data, ROOM, &(struct bh_message){ 0 }), BH_END_OK);
	CHECK(memcmp(data, "seventy", 7) == 0);
	CHECK_EQ(receive(ROOM, 0, &message), -EINVAL);
	machine.page->end[1].state = BH_CHANNEL_GONE;
	CHECK_EQ(bulkhead_memory_ready(memory), POLLOUT | POLLHUP);
	CHECK_EQ(send("eighty", 0), -EPIPE);
	close_machine();
}

/* ---- Lives --------------------------------------------------------------------------------------------------------------------------- */

static void test_a_new_life_is_told_of_once(void)
{
	struct bulkhead_message message;

	meet(BH_CHANNEL_RING, 4, 1); /* the first one is not */
	live_anew(0);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLERR | POLLIN | POLLOUT);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLERR | POLLIN | POLLOUT); /* until it is heard */
	CHECK_EQ(receive(ROOM, 0, &message), -ECONNRESET);
	CHECK_EQ(receive(ROOM, 0, &message), -EAGAIN);
	CHECK_EQ(bh_end_attach(&machine.other, machine.memory, machine.about.bytes, (uint32_t)machine.about.page_offset, 0), BH_END_OK);
	CHECK_EQ(bh_end_look(&machine.other), BH_END_NEW);
	CHECK_EQ(bh_end_look(&machine.other), BH_END_OK);
	other_sends("new");
	check_came("new", 0);
	close_machine();

	meet(BH_CHANNEL_RING, 4, 0); /* who sends is told, too */
	live_anew(1);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLERR | POLLIN | POLLOUT);
	CHECK_EQ(send("old", 0), -ECONNRESET);
	CHECK_EQ(send("old", 0), -EAGAIN);
	close_machine();

	meet(BH_CHANNEL_RING, 4, 0);
	live_anew(1);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLERR | POLLIN | POLLOUT); /* has seen it, and told of no more than that */
	CHECK_EQ(send("lost", 0), -ECONNRESET);
	CHECK_EQ(send("lost", 0), -EAGAIN);
	close_machine();
}

static void test_an_end_goes_on_where_the_program_before_stopped(void)
{
	meet(BH_CHANNEL_RING, 4, 1);
	other_sends("one");
	other_sends("two");
	check_came("one", 0);
	bulkhead_memory_close(memory);
	CHECK_EQ(open_it(), 0);
	check_came("two", 1);
	close_machine();
}

static void test_in_place(void)
{
	struct bulkhead_message message;
	struct bulkhead_info info;
	struct bh_message theirs;
	struct bh_end end;
	void *whole;

	meet(BH_CHANNEL_RING, 4, 1);
	bulkhead_memory_ask(memory, &info);
	whole = bulkhead_memory_give(memory);
	CHECK_EQ(bh_end_attach(&end, whole, info.bytes, info.page_offset, info.end), BH_END_OK);
	CHECK_EQ(receive(ROOM, 0, &message), -EBUSY);
	CHECK_EQ(send("no", 0), -EBUSY);
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN | POLLOUT); /* all is new to who asks first */
	CHECK_EQ(bulkhead_memory_ready(memory), 0);
	other_sends("one");
	CHECK_EQ(bulkhead_memory_ready(memory), POLLIN | POLLOUT);
	CHECK_EQ(bulkhead_memory_ready(memory), 0);
	CHECK_EQ(bh_end_look(&end), BH_END_NEW);
	CHECK_EQ(bh_ring_peek(&end, &theirs), BH_END_OK);
	CHECK(theirs.length == 3 && memcmp(theirs.data, "one", 3) == 0);
	close_machine();
}

int main(void)
{
	begin_root();
	test_what_lies_there_is_looked_at();
	test_what_is_told_of_it();
	test_only_the_own_area_can_be_written();
	test_an_end_has_one_owner();
	test_no_file_is_left();
	test_what_a_driver_has_is_busy();
	test_none_is_opened_on_request();
	test_a_latest_value_has_as_many_owners_as_readers();
	test_a_ring_is_read();
	test_a_ring_is_written();
	test_a_mailbox();
	test_a_latest_value();
	test_a_new_life_is_told_of_once();
	test_an_end_goes_on_where_the_program_before_stopped();
	test_in_place();
	return end_root();
}
