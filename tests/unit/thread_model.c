/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by looking at all of them (thread_model.h). */
#include "thread_model.h"

#include <stddef.h>

#include "check.h"

struct model model;

/* ---- Waiting ------------------------------------------------------------------------------------------------------- */

/* Of the thread itself, or of the most urgent one that stands behind it. */
static uint64_t key(const struct model_thread *thread)
{
	uint64_t least = thread->on ? thread->on->vcpu.vcpu.main.period * THREAD_LEVELS + thread->level : UINT64_MAX;

	for (const struct model_thread *one = model.threads; one < model.threads + model.thread_count; one++)
		if (one->behind && one->behind->owner == thread && key(one) < least)
			least = key(one);
	return least;
}

static bool is_before(const struct model_thread *one, const struct model_thread *other)
{
	return !other || key(one) < key(other) || (key(one) == key(other) && one->asked < other->asked);
}

static struct model_thread *first_in(const struct model_object *object, bool sends)
{
	struct model_thread *first = NULL;

	for (struct model_thread *one = model.threads; one < model.threads + model.thread_count; one++)
		if (one->waits_in == object && one->sends == sends && is_before(one, first))
			first = one;
	return first;
}

static void enter(struct model_thread *self, struct model_object *object)
{
	self->waits_in = object;
	self->sends = false;
	self->asked = model.asks++;
}

static void wake(struct model_thread *thread, enum thread_result result)
{
	thread->waits_in = NULL;
	thread->deadline = TIMER_NEVER;
	thread->result = result;
	thread->ready = true;
	thread->turn = model.turns++;
}

static void rest(struct model_thread *self, uint64_t deadline)
{
	self->ready = false;
	self->deadline = deadline;
	self->timer = model.timers++;
}

/* Returns whether it waits. */
static bool wait_in(struct model_thread *self, struct model_object *object, uint64_t deadline, uint64_t now)
{
	self->result = THREAD_E_TIMEOUT;
	if (deadline == 0)
		return false;
	if (self->holds)
		self->result = THREAD_E_HOLDS;
	if (self->holds || deadline <= now)
		return false;
	enter(self, object);
	rest(self, deadline);
	return true;
}

/* ---- What they do --------------------------------------------------------------------------------------------------- */

enum thread_result model_give(struct model_object *semaphore)
{
	struct model_thread *first = first_in(semaphore, false);

	if (first)
		wake(first, THREAD_OK);
	else if (semaphore->count == semaphore->most)
		return THREAD_E_FULL;
	else
		semaphore->count++;
	return THREAD_OK;
}

void model_take(struct model_thread *self, struct model_object *semaphore, uint64_t deadline, uint64_t now)
{
	self->result = THREAD_OK;
	if (semaphore->count)
		semaphore->count--;
	else
		wait_in(self, semaphore, deadline, now);
}

static bool leads_to(const struct model_thread *from, const struct model_thread *self)
{
	return from == self || (from->behind && leads_to(from->behind->owner, self));
}

void model_lock(struct model_thread *self, struct model_object *mutex)
{
	self->result = THREAD_OK;
	if (!mutex->owner) {
		mutex->owner = self;
		self->holds++;
	} else if (leads_to(mutex->owner, self)) {
		self->result = THREAD_E_DEADLOCK;
	} else {
		enter(self, mutex);
		self->behind = mutex;
	}
}

enum thread_result model_unlock(struct model_thread *self, struct model_object *mutex)
{
	struct model_thread *next = first_in(mutex, false);

	if (mutex->owner != self)
		return THREAD_E_OWNER;
	self->holds--;
	mutex->owner = next;
	if (next) {
		next->holds++;
		next->waits_in = next->behind = NULL;
	}
	return THREAD_OK;
}

void model_send(struct model_thread *self, struct model_object *queue, uint64_t word, uint64_t deadline, uint64_t now)
{
	struct model_thread *receiver = first_in(queue, false);

	if (self)
		self->result = THREAD_OK;
	if (receiver) {
		receiver->word = word;
		wake(receiver, THREAD_OK);
	} else if (queue->count < queue->most) {
		queue->words[queue->count++] = word;
	} else if (self && wait_in(self, queue, deadline, now)) {
		self->word = word;
		self->sends = true;
	}
}

void model_receive(struct model_thread *self, struct model_object *queue, uint64_t deadline, uint64_t now)
{
	struct model_thread *sender = first_in(queue, true);

	if (!queue->count) {
		wait_in(self, queue, deadline, now);
		return;
	}
	self->result = THREAD_OK;
	self->word = queue->words[0];
	queue->count--;
	for (unsigned n = 0; n < queue->count; n++)
		queue->words[n] = queue->words[n + 1];
	if (sender) {
		queue->words[queue->count++] = sender->word;
		wake(sender, THREAD_OK);
	}
}

/* Returns whether it has what it wants. */
static bool take_events(struct model_thread *thread, struct model_object *events)
{
	uint32_t found = events->set & thread->wanted;

	if (thread->all ? found != thread->wanted : !found)
		return false;
	thread->found = found;
	thread->result = THREAD_OK;
	events->set &= ~thread->wanted;
	return true;
}

void model_set(struct model_object *events, uint32_t bits)
{
	struct model_thread *first = first_in(events, false);

	events->set |= bits;
	if (first && take_events(first, events))
		wake(first, THREAD_OK);
}

void model_wait(struct model_thread *self, struct model_object *events, uint64_t deadline, uint64_t now)
{
	if (take_events(self, events))
		return;
	if (first_in(events, false))
		self->result = THREAD_E_FULL;
	else
		wait_in(self, events, deadline, now);
}

