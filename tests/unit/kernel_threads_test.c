/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Threads at random: up to twelve on up to six VCPUs, with all kinds of synchronization, time-outs and interrupts. Each
 * does what it does in the model first (thread_model.h). At every tick the one that runs is the model's, on the budget that the model says,
 * nobody waits beyond a deadline, and what each VCPU was charged is what it used. kernel/core/{thread,thread_move,sync,timer}.c
 */
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "fake_threads.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/stacks.h"
#include "kernel/core/thread_move.h"
#include "kernel/core/trace.h"
#include "random.h"
#include "thread_model.h"

enum { ROUNDS = 400, TICKS = 1000, START = 100, SORT = 3 /* of each sort of things */, HZ = 1000000 };

static struct model_object semaphores[SORT], mutexes[SORT], queues[SORT], events[SORT], ports[SORT];
static struct model_vcpu *charged;
static bool with_budget, in_interrupt;
static struct { /* how often it was seen */
	uint64_t waits, timeouts, deadlocks, holds, donated, calls, preempted, moves, bound;
} seen;

/* ---- What must be true at every tick ---------------------------------------------------------------------------------- */

static void check_charges(const struct model_vcpu *runs)
{
	for (const struct model_vcpu *on = model.vcpus; on < model.vcpus + model.vcpu_count; on++) {
		CHECK(on == runs || model_uncharged(on) == 0);
		CHECK(on == runs || on->vcpu.vcpu.background == on->background);
	}
}

/* Nothing is due. */
static struct model_thread *check_now(void)
{
	struct model_thread *runs;

	runs = model_runs(fake_core.now, &charged, &with_budget);
	check_charges(charged);
	if (runs)
		CHECK(thread_running() == &runs->thread);
	else
		CHECK(!strcmp(thread_running()->name, "idle"));
	for (const struct model_thread *one = model.threads; one < model.threads + model.thread_count; one++)
		CHECK(one->ready || one->deadline > fake_core.now);
	return runs;
}

static void tick(void)
{
	struct model_thread *runs;

	if (fake_core.now < START || fake_core.now == fake_core.end)
		return;
	runs = check_now();
	if (!runs)
		model.idle++;
	else if (with_budget)
		charged->ticks++;
	else
		charged->background++;
	seen.donated += runs && runs->on != charged;
}

/* ---- Interrupts ------------------------------------------------------------------------------------------------------- */

/* What lies first in the core's structure: who ran when the interrupt came, although another may be due. */
static const struct sched *scheduler(void)
{
	return (const struct sched *)thread_cores[0];
}

static void interrupt_begins(void)
{
	const struct sched *core = scheduler();

	in_interrupt = true;
	charged = (struct model_vcpu *)core->running;
	model_enter(charged, charged && core->foreground, fake_core.now);
}

static void timer_comes(void)
{
	model_expire(fake_core.now);
}

static void interrupt_ends(void)
{
	in_interrupt = false;
	model_leave(fake_core.now);
}

static void device_comes(void)
{
	enum thread_result result;
	struct model_object *one;
	uint64_t word = random_u64();

	switch (below(4)) {
	case 0:
		one = &semaphores[below(SORT)];
		result = model_give(one);
		CHECK_EQ(semaphore_give(&one->semaphore), result);
		break;
	case 1:
		one = &queues[below(SORT)];
		if (one->count < one->most)
			model_send(NULL, one, word, 0, fake_core.now);
		else
			word = 0;
		CHECK_EQ(queue_send(&one->queue, &word, 0), word ? THREAD_OK : THREAD_E_TIMEOUT);
		break;
	case 2:
		one = &events[below(SORT)];
		word = 1 + below(15);
		model_set(one, (uint32_t)word);
		events_set(&one->events, (uint32_t)word);
		break;
	}
	fake_interrupt_at(fake_core.now + 1 + below(30), device_comes);
}

/* ---- What threads do -------------------------------------------------------------------------------------------------- */

/* The kernel has said `result`: it is the model's, and whoever does this is who runs. */
static void check_result(const struct model_thread *self, enum thread_result result)
{
	seen.timeouts += result == THREAD_E_TIMEOUT;
	seen.deadlocks += result == THREAD_E_DEADLOCK;
	seen.holds += result == THREAD_E_HOLDS;
	CHECK_EQ(result, self->result);
	CHECK(self->ready || !self->on);
	fake_settle();
	CHECK(check_now() == self);
}

static uint64_t some_deadline(void)
{
	return below(4) == 0 ? 0 : below(6) == 0 ? TIMER_NEVER : fake_core.now + below(40);
}

static void do_take(struct model_thread *self)
{
	struct model_object *one = &semaphores[below(SORT)];
	uint64_t deadline = some_deadline();

	model_take(self, one, deadline, fake_core.now);
	check_result(self, semaphore_take(&one->semaphore, deadline));
}

