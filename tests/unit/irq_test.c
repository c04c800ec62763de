/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F2.contract. Whatever interrupt has come, with a handler or without, its core is awake after it; and a device's is counted by the
 * number that its controller has for it (BH-F6.doorbells). kernel/core/irq.c
 */
#include "kernel/core/irq.h"

#include "check.h"
#include "kernel/core/console.h"
#include "kernel/core/fault.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/thread.h"
#include "kernel/core/trace.h"

enum { HANDLED = 27, STRAY = 33, DEVICE = 200, DEVICES = 20, HANDLERS = 32 };
#define INTERRUPTED ((struct cpu_frame *)0x1000) /* handed on, never looked into */

static unsigned handled, ended, said;

static bool threads;
static unsigned entered, left;

bool trace_on = true;
static unsigned begun, done; /* interrupts, as a trace has them */

void trace_write(enum bh_trace_kind kind, uint32_t who, uint64_t a, uint64_t b)
{
	CHECK_EQ(kind, BH_TRACE_IRQ_BEGIN);
	CHECK_EQ(begun++, done);
}

void trace_write_irq_end(uint32_t number)
{
	CHECK_EQ(begun, ++done);
}

static void init(void) {}

static void serve(struct cpu_frame *frame, uint32_t vector)
{
	CHECK_EQ(entered, left + threads);
	irq_dispatch(frame, vector);
}

static void enable_local(uint32_t number)
{
	CHECK_EQ(number, HANDLED);
}

/* Numbers that all want the same place. */
static uint32_t enable_device(const struct bh_grant *grant)
{
	return DEVICE + HANDLERS * grant->line;
}

static const struct irq_controller fake = {
	.grant = "fake", .init = init, .serve = serve, .enable_local = enable_local, .enable_device = enable_device
};
const struct irq_controller *const irq_controllers[] = { &fake, NULL };

const struct bh_grant *info_find(enum bh_grant_kind kind, const char *name)
{
	static const struct bh_grant grant;

	return kind == BH_GRANT_IRQCHIP ? &grant : NULL;
}

struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];

static unsigned slot;

unsigned cpu_slot(void)
{
	return slot;
}

/* Another thread may go on at its end, so the interrupt has been ended at its controller. */
void thread_interrupt(void (*serve)(struct cpu_frame *frame, uint32_t vector), struct cpu_frame *frame, uint32_t vector)
{
	entered++;
	serve(frame, vector);
	CHECK_EQ(entered, left + 1);
	CHECK_EQ(handled, 2 + left);
	left++;
}

void fault_stop(const char *why)
{
	check_context.subject = why;
	CHECK(!"reached");
	exit(1);
}

void console_say(const char *format, ...)
{
	said++;
}

/* The handler runs in the sleep that its interrupt ends, so that it can ask how long that was. */
void idle_end_sleep(void)
{
	ended++;
}

static void handle(struct cpu_frame *frame)
{
	CHECK(frame == INTERRUPTED);
	CHECK_EQ(ended, handled);
	handled++;
}

/* Strays do not count; two cores do. */
static void check_census(void)
{
	struct irq_census census = { 0 };

	slot = BH_MAX_SANDBOX_CORES - 1;
	irq_dispatch(INTERRUPTED, HANDLED);
	check_context.subject = "census";
	CHECK(irq_ask(0, &census));
	CHECK_EQ(census.number, HANDLED);
	CHECK_EQ(census.count, 5);
	CHECK(census.name[0] == 'l' && !census.in_hex);
	CHECK(!irq_ask(1, &census));
}

