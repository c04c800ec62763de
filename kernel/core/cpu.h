/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sandbox kernel needs of a processor. Inline ones stand in arch/<arch>/cpu_inline.h, the rest in arch/<arch>/.
 * Everything runs in the kernel's own mode (EL1, ring 0) on the sandbox's cores.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "arch_inline.h"

/*
 * With interrupts disabled the kernel must not be ended halfway: who disables them faults before, if its stack has no more than this left.
 * A handler has twice as much, on top of its frame (HANDLER_STACK_BYTES, frame.h). docs/decisions/scheduler.md
 */
enum { CPU_KERNEL_STACK_BYTES = 1024 };

#include "cpu_inline.h"
/*
 * cpu_inline.h provides:
 *   void cpu_touch_stack(void)                 faults if the stack has no more than CPU_KERNEL_STACK_BYTES left
 *   void cpu_interrupts_enable(void)
 *   bool cpu_interrupts_disable(void)          -> whether they were enabled
 *   void cpu_interrupts_restore(bool enabled)
 *   void cpu_sleep(void)                       interrupts disabled by the caller; sleeps until one is pending, lets its
 *                                              handler run and returns with interrupts disabled: no wake-up is lost
 *   bool cpu_sleep_before_interrupt(void)      likewise; or, where the processor can, does not let the handler run and
 *                                              returns true: irq_serve(NULL, 0) serves it without an exception, on
 *                                              this stack, of which nobody asks how much is left
 *   uint64_t cpu_call_monitor(function, a, b, c)
 *   unsigned cpu_slot(void)                    this core's place in info->cores; 0: the core the sandbox was entered on
 *
 *   struct cpu_frame                           the registers of what an interrupt or an exception interrupted, all of them; execution goes
 *                                              on where the frame says. It lies on the stack that the handler runs on. Of it:
 *   bool cpu_frame_is_user(frame)              user mode was interrupted (EL0, ring 3, USR), not the kernel
 *   uint64_t cpu_frame_pc(frame)               the next instruction, of a fault the one that faulted
 *   uint64_t cpu_frame_sp(frame)               the stack pointer it had
 *   bool cpu_frame_interrupts_enabled(frame)
 */

/* Installs vectors and, on x86, segments. Comes first, so that whatever goes wrong afterwards is reported. */
void cpu_init(void);

/*
 * End of this core's emergency stack, for exceptions that find none, and for who has to leave its own. Interrupts are disabled on it.
 */
uintptr_t cpu_emergency_stack(void);

/*
 * Serves an interrupt that this core has acknowledged and whose frame found no stack. Does nothing if there is none. Requires: interrupts
 * disabled.
 */
void cpu_serve_lost_interrupt(void);

/* Stops this core for good: interrupts disabled, asleep. */
_Noreturn void cpu_halt(void);

/*
 * Calls attempt(a, b). Returns true if it returned, with its value in *result, and false if it took an exception, which fault.c has noted.
 * Does not nest; any core, several at once. For programs; it is the vectors that tell an attempt's fault from the kernel's own.
 */
bool cpu_attempt(uint64_t (*attempt)(uint64_t a, uint64_t b), uint64_t a, uint64_t b, uint64_t *result);

/* ---- More than one core: smp.c ------------------------------------------------------------------------------------ */

/*
 * Starts core `slot` of the sandbox, another than this: it calls entry() on the given stack, interrupts disabled, in kernel_space,
 * whichever space is this core's active one, and with this core's vectors. Waits, within a bound, for a core that is still going off.
 * Returns false if the machine did not start it, or if the stack lies where a core that goes off would not reach it (x86: not in the first
 * GiB; memory_leave).
 */
bool cpu_start_core(unsigned slot, void *stack_top, void (*entry)(void));

/* Switches this core off, interrupts disabled; cpu_start_core starts it afresh. Not for the last core of a sandbox: that is its end. */
_Noreturn void cpu_stop_core(void);
