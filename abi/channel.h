/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel: memory that exactly two sandboxes share, so that end 0 (`from`) sends to end 1 (`to`). How it lies there, to the bit; how it
 * is used is channel_inline.h. The rules of guest.h: fixed sizes, little-endian, naturally aligned.
 *
 *   0                        area_bytes[0]         + 4096                    + area_bytes[1]
 *   ├────────────────────────┼─────────────────────┼─────────────────────────┤
 *   │ area of end 0          │ struct bh_channel   │ area of end 1           │
 *   └────────────────────────┴─────────────────────┴─────────────────────────┘
 *     end 0 writes, 1 reads    monitors write,       end 1 writes, 0 reads
 *                              both ends read
 *
 * Each end maps all of it, in one piece (BH_GRANT_CHANNEL), and can write its own area alone. So nobody forges the other's words, nor the
 * states and epochs, which each end's own monitor writes. An area is a struct bh_channel_control, then slots of slot_stride bytes, each a
 * struct bh_channel_slot and slot_bytes of data:
 *
 *   kind      slots of end 0   slots of end 1
 *   MAILBOX   1                1                 half duplex: an end sends when it has taken all of the other, and that all of it
 *   RING      `slots`          0                 slot n % slots holds message n
 *   LATEST    2 * readers + 2  0                 the four-slot mechanism (H. Simpson, IEE Proceedings 137 E, 1990), for one reader or more
 *
 * Readers of a latest value are threads or processes of end 1, each with a number. The slots are pairs, one more than readers. A reader
 * says which pair it reads. The writer takes a pair that no reader says, and of that pair the slot that does not hold its newest value. A
 * pair that a reader has said is taken by one write more at most, which had begun before: that one writes the other slot, and so the
 * reader's value stays whole until it says another pair.
 *
 * A connection is two lives of the two ends: (epoch of end 0, epoch of end 1). An end that finds a new epoch of the other takes part in a
 * new connection: it clears its counters, then says so in its control. It sends, and reads slots, while both have said the same. So who
 * reads in one connection never sees what was written in another, and what was under way is lost, with its connection.
 */
#pragma once
#include "guest.h"

enum {
	BH_CHANNEL_MAGIC = 0x48434842 /* "BHCH" */,
	BH_CHANNEL_VERSION = 1,
	BH_CHANNEL_LINE = 64, /* bytes that ends write and read together */
	BH_CHANNEL_MOST_SLOTS = 1024,
	BH_CHANNEL_MOST_SLOT_BYTES = 1 << 20,
	BH_CHANNEL_MOST_READERS = 7, /* of a latest value */
};
enum bh_channel_kind { BH_CHANNEL_MAILBOX, BH_CHANNEL_RING, BH_CHANNEL_LATEST, BH_CHANNEL_KINDS };

/* Of an end, by its monitor. */
enum bh_channel_state {
	BH_CHANNEL_COMING, /* it has not begun */
	BH_CHANNEL_LIVES,
	BH_CHANNEL_GONE,   /* for good */
	BH_CHANNEL_CLOSED, /* of BH_CHANNEL_ON_REQUEST: it does not reach the channel. What it has sent can be read */
};
struct bh_channel_end {
	uint32_t epoch; /* of its life, or since it was opened, from 1 on, 0 before; `peer` of its control is cleared before it changes,
			   `state` is written after it */
	uint32_t state; /* enum bh_channel_state */
	uint32_t sandbox;
	uint32_t vector; /* x86: at which it is rung, as its guest has its I/O APIC; 0: not at all. Elsewhere 0 */
	uint32_t core;   /* x86: and the APIC ID of the core */
	uint32_t pad[11];
};

/* One page, which no end can write. */
struct bh_channel {
	uint32_t magic;
	uint32_t version;
	uint32_t kind;        /* enum bh_channel_kind */
	uint32_t slots;       /* of end 0: RING: a power of two. LATEST: 2 * readers + 2 */
	uint32_t slot_bytes;  /* of data, a multiple of BH_CHANNEL_LINE */
	uint32_t slot_stride; /* slot_bytes and a struct bh_channel_slot */
	uint64_t area_bytes[2];
	uint8_t name[BH_NAME_BYTES];
	uint32_t pad0[14];
	struct bh_channel_end end[2];
};

/* At the beginning of each area. Who writes more than one word of a line does it before the release of the one that others look at. */
struct bh_channel_control {
	uint32_t epoch; /* of the connection that this end takes part in: its own, */
	uint32_t peer;  /* and the other's; 0: none. Written last, with release, and cleared first, but not by readers of LATEST */
	uint32_t waits; /* not 0: it sleeps, or is about to, and wants to be rung (channel_wait.h) */
	uint32_t pad0[13];
	uint32_t sent; /* messages so far, in this connection; with release, after the slot */
	uint32_t pad1[15];
	uint32_t taken; /* of the other's; with release, after the slot was read */
	uint32_t pad2[15];
	uint32_t slot[BH_CHANNEL_MOST_READERS + 1]; /* LATEST, end 0: of each pair the newest slot, bit 0, and above it its number + 1 */
	uint32_t latest;                            /* LATEST, end 0: the newest pair */
	uint32_t reading[BH_CHANNEL_MOST_READERS];  /* LATEST, end 1: the pair that each reader reads */
};

/* A transaction is one or more messages: its first one has START, its last one END. */
enum bh_channel_flags { BH_CHANNEL_START = 1, BH_CHANNEL_END = 2, BH_CHANNEL_CHECKED = 4 /* `check` holds */ };
struct bh_channel_slot {
	uint32_t length; /* bytes of data */
	uint32_t flags;  /* enum bh_channel_flags, or-ed */
	uint32_t number; /* of the message in its connection, from 0 on */
	uint32_t check;  /* CRC-32C of epoch, peer, number, flags, length, and the data */
	uint32_t pad[12];
};
