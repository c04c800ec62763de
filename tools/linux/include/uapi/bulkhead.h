/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a program in Linux may ask of /dev/bulkhead/NAME besides read, write, poll and mmap: docs/guides/channels-from-linux.md.
 *
 * Structures have the same layout for programs of 32 and of 64 bits.
 */
#ifndef BULKHEAD_H
#define BULKHEAD_H
#include <linux/ioctl.h>
#include <linux/types.h>

#define BULKHEAD_NAME_BYTES 32

/* As in abi/channel.h. */
enum { BULKHEAD_MAILBOX, BULKHEAD_RING, BULKHEAD_LATEST };
enum { BULKHEAD_COMING, BULKHEAD_LIVES, BULKHEAD_GONE, BULKHEAD_CLOSED };
enum { BULKHEAD_START = 1, BULKHEAD_END = 2, BULKHEAD_CHECKED = 4 };

/* Of bulkhead_info.features. */
enum { BULKHEAD_HAS_DOORBELL = 1, BULKHEAD_IS_TERMINAL = 2, BULKHEAD_IS_TELEMETRY = 4, BULKHEAD_IS_ON_REQUEST = 8 };

struct bulkhead_info {
	char name[BULKHEAD_NAME_BYTES];
	char peer[BULKHEAD_NAME_BYTES]; /* the sandbox at the other end */
	__u32 kind;                     /* BULKHEAD_MAILBOX, ... */
	__u32 end;                      /* 0 or 1 */
	__u32 slots;                    /* of end 0 */
	__u32 slot_bytes;               /* of a message, at most */
	__u64 bytes;                    /* of all of it, as it is mapped */
	__u64 own_offset;               /* the part that may be mapped for writing */
	__u64 own_bytes;
	__u32 page_offset; /* where struct bh_channel lies */
	__u32 features;
	__u32 epoch; /* the lives that the page names now; 0: not begun */
	__u32 peer_epoch;
	__u32 peer_state;  /* BULKHEAD_COMING, ... */
	__u32 sent, taken; /* in this connection */
	__u32 peer_sent, peer_taken;
	__u32 connections; /* that began since the file was opened */
	__u32 refused;     /* messages and counters, since then */
	__u32 reader;      /* latest value: which of its readers this file is, from 0 on */
	__u32 reserved[2];
};

/* Of bulkhead_message.options. */
enum {
	BULKHEAD_NO_WAIT = 1, /* as with O_NONBLOCK */
	BULKHEAD_AGAIN = 2,   /* receive, latest value: also one that was received before */
};

struct bulkhead_message {
	__u64 data;   /* a pointer */
	__u32 length; /* send: bytes; receive: room, and then bytes. With EMSGSIZE: how many there are */
	__u32 flags;  /* BULKHEAD_START, BULKHEAD_END, BULKHEAD_CHECKED */
	__u32 number; /* receive: in its connection, from 0 on */
	__u32 options;
};

#define BULKHEAD_GET_INFO    _IOR(0xbb, 0, struct bulkhead_info)
#define BULKHEAD_SEND        _IOW(0xbb, 1, struct bulkhead_message)
#define BULKHEAD_RECEIVE     _IOWR(0xbb, 2, struct bulkhead_message)
#define BULKHEAD_SET_CHECKED _IOW(0xbb, 3, __u32) /* not 0: sends with a CRC, and takes no message without one, until it is closed */

#endif
