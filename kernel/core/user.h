/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User mode: EL0, ring 3, USR. How the kernel enters it, what a process has of the processor besides its frame, and what comes back:
 *
 *   interrupts                               their handlers (irq.h), with a frame that says user mode
 *   calls: SVC, SYSCALL                      user_call, which knows none yet: numbers will stand in a header in abi/
 *   its first use of floating point          user_take_fp
 *   whatever else it raises                  a fault (fault.h)
 *
 * Floating-point and SIMD registers have an owner on each core: the process whose values they hold. For every other process they are off,
 * and the first use of them traps; then they change hands. The kernel itself is compiled without them.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "user_state.h"
/*
 * user_state.h provides:
 *   struct cpu_fp        floating-point and SIMD registers with their control registers
 *   struct cpu_user      a process's registers that no frame holds: `fp`, and thread pointers
 */

struct cpu_frame;

enum user_result { USER_E_UNKNOWN = -1 };

/*
 * Makes `to` the process that runs on this core: saves the thread pointers of the one that did, loads those of `to`, and lets it use
 * floating point if the registers hold its values. NULL: none runs. Requires: interrupts disabled; `to` runs on no other core, and none
 * holds its floating-point registers (user_release).
 */
void user_switch(struct cpu_user *to);

/*
 * Writes what this core holds of `user` to *user, so that another core may run it or it may end. Requires: interrupts disabled; no other
 * core holds anything of it.
 */
void user_release(struct cpu_user *user);

/* This core goes off: whose registers it holds gets them back, and nobody runs. Requires: interrupts disabled. */
void user_leave_core(void);

/* ---- From the vectors --------------------------------------------------------------------------------------------- */

/* A call: there are none yet, so its result is USER_E_UNKNOWN. */
void user_call(struct cpu_frame *frame);

/*
 * The running program has used floating point while that was off. Gives it the registers, and saves those of their owner. Returns false,
 * and changes nothing, if no program runs or it owns them already: then it is a fault.
 */
bool user_take_fp(void);

/* ---- arch/<arch>/user.c, fp.S, vectors.S ------------------------------------------------------------------------------- */

/*
 * Prepares this core for programs: calls, floating point off, and what user mode may read, which is the clock and no performance counter.
 * Required once on each core that enters it. Requires: not within cpu_attempt.
 */
void cpu_user_init(void);

/* A program's state before its first instruction: thread pointer `tls`, all else as after reset. */
void cpu_user_reset(struct cpu_user *user, uint64_t tls);

/* A frame that begins a program: at `pc`, with `sp` and `argument` as its only one, other registers 0, interrupts enabled. */
void cpu_frame_reset(struct cpu_frame *frame, uint64_t pc, uint64_t sp, uint64_t argument);

/*
 * Goes on where the frame says, in user mode. The frame ends the stack that this core uses for what comes from user mode: the next frame is
 * saved in the same place, and the handler runs below it. Requires: interrupts disabled, frame + 1 a multiple of 16, a frame of user mode.
 */
_Noreturn void cpu_user_enter(struct cpu_frame *frame);

/* Number of the call that the frame is of, and where its result goes. */
uint64_t cpu_frame_call(const struct cpu_frame *frame);
void cpu_frame_set_result(struct cpu_frame *frame, int64_t result);

void cpu_user_save(struct cpu_user *user);       /* all but fp */
void cpu_user_load(const struct cpu_user *user); /* all but fp */
void cpu_fp_enable(bool on);                     /* off: use traps. On this core */
void cpu_fp_save(struct cpu_fp *fp);             /* Requires: on, as the next */
void cpu_fp_load(const struct cpu_fp *fp);
