/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores, mutexes, message queues, events and calls between threads of a core (sync.h). */
#include "kernel/core/sync.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/thread_end.h"

/* Waits until it is woken, with what waker and waiter hand over, or says why not. Interrupts disabled; in a handler with deadline 0. */
static enum thread_result wait_in(struct heap *heap, void *message, uint64_t deadline)
{
	struct thread *self;

	if (deadline == 0)
		return THREAD_E_TIMEOUT;
	self = thread_running();
	if (thread_is_held_to_run(self))
		return THREAD_E_HOLDS;
	if (deadline != TIMER_NEVER && deadline <= arch_counter())
		return THREAD_E_TIMEOUT;
	self->message = message;
	return thread_wait(heap, deadline);
}

/* Interrupts disabled. */
static void wake(struct thread *thread)
{
	thread_wake(thread);
	thread_reschedule();
}

/* ---- Semaphores --------------------------------------------------------------------------------------------------- */

static enum thread_result count_up(struct semaphore *semaphore)
{
	if (semaphore->count == (semaphore->most ? semaphore->most : UINT32_MAX))
		return THREAD_E_FULL;
	semaphore->count++;
	return THREAD_OK;
}

enum thread_result semaphore_give(struct semaphore *semaphore)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;

	if (semaphore->waiting.top)
		wake(thread_first_waiting(&semaphore->waiting));
	else
		result = count_up(semaphore);
	cpu_interrupts_restore(enabled);
	return result;
}

enum thread_result semaphore_give_in_handler(struct semaphore *semaphore)
{
	if (!semaphore->waiting.top)
		return count_up(semaphore);
	thread_wake(thread_first_waiting(&semaphore->waiting));
	return THREAD_OK;
}

enum thread_result semaphore_take(struct semaphore *semaphore, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;

	if (semaphore->count)
		semaphore->count--;
	else
		result = wait_in(&semaphore->waiting, NULL, deadline);
	cpu_interrupts_restore(enabled);
	return result;
}

/* ---- Standing behind a thread ------------------------------------------------------------------------------------- */

/* Whether `first`, or who runs in its place, is `self`. */
static bool leads_to(const struct thread *first, const struct thread *self)
{
	while (first != self && first->behind)
		first = first->behind->thread;
	return first == self;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t first_key(const struct heap *waiting)
{
	return waiting->top ? waiting->top->key : UINT64_MAX;
}

static uint64_t first_key_of_port(const struct port *port)
{
	return port->client ? lesser(port->client->wait.key, first_key(&port->waiting)) : UINT64_MAX;
}

/* The least key of the thread and of all that stand behind it. */
static uint64_t urgency(const struct thread *thread)
{
	uint64_t key = thread_key(thread);

	for (const struct mutex *mutex = thread->held; mutex; mutex = mutex->next_held)
		key = lesser(key, first_key(&mutex->waiting));
	return thread->serves ? lesser(key, first_key_of_port(thread->serves)) : key;
}

/* Whoever it waits for, and so on, is waited for by somebody with this key. */
static void hasten(struct thread *first, uint64_t key)
{
	for (; first->behind && key < first->wait.key; first = first->behind->thread)
		if (first->waits_in)
			heap_hasten(first->waits_in, &first->wait, key);
		else
			first->wait.key = key; /* whose call is served */
}

/* The running thread stays ready, and has the other one run in its place until it stands behind nobody. `waiting` NULL: it is served. */
static void stand_behind(const struct thread_donee *donee, struct heap *waiting)
{
	struct thread *self = thread_running();

	self->wait.key = urgency(self);
	self->waits_in = waiting;
	if (waiting)
		heap_add(waiting, &self->wait);
	self->behind = donee;
	hasten(donee->thread, self->wait.key);
	thread_reschedule();
}

/* Takes the first that waits out; NULL: nobody does. */
static struct thread *take_first(struct heap *waiting)
{
	struct thread *first = thread_first_waiting(waiting);

	if (first) {
		heap_remove(waiting, &first->wait);
		first->waits_in = NULL;
	}
	return first;
}

/* ---- Mutexes ---------------------------------------------------------------------------------------------------- */

struct mutex sync_no_vcpu;

static void hold(struct thread *thread, struct mutex *mutex)
{
	mutex->holder.thread = thread;
	mutex->next_held = thread->held;
	thread->held = mutex;
}

static __attribute__((noinline)) void unlink_held(struct mutex *before, const struct mutex *mutex)
{
	while (before->next_held != mutex)
		before = before->next_held;
	before->next_held = mutex->next_held;
}

/* As a rule it is the last that was taken. */
static void hold_no_more(struct thread *thread, const struct mutex *mutex)
{
	if (thread->held == mutex)
		thread->held = mutex->next_held;
	else
		unlink_held(thread->held, mutex);
}

static enum thread_result wait_for_mutex(struct mutex *mutex)
{
	if (leads_to(mutex->holder.thread, thread_running()))
		return THREAD_E_DEADLOCK;
	stand_behind(&mutex->holder, &mutex->waiting);
	return THREAD_OK;
}

enum thread_result mutex_lock(struct mutex *mutex)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;

	if (mutex->holder.thread)
		result = wait_for_mutex(mutex);
	else
		hold(thread_running(), mutex);
	cpu_interrupts_restore(enabled);
	return result;
}

