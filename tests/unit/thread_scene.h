/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenes of the kernel's threads on a core of the host (fake_threads.h): actors with letters on VCPUs, of which "high" comes before
 * "middle", that before "low", and that before the main program's. A scene begins with all VCPUs made and their budgets full.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "fake_threads.h"
#include "kernel/core/thread.h"

enum { START = 100, ACTORS = 12, SCENE_HZ = 1000000 };

struct plan {
	uint64_t high[2], middle[2], low[2]; /* budget and period; period 0: there is no such VCPU */
	bool foreground_only;
};

struct actor {
	struct thread thread;
	char name[2];
	struct thread_vcpu *on; /* NULL: a server, which can be called at once */
	unsigned level;
	uint64_t begins; /* from START on */
	void (*work)(void);
};

extern struct thread_vcpu high, middle, low;
extern struct actor actors[ACTORS];

void scene_set(const char *name, struct plan vcpus);

/* A new scene. */
static inline void scene_begin(const char *name, struct plan vcpus)
{
	check_context.subject = name;
	scene_set(name, vcpus);
}

/* `high` and `low` alone. */
struct plan scene_two(uint64_t budget, uint64_t period);

/* Has work() done by a new actor, from START + `begins` on. */
struct actor *scene_actor(char name, struct thread_vcpu *on, unsigned level, uint64_t begins, void (*work)(void));
/* Has the main program call prepare() before START. */
void scene_prepare(void (*prepare)(void));

/* Plays the scene, and checks who ran at each tick: as many ticks as there are letters ('.': nobody, '^': a handler). */
void scene_expect(const char *ran);
/* Plays it for so many ticks, or until fake_stop. */
void scene_play(uint64_t ticks);

/* The running actor works for so many ticks. */
void work(unsigned ticks);
void work_1(void);
void work_3(void);
void work_always(void);
/* Works and yields, three times. */
void yield_thrice(void);
/* The time since START. */
uint64_t scene_time(void);
