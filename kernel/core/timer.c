/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps each core's events by deadline, and sets the one-shot timer for the first (timer.h). */
#include "kernel/core/timer.h"

#include <stddef.h>

#include "abi/guest.h"
#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/core/thread.h"

/* One a core, which alone touches it, with interrupts disabled. */
static struct queue {
	struct heap events;
	uint64_t limit;
	uint64_t set; /* what the hardware is set to */
	bool firing;  /* it is set when all have fired */
} queues[BH_MAX_SANDBOX_CORES];

static struct queue *this_queue(void)
{
	return &queues[cpu_slot()];
}

static uint64_t first_deadline(const struct queue *queue)
{
	return queue->events.top ? queue->events.top->key : TIMER_NEVER;
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
	struct queue *queue = this_queue();

	queue->limit = deadline;
	set_hardware(queue);
}

void timer_add(struct timer_event *event, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	struct queue *queue = this_queue();

	event->deadline = event->node.key = deadline;
	event->waits = true;
	heap_add(&queue->events, &event->node);
	set_hardware(queue);
	cpu_interrupts_restore(enabled);
}

static void take_out(struct queue *queue, struct timer_event *event)
{
	event->waits = false;
	heap_take_out(&queue->events, &event->node);
}

void timer_take_out(struct timer_event *event)
{
	take_out(this_queue(), event);
}

void timer_cancel(struct timer_event *event)
{
	bool enabled = cpu_interrupts_disable();
	struct queue *queue = this_queue();

	if (event->waits) {
		take_out(queue, event);
		set_hardware(queue);
	}
	cpu_interrupts_restore(enabled);
}

/* Fires all that was due when the interrupt came. An event that its handler adds for a time that has passed by then fires once more. */
static void expire(struct cpu_frame *frame)
{
	struct queue *queue = this_queue();
	uint64_t now = arch_counter();

	queue->set = 0; /* it was a single shot */
	queue->firing = true;
	while (first_deadline(queue) <= now) {
		struct timer_event *event = (struct timer_event *)((char *)queue->events.top - offsetof(struct timer_event, node));

		take_out(queue, event);
		event->fire(event, frame);
		idle_end_sleep();
	}
	if (queue->limit <= now) {
		queue->limit = TIMER_NEVER;
		thread_time_is_up(now);
	}
	queue->firing = false;
	set_hardware(queue);
}

static void init_queue(struct queue *queue)
{
	*queue = (struct queue){ .limit = TIMER_NEVER, .set = TIMER_NEVER };
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
