/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A channel as this module has it: one character device for the end that its sandbox is, and for all readers of a latest value.
 *
 *   main.c   finds channels in the device tree or in ACPI, and shows them in sysfs
 *   reach.c  its memory: when the monitor opens it, when it is mapped
 *   end.c    one message, with the lock held, never waiting
 *   watch.c  waiting: a timer that looks while somebody waits, seldom where there is a doorbell
 *   ring.c   calls of the monitor, and ringing the other end
 *   file.c   what programs call
 */
#pragma once
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "channel_try.h"
#include "channel_wait.h"
#include "bulkhead.h"

/* An open file: the end's owner, or reader n of a latest value. */
enum { CHANNEL_FILES = BH_CHANNEL_MOST_READERS };
struct channel_file {
	struct channel *channel;
	struct mutex lock; /* of what follows, but for `mapped`: readers never wait for one another */
	struct bh_end end;
	struct try_news news;
	bool mapped;  /* a program has mapped it since it was opened: the end is the program's */
	void *buffer; /* one slot, from open to release */
	struct channel_words polled;
};

/* What never changes, whether it is reached or not: as in struct bh_end. */
struct channel_shape {
	enum bh_end_role role;
	u32 slots, slot_bytes, readers;
};

struct channel {
	struct miscdevice misc;
	struct device *dev;
	const char *name;
	const char *peer;
	phys_addr_t start;
	size_t bytes;
	u32 page_offset;
	u32 side;
	struct channel_shape shape;
	bool is_terminal, is_telemetry, on_request;
	size_t own_offset, own_bytes;

	struct mutex holding;
	unsigned int holders; /* while it is not 0 the next two stay as they are, and who is one of them needs no lock */
	void *memory;         /* NULL: nobody reaches it */
	struct bh_end first;  /* attached, or detached: where everything lies, for who looks without the lock of a file */

	unsigned long opened; /* bit n: files[n] */
	struct channel_file files[CHANNEL_FILES];

	int doorbell;         /* an interrupt line; 0: it is never rung */
	u32 number;           /* for calls of the monitor */
	u32 gap_us;           /* how long it does not ring again; 0: it never rings */
	struct hrtimer later; /* rings what came too soon */
	wait_queue_head_t waiters;
	spinlock_t watch_lock; /* of what follows */
	struct hrtimer timer;
	bool watching; /* the timer runs, or its function has not decided yet that it stops */
	struct channel_words seen;
};

/* ---- reach.c ------------------------------------------------------------------------------------------------------------------------- */

/*
 * Reaches its memory for one more who does, opened, mapped and attached, until channel_let_go. May sleep.
 * Returns 0; -EACCES if the monitor refuses; -ENOMEM; -EINVAL if it is no channel, or another one than was said. Then nothing has changed.
 */
int channel_hold(struct channel *channel);
/* Requires: nobody waits, if it is the last one. */
void channel_let_go(struct channel *channel);

/* ---- end.c: with file->lock held. Each returns 0 or more, or -errno; -EAGAIN if it would have to wait ---------------------------- */

int channel_attach(struct channel_file *file);
/* `data`: of the program's. Returns how many bytes there were; with -EMSGSIZE `message->length` says how many there are. */
int channel_receive(struct channel_file *file, void __user *data, size_t room, bool again, struct bh_message *message);
int channel_send(struct channel_file *file, const void __user *data, size_t length, u32 flags);
__poll_t channel_ready(struct channel_file *file);

/* ---- ring.c -------------------------------------------------------------------------------------------------------------------------- */

/* A call of abi/guest.h with one argument. Returns enum bh_result. */
long channel_call(unsigned long function, u32 number);
void channel_ring_init(struct channel *channel);
void channel_ring_end(struct channel *channel);
/* Something was sent, or taken: rings the other end if it waits, now or as soon as it may. */
void channel_ring(struct channel *channel);

/* ---- watch.c ------------------------------------------------------------------------------------------------------------------------- */

void channel_watch_init(struct channel *channel);
/* Nobody waits any more; it can begin again. */
void channel_watch_end(struct channel *channel);
int channel_watch_doorbell(struct channel *channel, struct platform_device *device);
void channel_look(const struct channel *channel, struct channel_words *words);
/* Sees to it that waiters are woken when a word changes. They are in the queue, or look once more when they are. */
void channel_watch(struct channel *channel);
/* Waits until a word is another one than `before`. Returns 0 or -ERESTARTSYS. */
int channel_wait(struct channel *channel, const struct channel_words *before);
/* An own operation may have made room, or a message. */
void channel_wake(struct channel *channel);

/* ---- file.c -------------------------------------------------------------------------------------------------------------------------- */

extern const struct file_operations channel_file_operations;
void channel_describe(const struct channel_file *file, struct bulkhead_info *info);
