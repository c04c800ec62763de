/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps each core's queue of events by deadline, and sets the one-shot timer for the first (timer.h). */
#include "kernel/core/timer.h"

#include <stddef.h>

#include "abi/guest.h"
#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"

static struct timer_event *queues[BH_MAX_SANDBOX_CORES]; /* one a core, which alone touches it */

/* With interrupts disabled. */
static void set_hardware(const struct timer_event *first)
{
	if (first)
		timer_hw_set(first->deadline);
	else
		timer_hw_clear();
}

void timer_add(struct timer_event *event, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	struct timer_event **first = &queues[cpu_slot()], **link = first;

	while (*link && (*link)->deadline <= deadline)
		link = &(*link)->next;
	event->deadline = deadline;
	event->next = *link;
	*link = event;
	set_hardware(*first);
	cpu_interrupts_restore(enabled);
}

void timer_cancel(struct timer_event *event)
{
	bool enabled = cpu_interrupts_disable();
	struct timer_event **first = &queues[cpu_slot()], **link = first;

	while (*link && *link != event)
		link = &(*link)->next;
	if (*link)
		*link = event->next;
	set_hardware(*first);
	cpu_interrupts_restore(enabled);
}

/* Fires what was due when the interrupt came; an event that is late again waits for the next interrupt. */
static void expire(struct cpu_frame *frame)
{
	struct timer_event **first = &queues[cpu_slot()];
	uint64_t now = arch_counter();

	while (*first && (*first)->deadline <= now) {
		struct timer_event *event = *first;

		*first = event->next;
		event->fire(event, frame);
		idle_end_sleep();
	}
	set_hardware(*first);
}

void timer_init(void)
{
	timer_hw_init(expire);
}

void timer_init_core(void)
{
	timer_hw_init_core();
}
