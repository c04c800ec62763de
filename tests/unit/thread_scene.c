/* SPDX-License-Identifier: Apache-2.0 */
/* Plays scenes (thread_scene.h). */
#include "thread_scene.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/stacks.h"

struct thread_vcpu high, middle, low;
struct actor actors[ACTORS];

static const char *scene;
static struct plan plan;
static unsigned actor_count;
static void (*prepared)(void);

void scene_set(const char *name, struct plan vcpus)
{
	scene = name;
	plan = vcpus;
	actor_count = 0;
	prepared = NULL;
	fake_core = (struct fake_core){ .log_from = START };
	clock_init(SCENE_HZ);
}

struct plan scene_two(uint64_t budget, uint64_t period)
{
	return (struct plan){ .high = { budget, period }, .low = { 900, 1000 } };
}

struct actor *scene_actor(char name, struct thread_vcpu *on, unsigned level, uint64_t begins, void (*what)(void))
{
	struct actor *one = &actors[actor_count++];

	CHECK(actor_count <= ACTORS);
	memset(one, 0x01, sizeof(*one));
	one->name[0] = name;
	one->name[1] = '\0';
	one->on = on;
	one->level = level;
	one->begins = begins;
	one->work = what;
	return one;
}

void scene_prepare(void (*prepare)(void))
{
	prepared = prepare;
}

static void live(void *argument)
{
	const struct actor *self = argument;

	CHECK(fake_cpu.enabled);
	if (self->on)
		CHECK_EQ(thread_sleep_until(START + self->begins), THREAD_OK);
	self->work();
}

static void make_vcpu(struct thread_vcpu *on, const char *name, const uint64_t *numbers)
{
	if (!numbers[1])
		return;
	memset(on, 0x01, sizeof(*on));
	CHECK_EQ(thread_make_vcpu(on, name, numbers[0], numbers[1]), THREAD_OK);
	on->vcpu.foreground_only = plan.foreground_only;
}

static bool never(void)
{
	return false;
}

static void play(void)
{
	CHECK_EQ(thread_begin(), THREAD_OK);
	make_vcpu(&low, "low", plan.low);
	make_vcpu(&high, "high", plan.high);
	make_vcpu(&middle, "middle", plan.middle);
	for (unsigned n = 0; n < actor_count; n++) {
		struct actor *one = &actors[n];

		CHECK_EQ(thread_make(&one->thread, one->on, one->name, one->level, stacks_take(), live, one), THREAD_OK);
	}
	if (prepared)
		prepared();
	thread_wait_until(never);
}

void scene_expect(const char *ran)
{
	check_context.subject = scene;
	fake_run(play, START + strlen(ran));
	if (strcmp(fake_core.log, ran) != 0)
		fprintf(stderr, "%s: ran\n%s, expected\n%s\n", scene, fake_core.log, ran);
	CHECK(strcmp(fake_core.log, ran) == 0);
}

void scene_play(uint64_t ticks)
{
	check_context.subject = scene;
	fake_run(play, START + ticks);
}

void work(unsigned ticks)
{
	while (ticks--)
		fake_tick();
	fake_settle();
}

void work_1(void)
{
	work(1);
}

void work_3(void)
{
	work(3);
}

void work_always(void)
{
	for (;;)
		work(1);
}

void yield_thrice(void)
{
	for (unsigned n = 0; n < 3; n++) {
		work(1);
		thread_yield();
		CHECK(fake_cpu.enabled);
	}
}

uint64_t scene_time(void)
{
	return fake_core.now - START;
}
