/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a few instructions in user mode: what interrupts, calls and faults there come to, and whose floating-point registers they
 * are. */
#pragma once
#include <stdbool.h>

/*
 * user=interrupt  the timer's interrupts: what their frames say, and whether the program keeps its registers; a call
 * user=fp         two programs in turn: each finds its own floating-point registers and thread pointer
 * user=unowned    floating point where no program runs is a fault
 * user=peek       the kernel's memory is out of its reach
 * user=hypercall  so is the monitor
 * user=counters   and performance counters, whatever the registers that open them held before
 * user=jump       the kernel executes nothing of a program's
 *
 * Returns false if there is no such kind. One core at a time.
 */
bool user_run(const char *kind);

/* <arch>/: opens performance counters to user mode, as whoever had the core before may have. */
void user_open_counters(void);