/* Each core has its own count of each; a number that nobody has attached to has none. */
static void check_devices(void)
{
	struct bh_grant grants[DEVICES] = { 0 };

	check_context.subject = "devices";
	slot = 0;
	for (uint32_t n = 0; n < DEVICES; n++) {
		grants[n].line = n;
		CHECK_EQ(irq_attach_device(&grants[n], handle), DEVICE + HANDLERS * n);
	}
	CHECK_EQ(irq_attach_device(&(struct bh_grant){ .line = BH_LINE_NONE }, handle), 0);
	for (uint32_t n = 0; n < DEVICES; n++) {
		check_context.round = n;
		CHECK_EQ(*irq_count(DEVICE + HANDLERS * n), 0);
		for (uint32_t times = 1; times <= n + 1; times++) {
			ended = handled;
			irq_dispatch(INTERRUPTED, DEVICE + HANDLERS * n);
			CHECK_EQ(*irq_count(DEVICE + HANDLERS * n), times);
		}
	}
	slot = 1;
	ended = handled;
	irq_dispatch(INTERRUPTED, DEVICE + HANDLERS);
	CHECK_EQ(*irq_count(DEVICE + HANDLERS), 1);
	slot = 0;
	CHECK_EQ(*irq_count(DEVICE + HANDLERS), 2);
	CHECK_EQ(*irq_count(DEVICE + HANDLERS * (DEVICES - 1)), DEVICES);
	CHECK(!irq_count(DEVICE + HANDLERS * DEVICES));
	CHECK(!irq_count(STRAY));
}

static unsigned taken_over;

static void take_over(struct cpu_frame *frame)
{
	CHECK(frame == INTERRUPTED);
	taken_over++;
}

/* The last one that was attached to a number serves it, and what was counted is counted on. Others that want its place keep theirs. */
static void check_taken_over(void)
{
	const struct bh_grant first = { .line = 0 }, last = { .line = DEVICES - 1 };
	struct irq_census census;
	unsigned numbers = 0;

	check_context.subject = "taken over";
	CHECK_EQ(irq_attach_device(&last, take_over), DEVICE + HANDLERS * (DEVICES - 1));
	ended = handled;
	irq_dispatch(INTERRUPTED, DEVICE + HANDLERS * (DEVICES - 1));
	CHECK_EQ(taken_over, 1);
	CHECK_EQ(*irq_count(DEVICE + HANDLERS * (DEVICES - 1)), DEVICES + 1);
	CHECK_EQ(irq_attach_device(&first, take_over), DEVICE);
	irq_dispatch(INTERRUPTED, DEVICE);
	CHECK_EQ(taken_over, 2);
	ended = handled;
	irq_dispatch(INTERRUPTED, DEVICE + HANDLERS);
	CHECK_EQ(taken_over, 2);
	while (irq_ask(numbers, &census))
		numbers++;
	CHECK_EQ(numbers, 1 + DEVICES);
}

int main(void)
{
	irq_init();
	irq_attach_local(HANDLED, handle);
	check_context.subject = "handled";
	irq_dispatch(INTERRUPTED, HANDLED);
	CHECK_EQ(handled, 1);
	CHECK_EQ(ended, 1);
	check_context.subject = "stray";
	for (check_context.round = 1; check_context.round <= 2; check_context.round++) {
		irq_dispatch(INTERRUPTED, STRAY);
		CHECK_EQ(ended, 1 + check_context.round);
	}
	irq_report_strays();
	CHECK_EQ(handled, 1);
	CHECK_EQ(said, 1);
	check_context.subject = "without and with threads";
	handled = ended = 1;
	irq_serve(INTERRUPTED, HANDLED);
	CHECK_EQ(entered, 0);
	threads = true;
	thread_cores[0] = (struct thread_core *)INTERRUPTED; /* not looked into */
	handled = ended = 1;
	irq_serve(INTERRUPTED, HANDLED);
	CHECK_EQ(left, 1);
	CHECK_EQ(begun, 5);
	CHECK_EQ(done, 5);
	check_context.subject = "without traces";
	trace_on = false;
	irq_dispatch(INTERRUPTED, HANDLED);
	CHECK_EQ(begun, 5);
	CHECK_EQ(handled, 3);
	check_census();
	check_devices();
	check_taken_over();
	return 0;
}
