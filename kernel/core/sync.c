/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores, mutexes, message queues, events and calls between threads of a core (sync.h). */
#include "kernel/core/sync.h"

#include <stddef.h>

#include "kernel/core/cpu.h"

/* Waits until it is woken, with what waker and waiter hand over, or says why not. Interrupts disabled; in a handler with deadline 0. */
static enum thread_result wait_in(struct heap *heap, void *message, uint64_t deadline)
{
	struct thread *self;

	if (deadline == 0)
		return THREAD_E_TIMEOUT;
	self = thread_running();
	if (self->holds)
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

/* The running thread stays ready, and has the other one run in its place until it stands behind nobody. */
static void stand_behind(const struct thread_donee *donee, struct heap *waiting)
{
	struct thread *self = thread_running();

	self->wait.key = thread_key(self);
	heap_add(waiting, &self->wait);
	self->behind = donee;
	thread_reschedule();
}

/* Takes the first that waits out; NULL: nobody does. */
static struct thread *take_first(struct heap *waiting)
{
	struct thread *first = thread_first_waiting(waiting);

	if (first)
		heap_remove(waiting, &first->wait);
	return first;
}

/* ---- Mutexes ---------------------------------------------------------------------------------------------------- */

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

	if (mutex->holder.thread) {
		result = wait_for_mutex(mutex);
	} else {
		mutex->holder.thread = thread_running();
		mutex->holder.thread->holds++;
	}
	cpu_interrupts_restore(enabled);
	return result;
}

static void hand_over(struct mutex *mutex, struct thread *next)
{
	mutex->holder.thread->holds--;
	mutex->holder.thread = next;
	if (!next)
		return;
	next->behind = NULL;
	next->holds++;
	thread_reschedule();
}

enum thread_result mutex_unlock(struct mutex *mutex)
{
	bool enabled = cpu_interrupts_disable();
	bool own = mutex->holder.thread == thread_running();

	if (own)
		hand_over(mutex, take_first(&mutex->waiting));
	cpu_interrupts_restore(enabled);
	return own ? THREAD_OK : THREAD_E_OWNER;
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

void events_set(struct events *events, uint32_t bits)
{
	bool enabled = cpu_interrupts_disable();

	events->set |= bits;
	if (events->waiting.top && are_there(events, events->wanted, events->all))
		wake(thread_first_waiting(&events->waiting));
	cpu_interrupts_restore(enabled);
}

static enum thread_result wait_for_events(struct events *events, uint32_t wanted, bool all, uint64_t deadline)
{
	if (are_there(events, wanted, all))
		return THREAD_OK;
	if (events->waiting.top)
		return THREAD_E_FULL;
	events->wanted = wanted;
	events->all = all;
	return wait_in(&events->waiting, NULL, deadline);
}

enum thread_result events_wait(struct events *events, uint32_t wanted, bool all, uint64_t deadline, uint32_t *found)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = wait_for_events(events, wanted, all, deadline);

	if (result == THREAD_OK) {
		*found = events->set & wanted;
		events->set &= ~wanted;
	}
	cpu_interrupts_restore(enabled);
	return result;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* Who is served stands in no heap; those that wait for their turn stand behind the server as well. */
static enum thread_result call(struct port *port, struct thread *self)
{
	if (!port->server.thread)
		return THREAD_E_INVALID;
	if (leads_to(port->server.thread, self))
		return THREAD_E_DEADLOCK;
	if (port->client) {
		stand_behind(&port->server, &port->waiting);
		return THREAD_OK;
	}
	port->client = self;
	self->behind = &port->server;
	thread_reschedule();
	return THREAD_OK;
}

enum thread_result port_call(struct port *port, void *message)
{
	bool enabled = cpu_interrupts_disable();
	struct thread *self = thread_running();
	enum thread_result result;

	self->message = message;
	result = call(port, self);
	cpu_interrupts_restore(enabled);
	return result;
}

static void reply(struct port *port)
{
	port->client->behind = NULL;
	port->client = take_first(&port->waiting);
	port->received = false;
}

/* With nobody behind it the server runs no more: whoever comes first now does, and the next call goes on here. */
void *port_reply_and_receive(struct port *port)
{
	bool enabled = cpu_interrupts_disable();
	void *message;

	if (port->received)
		reply(port);
	thread_reschedule();
	port->received = true;
	message = port->client->message;
	cpu_interrupts_restore(enabled);
	return message;
}

/* ---- Periods ------------------------------------------------------------------------------------------------------ */

void periodic_begin(struct periodic *periodic, uint64_t period)
{
	*periodic = (struct periodic){ .period = period, .next = arch_counter() + period };
}

enum thread_result periodic_wait(struct periodic *periodic)
{
	uint64_t now = arch_counter();

	if (thread_running()->holds)
		return THREAD_E_HOLDS;
	periodic->missed_now = now > periodic->next ? (now - periodic->next) / periodic->period : 0;
	periodic->missed += periodic->missed_now;
	periodic->next += periodic->missed_now * periodic->period;
	thread_sleep_until(periodic->next);
	periodic->next += periodic->period;
	return THREAD_OK;
}
