/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library for programs that run in a sandbox: entry, log, grants, channels, heartbeat and the calls to the monitor below. It rests on
 * abi/ alone, which docs/guest.md and docs/channels.md explain; a program may use any part of it, or none. A program defines bulkhead_main.
 *
 * For one core: whoever starts others gives each its own use of the log, or a lock.
 */
#pragma once
#include <stdint.h>

#include "abi/guest.h"

/* The program. Called on the sandbox's first core with interrupts off; if it returns, the sandbox ends. */
void bulkhead_main(const struct bh_info *info);

/* The first grant of that kind with that name (the role label of the board, "uart1"); any name if `name` is NULL. NULL: there is none. */
const struct bh_grant *bulkhead_grant(const struct bh_info *info, enum bh_grant_kind kind, const char *name);

struct bh_end; /* abi/channel_inline.h */

/* What calls of this library return that can fail. */
enum bulkhead_status {
	BULKHEAD_OK,
	BULKHEAD_E_ABSENT,  /* nothing of that name was granted */
	BULKHEAD_E_INVALID, /* it is of a version that this library does not know */
	BULKHEAD_E_DENIED,  /* the monitor refused it */
	BULKHEAD_E_NOMEM,   /* it needs more page tables than the library has */
	BULKHEAD_E_RANGE,   /* it lies beyond the addresses that a program of this library reaches */
};

/*
 * Turns the MMU and caches on where they are off at entry, on ARM; on a PC they are on. Addresses stay what they are. Mapped are the
 * information page and what it grants, and nothing else, so any other address is a fault of the program's own and no exit: RAM as normal
 * write-back memory, executable; logs, statistics and channels the same but never executed, and read-only where the sandbox may not write;
 * devices as Device-nGnRE. Channels need it (docs/channels.md), and so do exclusives and unaligned accesses.
 *
 * Requires: the sandbox's first core, its other cores off, no channel in use yet, no translation of the program's own. Takes time by the
 * size of RAM, as caches are told to forget each of its lines.
 * Returns BULKHEAD_OK, a second time at once; BULKHEAD_E_NOMEM: the grants need more than 16 tables of 4 KiB, which are one, one for each
 * GiB in which a grant lies, and one for each 2 MiB that no grant fills; BULKHEAD_E_RANGE: a grant lies above 512 GiB, on ARMv7 above 4
 * GiB. Then nothing has changed.
 */
enum bulkhead_status bulkhead_memory_on(const struct bh_info *info) __attribute__((warn_unused_result));

/*
 * Finds the channel of that name among the grants and makes `end` the sandbox's end of it, whichever it is: `end->role` says so. One with
 * `on-request` is opened first (BH_CALL_OPEN). Then the operations of abi/channel_inline.h are used on `end`, which belongs to one thread.
 * A channel of which one reads a latest value as one of several readers is attached by bh_end_attach_reader.
 * Requires: bulkhead_memory_on; once for each channel.
 * Returns BULKHEAD_OK, BULKHEAD_E_ABSENT, BULKHEAD_E_RANGE, BULKHEAD_E_DENIED; BULKHEAD_E_INVALID, and all operations on `end` fail then.
 * BULKHEAD_E_ABSENT, BULKHEAD_E_RANGE and BULKHEAD_E_DENIED leave `end` as it was.
 */
enum bulkhead_status bulkhead_channel_open(const struct bh_info *info, const char *name, struct bh_end *end)
	__attribute__((warn_unused_result));

/* The sandbox's log ring, ready to be written; NULL if it has none. What an earlier life of the sandbox wrote stays. */
struct bh_log *bulkhead_log_open(const struct bh_info *info);

/*
 * Writes text, NUL-terminated. `bulkhead run` shows whole lines. Nothing happens if log is NULL. Texts of the information page are bytes
 * and take a cast: bulkhead_print(log, (const char *)info->arguments).
 */
void bulkhead_print(struct bh_log *log, const char *text);
/* The same for a number, as 0x and hexadecimal digits without leading zeros. */
void bulkhead_print_hex(struct bh_log *log, uint64_t value);

/* One more heartbeat, due every period_ns: `bulkhead run` counts them, and whoever watches this sandbox looks for them. */
void bulkhead_beat(struct bh_log *log, uint64_t period_ns);

/* A hypercall: what it returns, an enum bh_result or a value. Unknown functions return BH_E_UNKNOWN. */
int64_t bulkhead_call(enum bh_call function, uint64_t argument);

/* Ticks of the counter that all sandboxes share, and how many there are in a second (0: not known). */
uint64_t bulkhead_clock(void);
uint64_t bulkhead_clock_hz(const struct bh_info *info);

/* Waits for an interrupt, at least one: with none enabled, for ever. */
void bulkhead_sleep(void);

/*
 * Sleeps until the counter stands at `ticks`, at once if it does. Other interrupts that end a sleep do not end this one.
 * For programs that take no interrupts of their own: the first call enables the timer's in the interrupt controller, on a PC it loads an
 * IDT, too; the timer is its own. Requires: the sandbox's first core, interrupts off, as at entry.
 */
void bulkhead_sleep_until(const struct bh_info *info, uint64_t ticks);
