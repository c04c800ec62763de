/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores whose VCPUs follow scripts in simulated time, over kernel/sched. Each tick's VCPU is written down for checks afterwards; what the
 * scheduler holds and decides is checked at each call (sched_sim.c).
 *
 * Decisions may be late: 0 .. `latency` ticks after core->until, or after what happened. The ticks between are *late*.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sched/sched.h"

enum { SIM_VCPUS = 27, SIM_LEAVES = 32, SIM_TICKS = 1024, SIM_EVENTS = 1 << 15, SIM_NOBODY = 0xff, SIM_CORES = 4 };

enum sim_script {
	SIM_ALWAYS,    /* ready from the first tick to the last */
	SIM_STRETCHES, /* ready for a random time, whether it runs or not */
	SIM_WORK,      /* ready until it has run for a random time */
	SIM_JOBS,      /* work of at most the budget less the latency, at most once in a period */
};

enum sim_what {
	SIM_READY,   /* was idle */
	SIM_ARRIVES, /* more work for an I/O VCPU that has some */
	SIM_IDLE,
	SIM_LOOK, /* a decision without a reason */
};

struct sim_event {
	uint32_t tick;
	uint8_t vcpu;
	enum sim_what what;
	uint64_t period; /* whom an I/O VCPU serves */
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
	bool foreground[SIM_TICKS], late[SIM_TICKS];
	struct sim_event events[SIM_EVENTS];
	unsigned event_count;
};

/* A core without VCPUs. `latency`: most ticks by which a decision is late. */
void sim_init(struct sim_core *core, uint64_t seed, unsigned latency, uint64_t base, uint64_t scale);

/* Each may be called until the core runs, and returns what it added, with `script` SIM_WORK. */
struct sim_vcpu *sim_add_main(struct sim_core *core, uint64_t budget, uint64_t period, unsigned entries);
struct sim_vcpu *sim_add_io(struct sim_core *core, unsigned percent, uint64_t period, uint64_t longest);

/* Runs `count` cores for SIM_TICKS side by side, in the order of their events. */
void sim_run(struct sim_core *cores, unsigned count);

/* How late a decision is that is due at `tick`. */
uint64_t sim_latency(const struct sim_core *core, uint64_t tick);

/* The sums, order and distances that a server's list always has. */
void sim_check_list(const struct sporadic *server);