void model_call(struct model_thread *self, struct model_object *port, uint64_t word)
{
	self->result = THREAD_OK;
	self->word = word;
	if (!port->owner) {
		self->result = THREAD_E_INVALID;
	} else if (leads_to(port->owner, self)) {
		self->result = THREAD_E_DEADLOCK;
	} else {
		self->behind = port;
		if (port->client)
			enter(self, port);
		else
			port->client = self;
	}
}

void model_reply(struct model_object *port)
{
	if (port->received) {
		port->client->behind = NULL;
		port->client = first_in(port, false);
		if (port->client)
			port->client->waits_in = NULL;
	}
	port->received = true;
}

void model_sleep(struct model_thread *self, uint64_t at, uint64_t now)
{
	self->result = self->holds ? THREAD_E_HOLDS : THREAD_OK;
	if (!self->holds && at > now)
		rest(self, at);
}

/* ---- Time ------------------------------------------------------------------------------------------------------------- */

static struct model_thread *first_due(uint64_t now)
{
	struct model_thread *first = NULL;

	for (struct model_thread *one = model.threads; one < model.threads + model.thread_count; one++)
		if (!one->ready && one->deadline <= now &&
		    (!first || one->deadline < first->deadline || (one->deadline == first->deadline && one->timer < first->timer)))
			first = one;
	return first;
}

static struct model_thread *first_of(const struct model_vcpu *on)
{
	struct model_thread *first = NULL;

	for (struct model_thread *one = model.threads; one < model.threads + model.thread_count; one++)
		if (one->on == on && one->ready &&
		    (!first || one->level < first->level || (one->level == first->level && one->turn < first->turn)))
			first = one;
	return first;
}

static struct model_vcpu *interrupted;
static bool had_budget;

/* What it has is used up, and what it owes: it ran into the end of its budget, and pays for all that comes of that. */
static bool is_spent(void)
{
	const struct vcpu *vcpu = interrupted ? &interrupted->vcpu.vcpu : NULL;

	return had_budget &&
	       (sporadic_next(&vcpu->main) > model.entered || model_uncharged(interrupted) + vcpu->owed >= sporadic_left(&vcpu->main));
}

static void pay(uint64_t now)
{
	uint64_t ticks = now - model.entered;
	bool others = model.cause && model.cause != interrupted;
	bool own = !others && (is_spent() || (had_budget && model.cause));

	model.entered = now;
	if (own) {
		interrupted->ticks += ticks;
		return;
	}
	model.excepted += ticks;
	if (model.cause)
		model.cause->owed += ticks;
}

void model_enter(struct model_vcpu *runs, bool foreground, uint64_t now)
{
	interrupted = runs;
	had_budget = foreground;
	model.entered = now;
	model.cause = NULL;
}

void model_leave(uint64_t now)
{
	pay(now);
}

static bool may_run(const struct model_vcpu *on, uint64_t now)
{
	return first_of(on) && sporadic_next(&on->vcpu.vcpu.main) <= now;
}

/* Who may run with budget before the one that was interrupted; NULL: nobody. */
static struct model_vcpu *first_ahead(uint64_t now)
{
	for (struct model_vcpu *on = model.vcpus; on < model.vcpus + model.vcpu_count && !(had_budget && on == interrupted); on++)
		if (may_run(on, now))
			return on;
	return NULL;
}

static void pay_for(struct model_vcpu *on, uint64_t now)
{
	if (model.cause && model.cause != on)
		pay(now);
	model.cause = on;
}

void model_expire(uint64_t now)
{
	const bool replenished = first_ahead(now);

	for (struct model_thread *one = first_due(now); one; one = first_due(now)) {
		pay_for(one->on, now);
		wake(one, one->waits_in ? THREAD_E_TIMEOUT : THREAD_OK);
	}
	if (replenished && !is_spent())
		pay_for(first_ahead(now), now);
}

/* ---- Who runs --------------------------------------------------------------------------------------------------------- */

void model_yield(struct model_vcpu *on)
{
	first_of(on)->turn = model.turns++;
}

enum thread_result model_move(struct model_thread *thread, struct model_vcpu *on)
{
	if (!thread->on)
		return THREAD_E_INVALID;
	if (thread->holds || thread->behind || thread->waits_in)
		return THREAD_E_BOUND;
	if (thread->on != on)
		thread->turn = model.turns++;
	thread->on = on;
	return THREAD_OK;
}

uint64_t model_uncharged(const struct model_vcpu *on)
{
	return on->ticks + on->owed - on->vcpu.vcpu.given - on->vcpu.vcpu.owed;
}

/* Who owes all that it has pays, and does not run. */
static bool has_budget(const struct model_vcpu *on, uint64_t now)
{
	struct sporadic budget = on->vcpu.vcpu.main;
	uint64_t used = model_uncharged(on) + on->vcpu.vcpu.owed;

	if (used >= sporadic_left(&budget))
		sporadic_charge(&budget, used);
	return sporadic_next(&budget) <= now;
}

/* The first that can, by rank. */
static struct model_vcpu *find(uint64_t now, bool foreground)
{
	for (struct model_vcpu *on = model.vcpus; on < model.vcpus + model.vcpu_count; on++)
		if (first_of(on) && (foreground ? has_budget(on, now) : !on->vcpu.vcpu.foreground_only))
			return on;
	return NULL;
}

struct model_thread *model_runs(uint64_t now, struct model_vcpu **on, bool *foreground)
{
	struct model_thread *thread;

	*on = find(now, true);
	*foreground = *on;
	if (!*on)
		*on = find(now, false);
	if (!*on)
		return NULL;
	thread = first_of(*on);
	while (thread->behind)
		thread = thread->behind->owner;
	return thread;
}
