/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's registers while its monitor runs; offsets for switch.S. */
#pragma once

#define GUEST_X         0
#define GUEST_PC        248
#define GUEST_SPSR      256
#define GUEST_STACK_TOP 264
#define GUEST_RESIDENT  272
#define GUEST_TRAP      280

/* How the guest was left: what guest_run returns. In the order of the vector table. */
#define LEFT_SYNC   0
#define LEFT_IRQ    1
#define LEFT_FIQ    2
#define LEFT_SERROR 3

/* ESR_EL2 of HVC #0 from AArch64 state. ARM ARM D24.2.37 "ESR_EL1": EC, IL, no immediate. */
#define SYNDROME_PLAIN_CALL 0x5a000000

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* The formats of this architecture, hal/pt/pt.h. */
#define STAGE2_FORMAT pt_stage2
#define HOST_FORMAT   pt_el2

enum { STAGE2_ROOT_ENTRIES = 512 };

enum { GUEST_GENERAL_REGISTERS = 31, GUEST_ZERO_REGISTER = 31, FEATURE_REGISTERS = 56 };

struct guest {
	uint64_t x[GUEST_GENERAL_REGISTERS];
	uint64_t pc;
	uint64_t spsr;
	/* Where the core starts over if its monitor itself traps: with that recorded, as an exit of its guest. */
	uint64_t stack_top;
	uint64_t resident;
	uint64_t trap; /* ESR_EL2 of the monitor's own trap, else 0 */
	/* ID registers, op0 3, op1 0, CRn 0, CRm 1..7, op2 0..7, as the guest may see them. Read when HCR.TID3 traps. */
	uint64_t features[FEATURE_REGISTERS];
};
_Static_assert(offsetof(struct guest, x) == GUEST_X, "switch.S");
_Static_assert(offsetof(struct guest, pc) == GUEST_PC, "switch.S");
_Static_assert(offsetof(struct guest, spsr) == GUEST_SPSR, "switch.S");
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

/* The guest's system registers but timers and counters as after reset, those that reset leaves unknown 0; SP_EL1 = stack. */
void guest_reset(uint64_t stack);

/* Floating point and SIMD: 0. */
void guest_clear_vectors(void);

/* Leaves the start-up tables and stack for this core's own, for good; `resident` and core->guest are set. */
_Noreturn void guest_space_enter(struct hal_core *core, uint64_t root);
#endif