/* Returns whether there is a new holder. */
static bool hand_on(struct mutex *mutex, struct thread *holder)
{
	struct thread *next = take_first(&mutex->waiting);

	hold_no_more(holder, mutex);
	mutex->holder.thread = NULL;
	if (!next)
		return false;
	next->behind = NULL;
	hold(next, mutex);
	return true;
}

static void unlock(struct mutex *mutex, struct thread *self)
{
	if (hand_on(mutex, self))
		thread_reschedule();
	if (self->wish)
		thread_fulfil_wish();
}

enum thread_result mutex_unlock(struct mutex *mutex)
{
	bool enabled = cpu_interrupts_disable();
	struct thread *self = thread_running();
	enum thread_result result = THREAD_E_OWNER;

	if (mutex->holder.thread == self) {
		unlock(mutex, self);
		result = THREAD_OK;
	}
	cpu_interrupts_restore(enabled);
	return result;
}

void mutex_abandon_all(struct thread *thread)
{
	while (mutex_is_held_by(thread)) {
		struct mutex *mutex = thread->held;

		mutex->abandoned++;
		hand_on(mutex, thread);
	}
}

/* ---- Message queues ------------------------------------------------------------------------------------------------ */

static void copy(uint64_t *to, const uint64_t *from, uint32_t words)
{
	for (uint32_t n = 0; n < words; n++)
		to[n] = from[n];
}

static uint64_t *place(const struct queue *queue, uint32_t n)
{
	uint32_t at = queue->first + n;

	return queue->ring + (size_t)(at < queue->room ? at : at - queue->room) * queue->words;
}

/* To who waits for one, past the ring, which is empty; or into the ring. */
static void put(struct queue *queue, const uint64_t *message)
{
	struct thread *receiver = thread_first_waiting(&queue->receivers);

	if (receiver) {
		copy(receiver->message, message, queue->words);
		wake(receiver);
	} else {
		copy(place(queue, queue->count++), message, queue->words);
	}
}

enum thread_result queue_send(struct queue *queue, const uint64_t *message, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;

	if (queue->count < queue->room)
		put(queue, message);
	else
		result = wait_in(&queue->senders, (void *)(uintptr_t)message, deadline);
	cpu_interrupts_restore(enabled);
	return result;
}

/* Takes the oldest, and lets the first that waits for room put its own behind the others. */
static void take(struct queue *queue, uint64_t *message)
{
	struct thread *sender = thread_first_waiting(&queue->senders);

	copy(message, place(queue, 0), queue->words);
	queue->first = queue->first + 1 == queue->room ? 0 : queue->first + 1;
	queue->count--;
	if (!sender)
		return;
	copy(place(queue, queue->count++), sender->message, queue->words);
	wake(sender);
}

