/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the interrupt controller that was granted, and gives each interrupt to who attached to its number (irq.h). */
#include "kernel/core/irq.h"

#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/console.h"
#include "kernel/core/fault.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/thread.h"
#include "kernel/core/trace.h"

enum { MAX_HANDLERS = 32, MAX_STRAYS = 16 };

static const struct irq_controller *controller;
static void (*serve)(struct cpu_frame *frame, uint32_t vector); /* the controller's, a load nearer */

/* A number's handler lies at the number's remainder, or, where others took that, in the first place after it: found at once as a rule. */
static struct irq_handler {
	void (*handle)(struct cpu_frame *frame);
	uint32_t number;
	bool local; /* every core has one */
	const char *name;
	uint64_t count[BH_MAX_SANDBOX_CORES]; /* by slot, each core's its own: no lock, no lost count */
} handlers[MAX_HANDLERS];

/* Numbers that came without a handler, each once: written by interrupts, read by the main program. */
static struct {
	uint32_t number[MAX_STRAYS];
	_Atomic uint32_t noted;
	uint32_t said;
} strays;

void irq_init(void)
{
	for (const struct irq_controller *const *c = irq_controllers; *c && !controller; c++)
		if (info_find(BH_GRANT_IRQCHIP, (*c)->grant))
			controller = *c;
	if (!controller)
		fault_stop("no interrupt controller was granted");
	serve = controller->serve;
	controller->init();
}

void irq_init_core(void)
{
	controller->init_core();
	for (const struct irq_handler *h = handlers; h < handlers + MAX_HANDLERS; h++)
		if (h->handle && h->local)
			controller->enable_local(h->number);
}

static void attach(uint32_t number, void (*handle)(struct cpu_frame *frame), bool local, const char *name)
{
	for (uint32_t n = 0; n < MAX_HANDLERS; n++) {
		struct irq_handler *h = &handlers[(number + n) % MAX_HANDLERS];

		if (h->handle && h->number != number)
			continue;
		if (!h->handle)
			*h = (struct irq_handler){ .number = number, .local = local, .name = name };
		h->handle = handle;
		return;
	}
	fault_stop("too many interrupt handlers");
}

void irq_attach_local(uint32_t number, void (*handler)(struct cpu_frame *frame))
{
	attach(number, handler, true, number == controller->notice ? "notice" : "local");
	controller->enable_local(number);
}

uint32_t irq_attach_device(const struct bh_grant *grant, void (*handler)(struct cpu_frame *frame))
{
	uint32_t number = 0;

	if (grant->line != BH_LINE_NONE) {
		number = controller->enable_device(grant);
		attach(number, handler, false, (const char *)grant->name);
	}
	return number;
}

static struct irq_handler *handler_of(uint32_t number)
{
	for (uint32_t n = 0; n < MAX_HANDLERS; n++) {
		struct irq_handler *h = &handlers[(number + n) % MAX_HANDLERS];

		if (!h->handle)
			break;
		if (h->number == number)
			return h;
	}
	return NULL;
}

const uint64_t *irq_count(uint32_t number)
{
	const struct irq_handler *h = handler_of(number);

	return h ? &h->count[cpu_slot()] : NULL;
}

void irq_attach_ipi(void (*handler)(struct cpu_frame *frame))
{
	attach(controller->ipi, handler, false, "ipi");
}

/* The last that was noted, if it was this and has not been said. */
static bool forget_stray(uint32_t number)
{
	uint32_t noted = atomic_load_explicit(&strays.noted, memory_order_acquire);

	if (noted == strays.said || strays.number[noted - 1] != number)
		return false;
	atomic_store_explicit(&strays.noted, noted - 1, memory_order_release);
	return true;
}

/* One that came before this is no stray. */
void irq_attach_notice(void (*handler)(struct cpu_frame *frame))
{
	irq_attach_local(controller->notice, handler);
	if (forget_stray(controller->notice))
		handler(NULL);
}

void irq_send_ipi(unsigned slot)
{
	controller->send_ipi(slot);
}

uint32_t irq_mask(uint32_t priority)
{
	return controller->mask(priority);
}

uint32_t irq_running_priority(void)
{
	return controller->running();
}

void irq_serve(struct cpu_frame *frame, uint32_t vector)
{
	if (thread_begun())
		thread_interrupt(serve, frame, vector);
	else
		serve(frame, vector);
}

static void note_stray(uint32_t number)
{
	uint32_t noted = atomic_load_explicit(&strays.noted, memory_order_relaxed);

	for (uint32_t n = 0; n < noted; n++)
		if (strays.number[n] == number)
			return;
	if (noted == MAX_STRAYS)
		return; /* enough has been said */
	strays.number[noted] = number;
	atomic_store_explicit(&strays.noted, noted + 1, memory_order_release);
}

static bool handle(struct cpu_frame *frame, uint32_t number)
{
	struct irq_handler *h = handler_of(number);

	if (!h)
		return false;
	h->count[cpu_slot()]++;
	h->handle(frame);
	return true;
}

static inline void dispatch(struct cpu_frame *frame, uint32_t number)
{
	if (!handle(frame, number))
		note_stray(number);
	idle_end_sleep();
}

TRACE_COLD static void dispatch_traced(struct cpu_frame *frame, uint32_t number)
{
	trace_write(BH_TRACE_IRQ_BEGIN, number, 0, 0);
	dispatch(frame, number);
	trace_write_irq_end(number);
}

void irq_dispatch(struct cpu_frame *frame, uint32_t number)
{
	if (trace_is_on())
		dispatch_traced(frame, number);
	else
		dispatch(frame, number);
}

static uint64_t sum_of(const struct irq_handler *h)
{
	uint64_t sum = 0;

	for (unsigned slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++)
		sum += __atomic_load_n(&h->count[slot], __ATOMIC_RELAXED);
	return sum;
}

bool irq_ask(unsigned n, struct irq_census *census)
{
	for (const struct irq_handler *h = handlers; h < handlers + MAX_HANDLERS; h++) {
		if (!h->handle || n--)
			continue;
		*census = (struct irq_census){
			.number = h->number, .in_hex = controller->numbers_in_hex, .name = h->name, .count = sum_of(h)
		};
		return true;
	}
	return false;
}

void irq_report_strays(void)
{
	while (strays.said < atomic_load_explicit(&strays.noted, memory_order_acquire)) {
		uint64_t number = strays.number[strays.said++];
		const char *what = number == controller->notice ? ": the number of notices" : "";

		if (controller->numbers_in_hex)
			console_say("stray interrupt 0x%jx%s", number, what);
		else
			console_say("stray interrupt %ju%s", number, what);
	}
}
