/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks by the thousand. A queue of requests lies in the sandbox's RAM, part of its payload; each is a few instructions to run and
 * what to run them on. What became of each is noted in the log ring's text, which outlives the sandbox: one that was ended by a request
 * and starts anew goes on with the next. `bulkhead attack` fills queues and reads notes (tools/bhtool/attack/queue.py).
 */
#pragma once
#include <stdint.h>

#include "abi/guest.h"

enum { CAMPAIGN_MAGIC = 0x4d414342 /* "BCAM" */, CAMPAIGN_CODE_BYTES = 40, CAMPAIGN_NOTES = 2048 /* offset in the ring's text */ };

enum campaign_flags {
	CAMPAIGN_AIM = 1,       /* the code's first argument is a virtual address that leads to `target` */
	CAMPAIGN_GRAFT = 2,     /* the same, and `target` is made one of the kernel's page tables */
	CAMPAIGN_ALIAS = 4,     /* the same, and twice more: as a device a page further on, and in a leaf of 1 GiB */
	CAMPAIGN_PROTECTED = 8, /* x86: the code runs in 32-bit protected mode, paging off, its arguments cut to 32 bits */
	CAMPAIGN_REAL = 16,     /* x86: the same in real mode, with data segments of 4 GiB */
	CAMPAIGN_DMA = 32,      /* no code: a network card does what `value` says at `target` (transfer.h) */
	CAMPAIGN_PARTNER = 64,  /* takes part in its channels before it runs the code (partner.h), and opens those on request */
	CAMPAIGN_CLOSED = 128,  /* after that it closes them again */
	CAMPAIGN_FRESH = 256,   /* runs the code first of all in a life, after one that has left them open */
};

/* What the other core of the sandbox changes and changes back meanwhile, and what it puts there. */
enum campaign_rival {
	CAMPAIGN_ALONE,
	CAMPAIGN_REWRITE, /* the code's second eight bytes, for `value` */
	CAMPAIGN_REAIM,   /* the page that `target` is seen by, for that of `value` */
	CAMPAIGN_RECODE,  /* the page that the code is run from, for that of `value` */
	CAMPAIGN_TOUCH,   /* the eight bytes at `target` itself, for their complement: `value` remains */
};

struct campaign_request {
	uint64_t target; /* guest-physical address, or the first argument itself */
	uint64_t value;  /* second argument */
	uint32_t flags;
	uint32_t rival;                    /* enum campaign_rival */
	uint8_t code[CAMPAIGN_CODE_BYTES]; /* a function: (uint64_t, uint64_t) -> uint64_t */
};
_Static_assert(sizeof(struct campaign_request) == 64, "queue.py");

/* ---- Of network cards ---- */

enum { TRANSFER_FRAME_BYTES = 64, TRANSFER_NEIGHBOURS = 0x7fffffff /* number in frames of a neighbour's card */ };

/* What the card does at a request's target. */
enum transfer_way {
	TRANSFER_WRITE,        /* writes a frame */
	TRANSFER_READ,         /* reads one */
	TRANSFER_RECEIVE_RING, /* has the ring that it receives by, and writes back what became of its descriptors */
	TRANSFER_SEND_RING,    /* has the ring that it sends by */
	TRANSFER_ARM,          /* is ready to write what its neighbour's card sends it, when its sandbox restarts or ends */
};

/*
 * A request's `value`: the way; first byte and number of bytes of a stretch of the target; flags. The stretch is what is judged of a frame
 * that is read, and what of the target is the sandbox's own where it is written or has a ring.
 */
enum { TRANSFER_FIRST_SHIFT = 8, TRANSFER_COUNT_SHIFT = 16, TRANSFER_MASK = 0xff };
enum transfer_flags {
	TRANSFER_OWN = 1 << 24, /* all of the target is the sandbox's own: it makes it ready, and looks whether the card was there */
	TRANSFER_END = 1 << 25, /* ARM: the sandbox ends for good; otherwise it restarts */
};

struct campaign_queue {
	uint32_t magic;
	uint32_t count;
	uint32_t first; /* where a sandbox begins that finds no notes of this queue */
	uint32_t identity;
	uint64_t word;               /* in frames of a network card, inverted: in memory it stands nowhere else */
	uint64_t spare, spare_bytes; /* of its RAM, for what its own card writes */
	uint8_t pad[24];
	struct campaign_request request[];
};
_Static_assert(sizeof(struct campaign_queue) == 64, "queue.py");

enum campaign_outcome {
	CAMPAIGN_UNTRIED,
	CAMPAIGN_TRYING, /* did not return: ended by its monitor, or by itself */
	CAMPAIGN_REFUSED,
	CAMPAIGN_RETURNED, /* something else than ... */
	CAMPAIGN_RETURNED_ZERO,
	CAMPAIGN_RETURNED_ONES, /* all ones of eight, sixteen or thirty-two bits, or -1 */
	CAMPAIGN_OUTLIVED,      /* never came back, but its network card went on */
};

struct campaign_notes {
	uint32_t identity; /* of the queue */
	uint32_t begun;
	uint32_t done; /* the whole queue has been run */
	uint32_t lives;
	uint8_t outcome[BH_LOG_TEXT_BYTES - CAMPAIGN_NOTES - 16];
};

typedef uint64_t campaign_function(uint64_t target, uint64_t value);

/* In <arch>/modes.c: what leads into the mode that the request names, there calls its code, and leads back. */
campaign_function *campaign_in_mode(const struct campaign_request *request);

/* Runs the queue at this address, from where the last life left off. */
void campaign_run(uint64_t queue);
