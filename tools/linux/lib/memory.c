// SPDX-License-Identifier: Apache-2.0
/*
 * What module/end.c and module/file.c do in the kernel, in the program: one end, one owner, and nothing writable but its own area.
 *
 * An owner holds a lock on one byte of /dev/mem, the channel's first; reader n of a latest value on the n-th after it. Locks are of the
 * open file: one program cannot have an end twice, either, and one that ends without closing leaves it to children that it has forked.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channel_try.h"
#include "description.h"
#include "memory.h"

#define MEMORY "/dev/mem"

/*
 * What is no RAM of its own Linux maps as Device memory on ARM, and writes back on a PC, as MTRRs say. The other end has it as memory that
 * is written back: docs/decisions/channels.md, BH-D1118.
 */
#if defined(__x86_64__) || defined(__i386__)
enum { IS_WRITTEN_BACK = 1 };
#else
enum { IS_WRITTEN_BACK = 0 };
#endif

static_assert(TRY_POLLERR == POLLERR && TRY_POLLHUP == POLLHUP, "events of poll(2)");

struct bulkhead_memory {
	struct bulkhead_description about;
	int file; /* /dev/mem, with the lock */
	uint8_t *whole;
	size_t own_offset, own_bytes;
	uint32_t reader;
	pid_t owner; /* who has opened it: a child that closes its copy leaves the lock */
	struct bh_end end;
	struct try_news news;
	bool in_place; /* the end is the program's */
	struct channel_words polled;
};

static struct channel_words look(const struct bulkhead_memory *memory)
{
	const uint32_t *watched[CHANNEL_WORDS];
	struct channel_words words;

	try_find_words(&memory->end, watched);
	for (unsigned n = 0; n < CHANNEL_WORDS; n++)
		words.word[n] = __atomic_load_n(watched[n], __ATOMIC_ACQUIRE);
	return words;
}

/* ---- Opening ------------------------------------------------------------------------------------------------------------------------- */

static int map_part(void *place, size_t bytes, int protection, int file, uint64_t address, void **mapped)
{
	*mapped = mmap(place, bytes, protection, MAP_SHARED | (place ? MAP_FIXED : 0), file, (off_t)address);
	if (*mapped != MAP_FAILED)
		return 0;
	return errno == EPERM ? -EBUSY : -errno; /* CONFIG_IO_STRICT_DEVMEM: a driver has it */
}

/* By a file that is open for reading: what it maps can never be made writable. */
static int map_whole(struct bulkhead_memory *memory, const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC); /* with O_SYNC it would be mapped uncached */
	void *whole;
	int error;

	if (file < 0)
		return -errno;
	error = map_part(NULL, memory->about.bytes, PROT_READ, file, memory->about.address, &whole);
	close(file);
	if (!error)
		memory->whole = whole;
	return error;
}

/* Looks whether it is the channel that was described. What is compared no end can write. */
static int attach(struct bulkhead_memory *memory)
{
	const struct bulkhead_description *about = &memory->about;
	const struct bh_channel *page = (const void *)(memory->whole + about->page_offset);

	if (bh_end_attach(&memory->end, memory->whole, about->bytes, about->page_offset, about->end) != BH_END_OK)
		return -ENXIO;
	return strncmp((const char *)page->name, about->name, sizeof(page->name)) == 0 ? 0 : -ENXIO;
}

