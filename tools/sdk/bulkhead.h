/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library for programs that run in a sandbox: entry, log, grants, heartbeat and the calls to the monitor below. It rests on abi/guest.h
 * alone, which docs/guest.md explains; a program may use any part of it, or none. A program defines bulkhead_main.
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

/* The sandbox's log ring, ready to be written; NULL if it has none. What an earlier life of the sandbox wrote stays. */
struct bh_log *bulkhead_log_open(const struct bh_info *info);

/*
 * Writes text, NUL-terminated. `bulkhead run` shows whole lines. Nothing happens if log is NULL. Texts of the information page are bytes and take
 * a cast: bulkhead_print(log, (const char *)info->arguments).
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
