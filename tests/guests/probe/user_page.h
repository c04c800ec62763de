/* SPDX-License-Identifier: Apache-2.0 */
/* The page that the probe's programs in user mode share with it: read from C and assembly. */
#pragma once

#define USER_STOP   0
#define USER_WRONG  8
#define USER_ANSWER 16
#define USER_THREAD 24
#define USER_SEEN   32
#define USER_VALUE  48
#define USER_LEFT   64

/* A call that no kernel will have. */
#define USER_CALL 0x7777

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct user_page {
	uint64_t stop;   /* user_spin goes on until this is set */
	uint64_t wrong;  /* bits that differ in registers that were to keep their values */
	uint64_t answer; /* of a call */
	uint64_t thread; /* what the thread pointer leads to */
	uint64_t seen[2], value[2];
	uint64_t left;   /* x86: low half of the address of the x87 instruction before the program's first */
	uint64_t tls[2]; /* a word for each of two thread pointers */
};
_Static_assert(offsetof(struct user_page, wrong) == USER_WRONG, "user_programs.S");
_Static_assert(offsetof(struct user_page, answer) == USER_ANSWER, "user_programs.S");
_Static_assert(offsetof(struct user_page, thread) == USER_THREAD, "user_programs.S");
_Static_assert(offsetof(struct user_page, seen) == USER_SEEN, "user_programs.S");
_Static_assert(offsetof(struct user_page, value) == USER_VALUE, "user_programs.S");
_Static_assert(offsetof(struct user_page, left) == USER_LEFT, "user_programs.S");

/*
 * <arch>/user_programs.S: copied to a page that user mode may execute, and entered with the page above as argument. Each ends with an
 * undefined instruction.
 *
 * user_spin: keeps a value of its own in every register until `stop`, then looks at them, and makes a call.
 *
 * user_fp: sees the first and the last floating-point register, writes `value` to them, follows its thread pointer; x86: also x87.
 *
 * user_peek: loads from the address `value[0]`.
 *
 * user_call_monitor: calls the monitor's function `value[0]`; if that comes back, loads from address 0, which is another fault.
 *
 * user_count: reads a performance counter, then the same.
 */
extern const uint8_t user_programs[], user_programs_end[], user_spin[], user_fp[], user_peek[], user_call_monitor[], user_count[];
#endif