static int take_lock(struct bulkhead_memory *memory)
{
	const uint32_t owners = memory->end.role == BH_END_LATEST_READER ? memory->end.readers : 1;

	for (memory->reader = 0; memory->reader < owners; memory->reader++) {
		struct flock lock = { .l_type = F_WRLCK, .l_start = (off_t)(memory->about.address + memory->reader), .l_len = 1 };

		if (fcntl(memory->file, F_OFD_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
	}
	return -EBUSY;
}

/* Not by closing alone: a child may have the file open, too. What was never locked is given back likewise. */
static void give_lock(const struct bulkhead_memory *memory)
{
	struct flock lock = { .l_type = F_UNLCK, .l_start = (off_t)(memory->about.address + memory->reader), .l_len = 1 };

	(void)fcntl(memory->file, F_OFD_SETLK, &lock);
}

static int map_own(struct bulkhead_memory *memory)
{
	const struct bulkhead_description *about = &memory->about;
	void *own;
	int error;

	memory->own_offset = about->end ? about->page_offset + BH_PAGE_BYTES : 0;
	memory->own_bytes = about->end ? about->bytes - memory->own_offset : about->page_offset;
	error = map_part(memory->whole + memory->own_offset, memory->own_bytes, PROT_READ | PROT_WRITE, memory->file,
			 about->address + memory->own_offset, &own);
	if (!error && memory->reader)
		error = try_error(&memory->news,
				  bh_end_attach_reader(&memory->end, memory->whole, about->bytes, about->page_offset, memory->reader));
	/* Counters of an end are in its process: a child that went on with a copy of them would break the protocol. */
	if (!error && madvise(memory->whole, about->bytes, MADV_DONTFORK))
		error = -errno;
	return error;
}

static int open_all(struct bulkhead_memory *memory, const char *path)
{
	int error = map_whole(memory, path);

	if (!error)
		error = attach(memory);
	if (!error) {
		memory->file = open(path, O_RDWR | O_CLOEXEC);
		error = memory->file < 0 ? -errno : take_lock(memory);
	}
	return error ? error : map_own(memory);
}

int bulkhead_memory_open(struct bulkhead_memory **opened, const char *name, const char *root)
{
	struct bulkhead_memory *memory = calloc(1, sizeof(*memory));
	char path[PATH_MAX];
	int error;

	if (!memory)
		return -ENOMEM;
	memory->file = -1;
	memory->owner = getpid();
	error = bulkhead_describe(&memory->about, name, root);
	if (!error && (!IS_WRITTEN_BACK || memory->about.on_request || sysconf(_SC_PAGESIZE) != BH_PAGE_BYTES))
		error = -EOPNOTSUPP;
	if (!error && memory->about.bytes > SIZE_MAX)
		error = -EFBIG;
	if (!error) {
		snprintf(path, sizeof(path), "%s" MEMORY, root);
		error = open_all(memory, path);
	}
	if (error) {
		bulkhead_memory_close(memory);
		return error;
	}
	memory->news.fresh = true;
	bulkhead_memory_ready(memory); /* takes part from now on, so that the other end need not wait for the first message */
	*opened = memory;
	return 0;
}

void bulkhead_memory_close(struct bulkhead_memory *memory)
{
	const bool is_owner = getpid() == memory->owner; /* a child has nothing there, or something else by now */

	if (memory->whole && is_owner)
		munmap(memory->whole, memory->about.bytes);
	if (memory->file >= 0 && is_owner)
		give_lock(memory);
	if (memory->file >= 0)
		close(memory->file);
	free(memory);
}

/* ---- Receiving ----------------------------------------------------------------------------------------------------------------------- */

/* From the slot into the program's memory: the one copy that there is. */
static enum bh_end_result receive_from_ring(struct bh_end *end, void *data, uint32_t room, struct bh_message *message)
{
	const enum bh_end_result result = try_show(end, room, message);

	if (result != BH_END_OK)
		return result;
	bh_copy_from_slot(data, message->data, message->length);
	return bh_ring_release(end);
}

/* What there is none of is not read: the program's memory stays as it is. */
static enum bh_end_result receive_latest(struct bh_end *end, void *data, uint32_t room, bool again, struct bh_message *message)
{
	const enum bh_end_result result = again ? BH_END_OK : try_may_receive(end);

	return result == BH_END_OK ? try_latest(end, data, room, again, message) : result;
}

static int receive_one(struct bulkhead_memory *memory, void *data, uint32_t room, bool again, struct bh_message *message)
{
	struct bh_end *end = &memory->end;

	switch (end->role) {
	case BH_END_RING_READER:
		return try_error(&memory->news, receive_from_ring(end, data, room, message));
	case BH_END_MAILBOX:
		return try_error(&memory->news, bh_mailbox_receive(end, data, room, message));
	case BH_END_LATEST_READER:
		return try_error(&memory->news, receive_latest(end, data, room, again, message));
	default:
		return -EINVAL;
	}
}

int bulkhead_memory_receive(struct bulkhead_memory *memory, struct bulkhead_message *message)
{
	struct bh_message came = { .length = 0 };
	int error;

	if (memory->in_place)
		return -EBUSY;
	error = try_tell_reset(&memory->end, &memory->news);
	if (error)
		return error;
	error = receive_one(memory, (void *)(uintptr_t)message->data, message->length, message->options & BULKHEAD_AGAIN, &came);
	if (!error || error == -EMSGSIZE) {
		message->length = came.length;
		message->flags = came.flags;
		message->number = came.number;
	}
	return error;
}

/* ---- Sending ------------------------------------------------------------------------------------------------------------------------- */

static enum bh_end_result send_to_ring(struct bh_end *end, const void *data, uint32_t length, uint32_t flags)
{
	enum bh_end_result result;
	void *slot;

	result = bh_ring_reserve(end, &slot);
	if (result != BH_END_OK)
		return result;
	bh_copy_to_slot(slot, data, length);
	return bh_ring_send(end, length, flags);
}

int bulkhead_memory_send(struct bulkhead_memory *memory, const struct bulkhead_message *message)
{
	struct bh_end *end = &memory->end;
	const void *data = (const void *)(uintptr_t)message->data;
	int error;

	if (memory->in_place)
		return -EBUSY;
	error = try_tell_reset(end, &memory->news);
	if (!error)
		error = try_error(&memory->news, try_fits(end, message->length, message->flags));
	if (error)
		return error;
	return try_error(&memory->news, end->role == BH_END_RING_SENDER ? send_to_ring(end, data, message->length, message->flags)
									: try_send_copy(end, data, message->length, message->flags));
}

/* ---- What would not have to wait ----------------------------------------------------------------------------------------------------- */

short bulkhead_memory_ready(struct bulkhead_memory *memory)
{
	if (memory->in_place) { /* it is the program that knows what it has read: it is told of a change since it last asked */
		const struct channel_words now = look(memory);
		const bool changed = memcmp(&now, &memory->polled, sizeof(now)) != 0;

		memory->polled = now;
		return changed ? POLLIN | POLLOUT : 0;
	}
	return (short)try_ready(&memory->end, &memory->news, POLLIN, POLLOUT);
}

/* ---- The rest ------------------------------------------------------------------------------------------------------------------------ */

void bulkhead_memory_ask(const struct bulkhead_memory *memory, struct bulkhead_info *info)
{
	const struct bulkhead_description *about = &memory->about;
	const struct bh_end *end = &memory->end;

	*info = (struct bulkhead_info){
		.kind = try_kind_of(end->role),
		.end = about->end,
		.slots = end->slots,
		.slot_bytes = end->slot_bytes,
		.bytes = about->bytes,
		.own_offset = memory->own_offset,
		.own_bytes = memory->own_bytes,
		.page_offset = about->page_offset,
		.features = about->features,
		.epoch = __atomic_load_n(&end->own_life->epoch, __ATOMIC_RELAXED),
		.peer_epoch = __atomic_load_n(&end->peer_life->epoch, __ATOMIC_RELAXED),
		.peer_state = __atomic_load_n(&end->peer_life->state, __ATOMIC_RELAXED),
		.sent = __atomic_load_n(&end->own->sent, __ATOMIC_RELAXED),
		.taken = __atomic_load_n(&end->own->taken, __ATOMIC_RELAXED),
		.peer_sent = __atomic_load_n(&end->peer->sent, __ATOMIC_RELAXED),
		.peer_taken = __atomic_load_n(&end->peer->taken, __ATOMIC_RELAXED),
		.connections = end->connections,
		.refused = end->refused,
		.reader = memory->reader,
	};
	memcpy(info->name, about->name, sizeof(info->name));
	memcpy(info->peer, about->peer, sizeof(info->peer));
}

void bulkhead_memory_set_checked(struct bulkhead_memory *memory, int checked)
{
	bh_end_set_checked(&memory->end, checked != 0);
}

void *bulkhead_memory_give(struct bulkhead_memory *memory)
{
	memory->in_place = true;
	return memory->whole;
}
