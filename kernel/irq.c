/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/irq.h"

#include <stddef.h>

#include "kernel/fault.h"
#include "kernel/info.h"

enum { MAX_HANDLERS = 8 };

static const struct irq_controller *controller;
static struct irq_handler {
	uint32_t number;
	void (*handle)(void);
} handlers[MAX_HANDLERS];

void irq_init(void)
{
	for (const struct irq_controller *const *c = irq_controllers; *c && !controller; c++)
		if (info_find(BH_GRANT_IRQCHIP, (*c)->grant))
			controller = *c;
	if (!controller)
		fault_stop("no interrupt controller was granted");
	controller->init();
}

static void attach(uint32_t number, void (*handle)(void))
{
	for (struct irq_handler *h = handlers; h < handlers + MAX_HANDLERS; h++)
		if (!h->handle) {
			*h = (struct irq_handler){ number, handle };
			return;
		}
	fault_stop("too many interrupt handlers");
}

void irq_attach_local(uint32_t number, void (*handler)(void))
{
	attach(number, handler);
	controller->enable_local(number);
}

void irq_attach_device(const struct bh_grant *grant, void (*handler)(void))
{
	if (grant->line != BH_LINE_NONE)
		attach(controller->enable_device(grant), handler);
}

void irq_serve(uint32_t vector)
{
	controller->serve(vector);
}

void irq_dispatch(uint32_t number)
{
	for (const struct irq_handler *h = handlers; h < handlers + MAX_HANDLERS && h->handle; h++)
		if (h->number == number)
			h->handle();
}