static void do_give(struct model_thread *self)
{
	struct model_object *one = &semaphores[below(SORT)];
	enum thread_result result = model_give(one);

	CHECK_EQ(semaphore_give(&one->semaphore), result);
}

static void do_lock(struct model_thread *self)
{
	struct model_object *one = &mutexes[below(SORT)];

	model_lock(self, one);
	check_result(self, mutex_lock(&one->mutex));
}

static void do_unlock(struct model_thread *self)
{
	struct model_object *one = &mutexes[below(SORT)];

	if (one->owner != self && below(4)) /* it may not, but as a rule it does not try */
		return;
	self->result = model_unlock(self, one);
	check_result(self, mutex_unlock(&one->mutex));
}

static void do_send(struct model_thread *self)
{
	struct model_object *one = &queues[below(SORT)];
	uint64_t deadline = some_deadline(), word = random_u64();

	model_send(self, one, word, deadline, fake_core.now);
	check_result(self, queue_send(&one->queue, &word, deadline));
}

static void do_receive(struct model_thread *self)
{
	struct model_object *one = &queues[below(SORT)];
	uint64_t deadline = some_deadline(), word = 0;
	enum thread_result result;

	model_receive(self, one, deadline, fake_core.now);
	result = queue_receive(&one->queue, &word, deadline);
	check_result(self, result);
	CHECK_EQ(word, result == THREAD_OK ? self->word : 0);
}

static void do_set(struct model_thread *self)
{
	struct model_object *one = &events[below(SORT)];
	uint32_t bits = 1 + (uint32_t)below(15);

	model_set(one, bits);
	events_set(&one->events, bits);
}

static void do_wait(struct model_thread *self)
{
	struct model_object *one = &events[below(SORT)];
	uint64_t deadline = some_deadline();
	uint32_t found = 0;
	enum thread_result result;

	self->wanted = 1 + (uint32_t)below(15);
	self->all = below(2);
	model_wait(self, one, deadline, fake_core.now);
	result = events_wait(&one->events, self->wanted, self->all, deadline, &found);
	check_result(self, result);
	CHECK_EQ(found, result == THREAD_OK ? self->found : 0);
}

static void do_call(struct model_thread *self)
{
	struct model_object *one = &ports[below(SORT)];
	uint64_t word = random_u64();

	model_call(self, one, word);
	seen.calls += self->result == THREAD_OK;
	check_result(self, port_call(&one->port, &self->word));
	CHECK_EQ(self->word, self->result == THREAD_OK ? ~word : word);
}

static void do_sleep(struct model_thread *self)
{
	uint64_t early = below(5), at = fake_core.now + below(50) - early;

	model_sleep(self, at, fake_core.now);
	check_result(self, thread_sleep_until(at));
}

static void do_yield(struct model_thread *self)
{
	model_yield(charged);
	thread_yield();
}

static void do_move(struct model_thread *self)
{
	struct model_thread *one = below(2) ? self : &model.threads[below(model.thread_count)];
	struct model_vcpu *on = &model.vcpus[below(model.vcpu_count)];

	self->result = model_move(one, on);
	seen.moves += self->result == THREAD_OK;
	seen.bound += self->result == THREAD_E_BOUND;
	check_result(self, thread_move(&one->thread, &on->vcpu));
}

static void do_work(struct model_thread *self)
{
	for (uint64_t ticks = below(8); ticks; ticks--)
		fake_tick();
}

static void (*const all[])(struct model_thread *self) = { do_take, do_give,  do_lock,  do_unlock, do_unlock, do_send, do_receive, do_set,
							  do_wait, do_sleep, do_yield, do_call,   do_move,   do_work, do_work };

static void do_something(struct model_thread *self)
{
	fake_settle();
	CHECK(check_now() == self);
	all[below(sizeof(all) / sizeof(all[0]))](self);
	fake_settle();
	CHECK(check_now() == self);
}

static void live(void *argument)
{
	struct model_thread *self = argument;

	CHECK_EQ(thread_sleep_until(START), THREAD_OK);
	for (;;)
		do_something(self);
}

