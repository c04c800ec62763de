/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core for the kernel's own threads on the host: thread.c, sync.c and timer.c run on it unchanged. Its threads are contexts of the host.
 * Time passes only in fake_tick, in handlers and while the core sleeps, a tick at a step, and interrupts come at these points. A second
 * core runs only while the first does not.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_STACKS = 24, FAKE_DEVICES = 8, FAKE_LOG = 4096, FAKE_CORES = 2, FAKE_EMERGENCY_BYTES = 64 << 10 };

extern struct fake_core {
	uint64_t now;
	uint64_t end;            /* fake_run returns then */
	uint64_t timer_at;       /* UINT64_MAX: off */
	bool timer_last;         /* a device whose interrupt comes at the same tick is served before */
	uint64_t before, after;  /* ticks that a handler takes before and after it has done its work */
	void (*entered)(void);   /* an interrupt begins; these three may be NULL */
	void (*expiring)(void);  /* it is the timer's */
	void (*leaving)(void);   /* it ends: the kernel decides next */
	void (*sent)(void);      /* another core has been interrupted; may be NULL */
	void (*ticking)(void);   /* a tick is about to pass, in a thread or while the core sleeps; may be NULL */
	unsigned stacks, frames; /* that are left */
	unsigned stacks_taken, frames_taken;
	uint64_t log_from;
	char log[FAKE_LOG]; /* the first letter of who ran, from log_from on; '.': nobody, '^': a handler */
} fake_core;

/* Makes a core of time 0, and runs program() as its main program, until somebody calls fake_stop or time reaches `end`. */
void fake_run(void (*program)(void), uint64_t end);
_Noreturn void fake_stop(void);

/* Has handle() called by an interrupt at this time. FAKE_DEVICES of them may wait. */
void fake_interrupt_at(uint64_t time, void (*handle)(void));

/*
 * Goes on with another core, where that was left, or at first with program() as its main program; this one is left until somebody goes on
 * with it. Devices interrupt the first one alone. In a thread, interrupts enabled.
 */
void fake_go_to_core(unsigned slot, void (*program)(void));
/* How many interrupts this core has been sent by others. */
unsigned fake_ipis(void);

/* Serves what is due. In a thread, interrupts enabled. */
void fake_settle(void);
/* Likewise, and then a tick passes for who runs. */
void fake_tick(void);
