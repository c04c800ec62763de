/* SPDX-License-Identifier: Apache-2.0 */
/* What this architecture gives its hal beyond arch.h: interrupt gates, a core's way into long mode, a new address space. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The first vectors are the processor's own; the tick wakes start-up from HLT. */
enum { X86_TRAPS = 32, X86_GATES = 256, X86_VECTOR_TICK = 0xfe };

/* Start-up. Routes `vector` to `handler`, which ends in IRETQ. Other vectors are traps; from X86_TRAPS on they do nothing (IRETQ). */
void x86_gate_set(unsigned vector, void (*handler)(void));

/* Start-up, on each core. Loads the IDT that private monitors see at the same address. */
void x86_idt_load(void);

/* Start-up, boot core: sleeps, with interrupts on, until vector X86_VECTOR_TICK, which goes to `tick`, or a spurious one comes. */
void x86_sleep(void (*tick)(void));

/*
 * Start-up. Prepares the page that a STARTUP IPI enters at 16-bit address 0 and that ends in monitor_core_boot(argument)
 * on a stack of its own. One core at a time: the next may be prepared when x86_trampoline_taken() is true. Returns the
 * vector of the IPI: the page's number.
 */
uint8_t x86_trampoline_prepare(uint32_t argument);
bool x86_trampoline_taken(void);

/* An exception in a private monitor; rip is 0 as long as there has been none. resident.S knows the layout. */
struct x86_trap {
	uint64_t rip, vector, error;
};

/*
 * Resident. Switches to the tables at `root` and to the stack at `stack_top` (of a 4 KiB frame), and calls function(argument), which must
 * not return. The argument begins with a struct x86_trap; an exception fills it and calls function(argument) again.
 */
_Noreturn void x86_space_enter(uint64_t root, void *stack_top, void (*function)(void *argument), void *argument);

/*
 * Resident. Lets external interrupts in for a moment: the most urgent one that is pending is taken, whatever its vector, and stays in
 * service. Requires: nothing with a vector below X86_TRAPS is in service. An exception meanwhile is one.
 */
void x86_drain(void);
