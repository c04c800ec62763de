/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/timer.h"

#include <stddef.h>

#include "kernel/cpu.h"

static struct timer_event *first;

/* With interrupts disabled. */
static void set_hardware(void)
{
	if (first)
		timer_hw_set(first->deadline);
	else
		timer_hw_clear();
}

void timer_add(struct timer_event *event, uint64_t deadline)
{
	bool enabled = cpu_interrupts_disable();
	struct timer_event **link = &first;

	while (*link && (*link)->deadline <= deadline)
		link = &(*link)->next;
	event->deadline = deadline;
	event->next = *link;
	*link = event;
	set_hardware();
	cpu_interrupts_restore(enabled);
}

void timer_cancel(struct timer_event *event)
{
	bool enabled = cpu_interrupts_disable();
	struct timer_event **link = &first;

	while (*link && *link != event)
		link = &(*link)->next;
	if (*link)
		*link = event->next;
	set_hardware();
	cpu_interrupts_restore(enabled);
}

/* Fires what was due when the interrupt came; an event that is late again waits for the next interrupt. */
static void expire(void)
{
	uint64_t now = arch_counter();

	while (first && first->deadline <= now) {
		struct timer_event *event = first;

		first = event->next;
		event->fire(event);
	}
	set_hardware();
}

void timer_init(void)
{
	timer_hw_init(expire);
}
