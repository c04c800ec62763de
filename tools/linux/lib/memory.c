// SPDX-License-Identifier: Apache-2.0
/*
 * What module/end.c and module/file.c do in the kernel, in the program: one end, one owner, and nothing writable but its own area.
 *
 * An owner holds a lock on one byte of /dev/mem, the channel's first; reader n of a latest value on the n-th after it. Locks are of the open
 * file: one program cannot have an end twice, either, and one that ends without closing leaves it to children that it has forked.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channel_inline.h"
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

enum { WORDS = 10 };
struct words {
	uint32_t word[WORDS];
};

struct bulkhead_memory {
	struct bulkhead_description about;
	int file; /* /dev/mem, with the lock */
	uint8_t *whole;
	size_t own_offset, own_bytes;
	uint32_t reader;
	pid_t owner; /* who has opened it: a child that closes its copy leaves the lock */
	struct bh_end end;
	bool fresh;    /* no connection has begun since it was opened: the first one loses nothing */
	bool reset;    /* another one has begun, and the program was not told yet */
	bool in_place; /* the end is the program's */
	struct words polled;
};

static int error_of(struct bulkhead_memory *memory, enum bh_end_result result)
{
	switch (result) {
	case BH_END_OK:
		return 0;
	case BH_END_AGAIN:
		return -EAGAIN;
	case BH_END_NEW:
		if (!memory->fresh)
			return -ECONNRESET;
		memory->fresh = false;
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

/* Takes part in a new connection, if there is one. Returns whether one has begun that the program is to be told of. */
static bool was_reset(struct bulkhead_memory *memory)
{
	if (error_of(memory, bh_end_look(&memory->end)) == -ECONNRESET)
		memory->reset = true;
	return memory->reset;
}

static struct words look(const struct bulkhead_memory *memory)
{
	const struct bh_end *end = &memory->end;
	const uint32_t *const watched[WORDS] = {
		&end->own_life->epoch, &end->peer_life->epoch, &end->peer_life->state, &end->peer->epoch, &end->peer->peer,
		&end->peer->sent,      &end->peer->taken,      &end->peer->latest,     &end->own->sent,   &end->own->taken,
	};
	struct words words;

	for (unsigned n = 0; n < WORDS; n++)
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
		error = error_of(memory,
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
	memory->fresh = true;
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

/* From the slot into the program's memory: the one copy that there is. */
static enum bh_end_result receive_from_ring(struct bh_end *end, void *data, uint32_t room, struct bh_message *message)
{
	enum bh_end_result result = bh_ring_peek(end, message), released;

	if (result == BH_END_OK && message->length > room)
		return BH_END_SIZE;
	if (result == BH_END_OK)
		bh_copy_from_slot(data, message->data, message->length);
	if (result != BH_END_OK && result != BH_END_CHECK)
		return result;
	released = bh_ring_release(end);
	return result == BH_END_OK ? released : result;
}

static enum bh_end_result receive_latest(struct bh_end *end, void *data, uint32_t room, bool again, struct bh_message *message)
{
	const bool started = end->started;
	const uint32_t known = end->taken;
	enum bh_end_result result = again ? BH_END_OK : may_receive(end);

	if (result == BH_END_OK)
		result = bh_latest_read(end, data, room, message);
	return result == BH_END_OK && started && end->taken == known && !again ? BH_END_AGAIN : result;
}

static int receive_one(struct bulkhead_memory *memory, void *data, uint32_t room, bool again, struct bh_message *message)
{
	struct bh_end *end = &memory->end;

	switch (end->role) {
	case BH_END_RING_READER:
		return error_of(memory, receive_from_ring(end, data, room, message));
	case BH_END_MAILBOX:
		return error_of(memory, bh_mailbox_receive(end, data, room, message));
	case BH_END_LATEST_READER:
		return error_of(memory, receive_latest(end, data, room, again, message));
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
	if (was_reset(memory)) {
		memory->reset = false;
		return -ECONNRESET;
	}
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

static enum bh_end_result send_one(struct bh_end *end, const void *data, uint32_t length, uint32_t flags)
{
	switch (end->role) {
	case BH_END_RING_SENDER:
		return send_to_ring(end, data, length, flags);
	case BH_END_MAILBOX:
		return bh_mailbox_send(end, data, length, flags);
	case BH_END_LATEST_WRITER:
		return bh_latest_write(end, data, length);
	default:
		return BH_END_INVALID;
	}
}

int bulkhead_memory_send(struct bulkhead_memory *memory, const struct bulkhead_message *message)
{
	if (memory->in_place)
		return -EBUSY;
	if (was_reset(memory)) {
		memory->reset = false;
		return -ECONNRESET;
	}
	if (!bh_flags_valid(message->flags))
		return -EINVAL;
	if (message->length > memory->end.slot_bytes)
		return -EMSGSIZE;
	return error_of(memory, send_one(&memory->end, (const void *)(uintptr_t)message->data, message->length, message->flags));
}

/* ---- What would not have to wait ----------------------------------------------------------------------------------------------------- */

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

static short ready_for(enum bh_end_result result, short open)
{
	switch (result) {
	case BH_END_OK:
		return open;
	case BH_END_GONE:
		return (short)(open | POLLHUP);
	case BH_END_NEW:
	case BH_END_BROKEN:
		return (short)(open | POLLERR);
	default:
		return 0;
	}
}

short bulkhead_memory_ready(struct bulkhead_memory *memory)
{
	if (memory->in_place) { /* it is the program that knows what it has read: it is told of a change since it last asked */
		const struct words now = look(memory);
		const bool changed = memcmp(&now, &memory->polled, sizeof(now)) != 0;

		memory->polled = now;
		return changed ? POLLIN | POLLOUT : 0;
	}
	if (was_reset(memory))
		return POLLERR | POLLIN | POLLOUT;
	return (short)(ready_for(may_receive(&memory->end), POLLIN) | ready_for(may_send(&memory->end), POLLOUT));
}

/* ---- The rest ------------------------------------------------------------------------------------------------------------------------ */

static uint32_t kind_of(const struct bh_end *end)
{
	if (end->role == BH_END_MAILBOX)
		return BULKHEAD_MAILBOX;
	return end->role == BH_END_RING_SENDER || end->role == BH_END_RING_READER ? BULKHEAD_RING : BULKHEAD_LATEST;
}

void bulkhead_memory_ask(const struct bulkhead_memory *memory, struct bulkhead_info *info)
{
	const struct bulkhead_description *about = &memory->about;
	const struct bh_end *end = &memory->end;

	*info = (struct bulkhead_info){
		.kind = kind_of(end),
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
