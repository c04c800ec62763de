/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps each core's events by deadline, and sets the one-shot timer for the first (timer.h). */
#include "kernel/core/timer.h"

#include <stddef.h>

#include "abi/guest.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/idle.h"
#include "kernel/core/thread.h"
#include "kernel/sched/ranks.h"

enum { FIRST_EVENTS = 8 }; /* of a core before timer_make_room */

/* One a core, which alone touches it, with interrupts disabled. An event that waits has a place, and its deadline stands there in the tree.
 */
static struct queue {
	struct ranks deadlines;
	struct timer_event **events; /* by place */
	uint64_t free;               /* places, by bit */
	uint64_t limit;
	uint64_t set; /* what the hardware is set to */
	bool firing;  /* it is set when all have fired */
	struct timer_event *first_events[FIRST_EVENTS];
	uint64_t first_words[2 * FIRST_EVENTS];
} queues[BH_MAX_SANDBOX_CORES];

static struct queue *this_queue(void)
{
	return &queues[cpu_slot()];
}

static uint64_t first_deadline(const struct queue *queue)
{
	return ranks_least(&queue->deadlines);
}

static void set_hardware(struct queue *queue)
{
	uint64_t first = first_deadline(queue), at = first < queue->limit ? first : queue->limit;

	if (at == queue->set || queue->firing)
		return;
	queue->set = at;
	if (at == TIMER_NEVER)
		timer_hw_clear();
	else
		timer_hw_set(at);
}

void timer_limit(uint64_t deadline)
{
	this_queue()->limit = deadline;
	set_hardware(this_queue());
}

static void place(struct queue *queue, struct timer_event *event, uint64_t deadline)
{
	unsigned place = (unsigned)__builtin_ctzll(queue->free);

	queue->free &= queue->free - 1;
	queue->events[place] = event;
	event->deadline = deadline;
	event->place = place + 1;
	ranks_set(&queue->deadlines, place, deadline);
}

static void take_out(struct queue *queue, struct timer_event *event)
{
	unsigned place = event->place - 1;

	queue->free |= 1ULL << place;
	event->place = 0;
	ranks_set(&queue->deadlines, place, RANKS_NEVER);
}

void timer_add(struct timer_event *event, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	struct queue *queue = this_queue();

	if (!queue->free)
		fault_stop("more events than a core has room for");
	place(queue, event, deadline);
	set_hardware(queue);
	cpu_interrupts_restore(enabled);
}

void timer_cancel(struct timer_event *event)
{
	bool enabled = cpu_interrupts_disable();
	struct queue *queue = this_queue();

	if (event->place) {
		take_out(queue, event);
		set_hardware(queue);
	}
	cpu_interrupts_restore(enabled);
}

/* Fires what was due when the interrupt came; an event that is late again waits for the next interrupt. */
static void expire(struct cpu_frame *frame)
{
	struct queue *queue = this_queue();
	uint64_t now = arch_counter();

	queue->set = 0; /* it was a single shot */
	queue->firing = true;
	while (first_deadline(queue) <= now) {
		struct timer_event *event = queue->events[ranks_first_least(&queue->deadlines)];

		take_out(queue, event);
		event->fire(event, frame);
		idle_end_sleep();
	}
	if (queue->limit <= now) {
		queue->limit = TIMER_NEVER;
		thread_time_is_up();
	}
	queue->firing = false;
	set_hardware(queue);
}

static void init_queue(struct queue *queue)
{
	*queue = (struct queue){ .limit = TIMER_NEVER, .set = TIMER_NEVER, .free = (1ULL << FIRST_EVENTS) - 1 };
	queue->deadlines = (struct ranks){ .earliest = queue->first_words, .leaves = FIRST_EVENTS };
	queue->events = queue->first_events;
	ranks_clear(&queue->deadlines);
}

void timer_make_room(uint64_t *words, struct timer_event **events)
{
	struct queue *queue = this_queue();
	uint64_t waiting = ~queue->free & ((1ULL << FIRST_EVENTS) - 1);
	struct timer_event **before = queue->events;

	queue->deadlines = (struct ranks){ .earliest = words, .leaves = TIMER_EVENTS };
	queue->events = events;
	queue->free = UINT64_MAX;
	ranks_clear(&queue->deadlines);
	for (; waiting; waiting &= waiting - 1) {
		struct timer_event *event = before[__builtin_ctzll(waiting)];

		place(queue, event, event->deadline);
	}
}

void timer_init(void)
{
	init_queue(this_queue());
	timer_hw_init(expire);
}

void timer_init_core(void)
{
	init_queue(this_queue());
	timer_hw_init_core();
}