/* Lets go of everything before it replies. */
static void serve(void *argument)
{
	struct model_thread *self = argument;
	struct model_object *one = ports;

	while (one->owner != self)
		one++;
	for (;;) {
		uint64_t *word;

		model_reply(one);
		word = port_reply_and_receive(&one->port);
		fake_settle();
		CHECK(check_now() == self);
		CHECK(word == &one->client->word);
		for (uint64_t n = below(6); n; n--)
			do_something(self);
		*word = ~*word;
		for (unsigned n = 0; n < SORT; n++)
			if (mutexes[n].owner == self) {
				CHECK_EQ(model_unlock(self, &mutexes[n]), THREAD_OK); /* before the kernel, which may switch */
				CHECK_EQ(mutex_unlock(&mutexes[n].mutex), THREAD_OK);
			}
	}
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------------- */

static void make_vcpus(void)
{
	uint64_t period = 4 + below(10);

	model.vcpu_count = 1 + (unsigned)below(MODEL_VCPUS);
	for (unsigned n = 0; n < model.vcpu_count; n++, period += below(3) ? below(20) : 0) {
		struct thread_vcpu *on = &model.vcpus[n].vcpu;

		CHECK_EQ(thread_make_vcpu(on, "vcpu", 1 + below(period / 2), period), THREAD_OK);
		on->vcpu.foreground_only = below(4) == 0;
	}
}

/* The last ones are servers, of a port each. */
static void make_threads(void)
{
	unsigned servers = (unsigned)below(SORT + 1);

	model.thread_count = 2 + (unsigned)below(MODEL_THREADS - 1);
	if (servers > model.thread_count - 2)
		servers = model.thread_count - 2;
	for (unsigned n = 0; n < model.thread_count; n++) {
		struct model_thread *one = &model.threads[n];
		bool server = n >= model.thread_count - servers;

		one->name[0] = (char)('a' + n);
		one->on = server ? NULL : &model.vcpus[below(model.vcpu_count)];
		one->level = server ? 0 : (unsigned)below(3);
		one->holds = server;
		one->deadline = server ? TIMER_NEVER : START;
		one->timer = model.timers++;
		if (server) {
			struct model_object *port = &ports[model.thread_count - 1 - n];

			port->owner = one;
			port->port.server.thread = &one->thread;
		}
	}
	for (struct model_thread *one = model.threads; one < model.threads + model.thread_count; one++)
		CHECK_EQ(thread_make(&one->thread, one->on ? &one->on->vcpu : NULL, one->name, one->level, stacks_take(),
				     one->on ? live : serve, one),
			 THREAD_OK);
}

static void make_objects(void)
{
	memset(semaphores, 0, sizeof(semaphores));
	memset(mutexes, 0, sizeof(mutexes));
	memset(queues, 0, sizeof(queues));
	memset(events, 0, sizeof(events));
	memset(ports, 0, sizeof(ports));
	for (unsigned n = 0; n < SORT; n++) {
		semaphores[n].semaphore.most = semaphores[n].most = 1 + (uint32_t)below(3);
		queues[n].most = 1 + (uint32_t)below(MODEL_ROOM);
		queues[n].queue = (struct queue){ .ring = queues[n].ring, .words = 1, .room = queues[n].most };
	}
}

static bool never(void)
{
	return false;
}

static void main_program(void)
{
	make_objects();
	CHECK_EQ(thread_begin(), THREAD_OK);
	make_vcpus();
	make_threads();
	for (unsigned n = (unsigned)below(4); n; n--)
		fake_interrupt_at(START + below(20), device_comes);
	thread_wait_until(never);
}

/* Handlers take time in some rounds. Tracing changes nothing. */
static void play(void)
{
	static struct bh_trace_record records[64];
	uint64_t sum;

	model = (struct model){ 0 };
	in_interrupt = false;
	fake_core = (struct fake_core){ .entered = interrupt_begins, .expiring = timer_comes, .leaving = interrupt_ends, .ticking = tick };
	fake_core.timer_last = below(2);
	if (below(3) == 0) {
		fake_core.before = below(2);
		fake_core.after = below(3);
	}
	trace_state = (struct bh_trace){ 0 };
	trace_give_ring(0, records, sizeof(records));
	trace_switch(below(4) == 0, HZ);
	fake_run(main_program, START + TICKS);
	sum = model.idle + model.excepted + (in_interrupt ? fake_core.now - model.entered : 0);
	for (const struct model_vcpu *on = model.vcpus; on < model.vcpus + model.vcpu_count; on++)
		sum += on->ticks + on->background;
	CHECK_EQ(sum, TICKS);
}

int main(int count, char **arguments)
{
	uint64_t rounds = count > 1 ? strtoull(arguments[1], NULL, 0) : ROUNDS;

	check_context.subject = "threads";
	clock_init(HZ);
	for (check_context.round = count > 2 ? strtoull(arguments[2], NULL, 0) : 0; check_context.round < rounds; check_context.round++) {
		random_state = check_context.round;
		play();
	}
	printf("time-outs %ju, refused: deadlocks %ju, who holds %ju; calls %ju; ticks on another's budget %ju; moves %ju, refused %ju\n",
	       (uintmax_t)seen.timeouts, (uintmax_t)seen.deadlocks, (uintmax_t)seen.holds, (uintmax_t)seen.calls, (uintmax_t)seen.donated,
	       (uintmax_t)seen.moves, (uintmax_t)seen.bound);
	CHECK(count > 1 || (seen.timeouts > 1000 && seen.deadlocks > 100 && seen.holds > 1000 && seen.calls > 1000 && seen.donated > 1000));
	CHECK(count > 1 || (seen.moves > 1000 && seen.bound > 1000));
	return 0;
}
