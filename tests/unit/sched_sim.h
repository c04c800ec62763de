/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores whose VCPUs follow scripts in simulated time, over kernel/sched. Each tick's VCPU is written down for checks afterwards; what the
 * scheduler holds and decides is checked at each call (sched_sim.c).
 *
 * Decisions may be late: 0 .. `latency` ticks after core->until, or after what happened. The ticks between are *late*.
 *
 * Interrupts take ticks, as in kernel/core/thread.c: whom they wake is ready from their beginning on, nothing else happens meanwhile, whose
 * each was is said at its end, and then a decision that is due comes at once. None begins while a decision is due because who ran sleeps.
 * A device's, of a line, comes as kernel/core/rate.h lets it. A VCPU's own comes once after it has run with budget, or also without, if it
 * is restless. Timers of several VCPUs may be served in one interrupt, one behind the other.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sched/sched.h"

enum { SIM_VCPUS = 27, SIM_LEAVES = 32, SIM_TICKS = 1024, SIM_EVENTS = 1 << 15, SIM_NOBODY = 0xff, SIM_CORES = 4, SIM_LINES = 2 };

enum sim_script {
	SIM_ALWAYS,    /* ready from the first tick to the last */
	SIM_STRETCHES, /* ready for a random time, whether it runs or not */
	SIM_WORK,      /* ready until it has run for a random time */
	SIM_JOBS, /* work of at most the budget less the latency and one own interrupt, at most once in a period, with one such interrupt
		     each */
};

enum sim_what {
	SIM_READY,   /* was idle */
	SIM_ARRIVES, /* more work for an I/O VCPU that has some */
	SIM_IDLE,
	SIM_LOOK,      /* a decision without a reason */
	SIM_INTERRUPT, /* begins, for so many ticks; `vcpu` owes it, or SIM_NOBODY */
	SIM_JOINS,     /* likewise, behind another one, without a decision between */
	SIM_PAYS,      /* its next ticks pay so many more */
	SIM_PAID,      /* it was charged so many, and did not run */
};

enum sim_interrupt { SIM_NONE, SIM_CHARGED /* to who runs */, SIM_EXCEPTED };

struct sim_event {
	uint32_t tick;
	uint8_t vcpu;
	enum sim_what what;
	uint64_t period; /* of whom an I/O VCPU serves */
	uint64_t ticks;  /* of an interrupt or a debt */
};

struct sim_vcpu {
	struct vcpu vcpu;
	enum sim_script script;
	uint64_t budget, period; /* a Main VCPU's, in simulated ticks; an I/O VCPU's shortest period */
	uint64_t longest;        /* period that an I/O VCPU serves */
	unsigned percent, entries, order;
	bool ready;
	uint64_t change;        /* when the script goes on, if nothing else happens before */
	uint64_t work;          /* ticks to run until it is idle */
	uint64_t woke, slowest; /* jobs: start of this one; longest time from start to end */
	uint64_t own;           /* longest interrupt of its own; 0: it has none */
	bool restless;
	bool armed, had_own; /* its timer is set; this job has had its interrupt */
	uint64_t due;        /* when the timer is */
	uint64_t had;        /* ticks that it ran with budget */
	uint64_t ever;       /* ticks that it ever owed */
	uint64_t owed, paying, most_owed;
};

/* A device's interrupts. */
struct sim_line {
	uint64_t cost, distance;
	uint64_t paid, next; /* as in kernel/core/rate.h; the next one */
};

struct sim_core {
	struct sched sched;
	uint64_t words[4 * SIM_LEAVES];
	struct vcpu *by_rank[SIM_LEAVES];
	uint64_t base, scale; /* the scheduler's time is base + scale * tick */
	uint64_t seed;
	unsigned latency, count;
	struct sim_vcpu vcpus[SIM_VCPUS];
	struct sim_vcpu *by_order[SIM_VCPUS]; /* ranks as the test sees them */
	uint64_t now, until, timer, look;
	uint8_t ran[SIM_TICKS]; /* index of a VCPU */
	bool foreground[SIM_TICKS], late[SIM_TICKS], decided[SIM_TICKS + 1];
	enum sim_interrupt interrupt[SIM_TICKS];
	struct sim_line lines[SIM_LINES];
	unsigned line_count;
	struct {
		enum sim_interrupt is;
		uint64_t entered, began, end; /* that of several began when they were entered */
		struct sim_vcpu *owes;
	} serving;
	uint64_t longest; /* interrupt, with those that joined it */
	struct sim_event events[SIM_EVENTS];
	unsigned event_count;
};

/* A core without VCPUs. `latency`: most ticks by which a decision is late. */
void sim_init(struct sim_core *core, uint64_t seed, unsigned latency, uint64_t base, uint64_t scale);

/* Each may be called until the core runs, and returns what it added, with `script` SIM_WORK. */
struct sim_vcpu *sim_add_main(struct sim_core *core, uint64_t budget, uint64_t period, unsigned entries);
struct sim_vcpu *sim_add_io(struct sim_core *core, unsigned percent, uint64_t period, uint64_t longest);

/* A device that interrupts for at most `cost` ticks, `distance` apart and once more. */
void sim_add_line(struct sim_core *core, uint64_t cost, uint64_t distance);

/* Runs `count` cores for SIM_TICKS side by side, in the order of their events. */
void sim_run(struct sim_core *cores, unsigned count);

/* How late a decision is that is due at `tick`. */
uint64_t sim_latency(const struct sim_core *core, uint64_t tick);

/* The sums, order and distances that a server's list always has. */
void sim_check_list(const struct sporadic *server);