enum thread_result queue_receive(struct queue *queue, uint64_t *message, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;

	if (queue->count)
		take(queue, message);
	else
		result = wait_in(&queue->receivers, message, deadline);
	cpu_interrupts_restore(enabled);
	return result;
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

static bool are_there(const struct events *events, uint32_t wanted, bool all)
{
	return all ? (events->set & wanted) == wanted : events->set & wanted;
}

/* Whoever takes them has them, also before it runs. */
static uint32_t take_events(struct events *events, uint32_t wanted)
{
	uint32_t found = events->set & wanted;

	events->set &= ~wanted;
	return found;
}

void events_set(struct events *events, uint32_t bits)
{
	bool enabled = cpu_interrupts_disable();

	events->set |= bits;
	if (events->waiting.top && are_there(events, events->wanted, events->all)) {
		struct thread *first = thread_first_waiting(&events->waiting);

		*(uint32_t *)first->message = take_events(events, events->wanted);
		wake(first);
	}
	cpu_interrupts_restore(enabled);
}

static enum thread_result wait_for_events(struct events *events, uint32_t wanted, bool all, uint64_t deadline, uint32_t *found)
{
	if (are_there(events, wanted, all)) {
		*found = take_events(events, wanted);
		return THREAD_OK;
	}
	if (events->waiting.top)
		return THREAD_E_FULL;
	events->wanted = wanted;
	events->all = all;
	return wait_in(&events->waiting, found, deadline);
}

enum thread_result events_wait(struct events *events, uint32_t wanted, bool all, uint64_t deadline, uint32_t *found)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = wait_for_events(events, wanted, all, deadline, found);

	cpu_interrupts_restore(enabled);
	return result;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* Who is served stands in no heap; those that wait for their turn stand behind the server as well. */
static enum thread_result call(struct port *port, struct thread *self)
{
	struct thread *server = port->server.thread;

	if (!server || server->on)
		return THREAD_E_INVALID;
	if (server->fate != THREAD_ALIVE)
		return THREAD_E_ENDED;
	if (server->serves && server->serves != port)
		return THREAD_E_INVALID;
	if (leads_to(server, self))
		return THREAD_E_DEADLOCK;
	server->serves = port;
	self->call_failed = false;
	if (port->client) {
		stand_behind(&port->server, &port->waiting);
	} else {
		port->client = self;
		stand_behind(&port->server, NULL);
	}
	return self->call_failed ? THREAD_E_ENDED : THREAD_OK;
}

enum thread_result port_call(struct port *port, void *message)
{
	bool enabled = cpu_interrupts_disable();
	struct thread *self = thread_running();
	enum thread_result result;

	self->message = message;
	result = call(port, self);
	if (self->wish)
		thread_fulfil_wish();
	cpu_interrupts_restore(enabled);
	return result;
}

static void reply(struct port *port)
{
	port->client->behind = NULL;
	port->client = take_first(&port->waiting);
	port->received = false; /* a server that is to stop serves nobody now */
}

/* With nobody behind it the server runs no more: whoever comes first now does, and the next call goes on here. */
static void *next_message(struct port *port)
{
	if (port->received)
		reply(port);
	if (thread_running()->wish)
		thread_fulfil_wish();
	thread_reschedule();
	port->received = true;
	return port->client->message;
}

/* A server holds the call that it serves, and nothing else: who waits for a mutex would have it run with no call to serve. */
void *port_reply_and_receive(struct port *port)
{
	bool enabled = cpu_interrupts_disable();
	const struct thread *self = thread_running();
	void *message = self->serves == port && self->held == &sync_no_vcpu ? next_message(port) : NULL;

	cpu_interrupts_restore(enabled);
	return message;
}

void port_fail_all(struct port *port)
{
	for (struct thread *client = port->client; client; client = port->client) {
		client->call_failed = true;
		reply(port);
	}
}

/* ---- Periods ------------------------------------------------------------------------------------------------------ */

enum thread_result periodic_begin(struct periodic *periodic, uint64_t period)
{
	uint64_t now = arch_counter();

	if (thread_running()->watched == periodic)
		periodic_unwatch(periodic);
	*periodic = (struct periodic){ .period = period, .next = now + period };
	if (period && periodic->next > now)
		return THREAD_OK;
	periodic->period = 0;
	return THREAD_E_INVALID;
}

/* From the deadline that was missed to the next that is told of: not one that has passed, and in each period of its VCPU at most one. */
static uint64_t until_next_told(const struct periodic *periodic, uint64_t late)
{
	uint64_t passed = late / periodic->period + 1;
	uint64_t least = (periodic->thread->on->vcpu.order + periodic->period - 1) / periodic->period;

	return (passed > least ? passed : least) * periodic->period;
}

static void miss(struct timer_event *event, struct cpu_frame *frame)
{
	struct periodic *periodic = (struct periodic *)((char *)event - offsetof(struct periodic, deadline));
	uint64_t late = arch_counter() - event->deadline;

	thread_pays_for_interrupt(periodic->thread);
	switch (periodic->policy) {
	case PERIODIC_NOTIFY:
		timer_add(event, event->deadline + until_next_told(periodic, late));
		periodic->notify(periodic);
		break;
	case PERIODIC_STOP:
		thread_stop(periodic->thread);
		break;
	default:
		thread_restart(periodic->thread);
		break;
	}
}

/* To the end of the period that is waited for: it stands while the thread sleeps, and when it is woken and is not given time to run. */
static void move_deadline(struct periodic *periodic)
{
	bool enabled = cpu_interrupts_disable();

	timer_cancel(&periodic->deadline);
	timer_add(&periodic->deadline, periodic->next + periodic->period);
	cpu_interrupts_restore(enabled);
}

static enum thread_result watch(struct thread *self, struct periodic *periodic, enum periodic_policy policy,
				void (*notify)(struct periodic *periodic))
{
	if (!self->on || (policy == PERIODIC_NOTIFY && periodic->period < self->on->vcpu.order))
		return THREAD_E_INVALID;
	if (self->watched && self->watched != periodic)
		return THREAD_E_FULL;
	if (self->watched)
		periodic_unwatch(periodic);
	if (policy == PERIODIC_COUNT)
		return THREAD_OK;
	periodic->policy = policy;
	periodic->notify = notify;
	self->watched = periodic;
	periodic->thread = self;
	periodic->deadline.fire = miss;
	timer_add(&periodic->deadline, periodic->next);
	return THREAD_OK;
}

enum thread_result periodic_watch(struct periodic *periodic, enum periodic_policy policy, void (*notify)(struct periodic *periodic))
{
	bool enabled;
	enum thread_result result;

	if (!periodic->period || policy > PERIODIC_RESTART || (policy == PERIODIC_NOTIFY && !notify))
		return THREAD_E_INVALID;
	enabled = cpu_interrupts_disable();
	result = watch(thread_running(), periodic, policy, notify);
	cpu_interrupts_restore(enabled);
	return result;
}

void periodic_unwatch(struct periodic *periodic)
{
	timer_cancel(&periodic->deadline);
	periodic->thread->watched = NULL;
	periodic->policy = PERIODIC_COUNT;
}

enum thread_result periodic_wait(struct periodic *periodic)
{
	uint64_t now = arch_counter();

	if (thread_is_held_to_run(thread_running()))
		return THREAD_E_HOLDS;
	if (!periodic->period)
		return THREAD_E_INVALID;
	periodic->missed_now = now > periodic->next ? (now - periodic->next) / periodic->period : 0;
	periodic->missed += periodic->missed_now;
	periodic->next += periodic->missed_now * periodic->period;
	if (periodic->policy)
		move_deadline(periodic);
	thread_sleep_until(periodic->next);
	periodic->next += periodic->period;
	return THREAD_OK;
}
