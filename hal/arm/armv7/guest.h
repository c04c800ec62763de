/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's registers while its monitor runs; offsets for switch.S. */
#pragma once

#define GUEST_R         0
#define GUEST_PC        56
#define GUEST_CPSR      60
#define GUEST_STACK_TOP 64
#define GUEST_RESIDENT  68
#define GUEST_TRAP      72

/* How the guest was left: what guest_run returns. */
#define LEFT_SYNC   0
#define LEFT_IRQ    1
#define LEFT_FIQ    2
#define LEFT_SERROR 3

/* HSR of HVC #0, in either state. ARMv7 ARM B3.13.6 "Use of the HSR": EC, IL, no immediate. */
#define SYNDROME_PLAIN_CALL 0x4a000000

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* The formats of this architecture, hal/pt/pt.h. */
#define STAGE2_FORMAT pt_lpae
#define HOST_FORMAT   pt_hyp

enum { STAGE2_ROOT_ENTRIES = 4 };

/*
 * What Hyp mode shares with its guests is here: r0-r12 and lr of User mode. The rest of the bank keeps its values while the
 * monitor, which never leaves Hyp mode, runs: ARMv7 ARM B1.3.2 "ARM core registers".
 */
enum { GUEST_LR_USR = 13, GUEST_SAVED_REGISTERS = 14 };

struct guest {
	uint32_t r[GUEST_SAVED_REGISTERS];
	uint32_t pc;
	uint32_t cpsr;
	/* Where the core starts over if its monitor itself traps: with that recorded, as an exit of its guest. */
	uint32_t stack_top;
	uint32_t resident;
	uint32_t trap; /* 1: the monitor itself trapped */
};
_Static_assert(offsetof(struct guest, r) == GUEST_R, "switch.S");
_Static_assert(offsetof(struct guest, pc) == GUEST_PC, "switch.S");
_Static_assert(offsetof(struct guest, cpsr) == GUEST_CPSR, "switch.S");
_Static_assert(offsetof(struct guest, stack_top) == GUEST_STACK_TOP, "switch.S");
_Static_assert(offsetof(struct guest, resident) == GUEST_RESIDENT, "switch.S");
_Static_assert(offsetof(struct guest, trap) == GUEST_TRAP, "switch.S");

struct hal_core;

extern char guest_vectors[];

/* Enters the guest; returns LEFT_* when it comes back, its registers saved in core. */
unsigned guest_run(struct hal_core *core);

/* For switch.S, on a plain call; hal/arm/run.c. Returns 1 if it has answered it, so that the guest goes on behind it, else 0: all bits
 * count. */
unsigned guest_call(struct hal_core *core);

/* Floating point and SIMD: 0, and off. */
void guest_clear_vectors(void);

/* Leaves the start-up tables and stack for this core's own, for good; `resident` and core->guest are set. */
_Noreturn void guest_space_enter(struct hal_core *core, uint64_t root);

/* The rest of the bank, as the next two number it; each mode's lr follows its sp. */
enum {
	BANKED_R8_FIQ,
	BANKED_SP_FIQ = 5,
	BANKED_SP_IRQ = 7,
	BANKED_SP_SVC = 9,
	BANKED_SP_ABT = 11,
	BANKED_SP_UND = 13,
	BANKED_LR_UND,
	BANKED_SP_USR = 15,
	BANKED_REGISTERS,
};
uint32_t guest_banked_read(unsigned n);
void guest_banked_write(unsigned n, uint32_t value);
#endif
