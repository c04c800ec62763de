/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions: survived when they were asked for (cpu_attempt), reported and final when not. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct fault {
	const char *name;  /* "#GP", "data abort" */
	uint64_t syndrome; /* error code, ESR */
	uint64_t pc;
	uint64_t address; /* of the access, where the machine tells */
	bool of_thread;   /* it came to code that had interrupts enabled, or a stack had no room for it */
	bool is_sent;     /* an NMI: some core has sent it, perhaps the attempt itself */
};

/*
 * From the vectors. Notes the fault. Ends the thread whose doing it was (thread_end.h) and does not return; returns if an attempt of the
 * main program's is to be abandoned; otherwise reports it and stops.
 */
void fault_take(const struct fault *fault, bool attempting);

/* The fault that ended the last attempt on this core. */
const struct fault *fault_last(void);

/* Reports why this kernel cannot go on (a bug, or a sandbox that cannot work), and parks. */
_Noreturn void fault_stop(const char *why);
