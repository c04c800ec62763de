/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.doorbells. How the sandbox kernel rings, and waits to be rung: three channels, of which it is rung by two and rings by two, and
 * another grant's row between them. kernel/core/doorbells.c
 */
#include "kernel/core/doorbells.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/sync.h"
#include "kernel/core/timer.h"

enum { BOTH_LINE = 70, RUNG_LINE = 71, NUMBERS_FROM = 100, GAP_NS = 100000, SLEEPS_UNTIL = 777 };

static struct bh_info page;
const struct bh_info *info = &page;

/* ---- Around it ------------------------------------------------------------------------------------------------------------ */

static struct {
	uint64_t function, argument;
	unsigned count;
} calls;
static int64_t answer;

static void (*in_between)(void); /* what another thread does before the call is over */

uint64_t cpu_call_monitor(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
	void (*another)(void) = in_between;

	calls.function = function;
	calls.argument = a;
	calls.count++;
	in_between = NULL;
	if (another)
		another();
	return (uint64_t)answer;
}

static void (*handler)(struct cpu_frame *frame);
static uint64_t counts[2]; /* of interrupts, by line */
static unsigned attached;

uint32_t irq_attach_device(const struct bh_grant *grant, void (*handle)(struct cpu_frame *frame))
{
	CHECK_EQ(grant->kind, BH_GRANT_DOORBELL);
	CHECK(grant->line == BOTH_LINE || grant->line == RUNG_LINE);
	CHECK(!handler || handler == handle);
	handler = handle;
	attached++;
	return NUMBERS_FROM + grant->line;
}

const uint64_t *irq_count(uint32_t number)
{
	CHECK(number == NUMBERS_FROM + BOTH_LINE || number == NUMBERS_FROM + RUNG_LINE);
	return &counts[number - NUMBERS_FROM - BOTH_LINE];
}

static void interrupt(uint32_t line)
{
	counts[line - BOTH_LINE]++;
	handler(NULL);
}

/* Who would sleep does not come back before its deadline, or is rung by what `meanwhile` does. */
static void (*meanwhile)(void);
static unsigned sleeps;

enum thread_result semaphore_give_in_handler(struct semaphore *semaphore)
{
	if (semaphore->most && semaphore->count >= semaphore->most)
		return THREAD_E_FULL;
	semaphore->count++;
	return THREAD_OK;
}

enum thread_result semaphore_take(struct semaphore *semaphore, uint64_t deadline)
{
	CHECK_EQ(deadline, SLEEPS_UNTIL);
	if (!semaphore->count) {
		sleeps++;
		if (meanwhile)
			meanwhile();
	}
	if (!semaphore->count)
		return THREAD_E_TIMEOUT;
	semaphore->count--;
	return THREAD_OK;
}

static uint64_t now = 1000;
uint64_t arch_counter(void)
{
	return now;
}

uint64_t clock_from_ns(uint64_t ns)
{
	return ns / 10;
}

static struct timer_event *timer;
void timer_add(struct timer_event *event, uint64_t deadline)
{
	CHECK(!event->waits);
	event->waits = true;
	event->deadline = deadline;
	timer = event;
}

static void expire(void)
{
	timer->waits = false;
	timer->fire(timer, NULL);
}

static void grant(uint32_t kind, const char *name, uint32_t line, uint64_t own_ns, uint64_t other_ns)
{
	struct bh_grant *row = &page.grants[page.grant_count++];

	*row = (struct bh_grant){ .kind = kind, .line = line, .gpa = own_ns, .size = other_ns };
	strcpy((char *)row->name, name);
}

static void make(void)
{
	grant(BH_GRANT_CHANNEL, "silent", 0, 0, 0);
	grant(BH_GRANT_CHANNEL, "both", 0, 0, 0);
	grant(BH_GRANT_DEVICE, "both", 40, 0, 0);
	grant(BH_GRANT_CHANNEL, "rung", 0, 0, 0);
	grant(BH_GRANT_CHANNEL, "rings", 0, 0, 0);
	grant(BH_GRANT_DOORBELL, "both", BOTH_LINE, GAP_NS, 2 * GAP_NS);
	grant(BH_GRANT_DOORBELL, "rung", RUNG_LINE, 0, GAP_NS);
	grant(BH_GRANT_DOORBELL, "rings", BH_LINE_NONE, 3 * GAP_NS, 0);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------------------- */

static struct doorbell *both, *rung, *rings;

static void test_grants(void)
{
	check_context.subject = "grants";
	both = doorbell_find("both");
	rung = doorbell_find("rung");
	rings = doorbell_find("rings");
	CHECK(both && rung && rings && both != rung && rung != rings);
	CHECK(!doorbell_find("silent") && !doorbell_find("bot") && !doorbell_find(""));
	CHECK_EQ(attached, 2);
	CHECK_EQ(doorbell_gap_ns(both), GAP_NS);
	CHECK_EQ(doorbell_gap_ns(rung), 0);
	CHECK_EQ(doorbell_gap_ns(rings), 3 * GAP_NS);
}

static void check_call(const struct doorbell *doorbell, uint64_t number)
{
	unsigned before = calls.count;

	for (answer = BH_OK; answer >= BH_E_LATER; answer--)
		CHECK_EQ(doorbell_ring(doorbell), (uint64_t)answer);
	CHECK_EQ(calls.count - before, 5);
	CHECK_EQ(calls.function, BH_CALL_DOORBELL);
	CHECK_EQ(calls.argument, number);
}

/* By the channel's number among channels, whatever else is granted; the monitor judges. */
static void test_rings(void)
{
	check_context.subject = "rings";
	check_call(both, 1);
	check_call(rung, 2);
	check_call(rings, 3);
}

/* What comes too soon is rung once more, when the gap is over, however often it is asked for meanwhile. */
static void test_tells(void)
{
	unsigned before = calls.count;

	check_context.subject = "tells";
	answer = BH_OK;
	doorbell_tell(both);
	CHECK_EQ(calls.count - before, 1);
	CHECK(!timer);
	answer = BH_E_LATER;
	doorbell_tell(both);
	CHECK_EQ(calls.count - before, 2);
	CHECK(timer && timer->deadline == now + GAP_NS / 10);
	doorbell_tell(both);
	CHECK_EQ(calls.count - before, 2);
	answer = BH_OK;
	expire();
	CHECK_EQ(calls.count - before, 3);
	CHECK_EQ(calls.argument, 1);
	CHECK(!timer->waits);
	answer = BH_E_DENIED;
	doorbell_tell(rung);
	CHECK(!timer->waits);
	CHECK(fake_cpu.enabled);
}

static void tell_too_soon(void)
{
	answer = BH_E_LATER;
	doorbell_tell(both);
}

static void tell_there(void)
{
	fake_cpu.slot = 1;
	doorbell_tell(doorbell_find("both"));
	fake_cpu.slot = 0;
}

static void tell_in_time(void)
{
	answer = BH_OK;
	doorbell_tell(both);
	answer = BH_E_LATER;
}

/* Two threads of a core tell at once, and one of them comes too soon: it is rung once more, and by one event. */
static void test_tells_at_once(void)
{
	unsigned before = calls.count;

	check_context.subject = "both too soon";
	in_between = tell_too_soon;
	doorbell_tell(both);
	CHECK_EQ(calls.count - before, 2);
	CHECK(timer->waits);
	answer = BH_OK;
	expire();
	CHECK_EQ(calls.count - before, 3);
	CHECK(!timer->waits);
	check_context.subject = "too soon when its time has come";
	answer = BH_E_LATER;
	doorbell_tell(both);
	expire();
	CHECK(timer->waits);
	doorbell_tell(both); /* which is left to the event */
	answer = BH_OK;
	expire();
	CHECK(!timer->waits);
	CHECK_EQ(calls.count - before, 6);
	before += 3;
	check_context.subject = "one in time";
	in_between = tell_in_time;
	doorbell_tell(both);
	CHECK_EQ(calls.count - before, 5);
	CHECK(timer->waits);
	answer = BH_OK;
	expire();
	CHECK(fake_cpu.enabled);
	check_context.subject = "another core, while the event's own ring is refused";
	answer = BH_E_LATER;
	doorbell_tell(both);
	in_between = tell_there;
	expire();
	CHECK(timer->waits);
	answer = BH_OK;
	expire();
	CHECK(!timer->waits);
	check_context.subject = "";
}

static enum thread_result wait(struct doorbell *doorbell)
{
	return doorbell_wait(doorbell, SLEEPS_UNTIL);
}

static void ring_both(void)
{
	interrupt(BOTH_LINE);
}

static void ring_the_other(void)
{
	interrupt(RUNG_LINE);
}

static void test_waits(void)
{
	check_context.subject = "nobody rings";
	CHECK_EQ(wait(both), THREAD_E_TIMEOUT);
	CHECK_EQ(sleeps, 1);
	check_context.subject = "rung while it sleeps";
	meanwhile = ring_both;
	CHECK_EQ(wait(both), THREAD_OK);
	CHECK_EQ(sleeps, 2);
	meanwhile = NULL;
	CHECK_EQ(wait(both), THREAD_E_TIMEOUT); /* it was one ring */
	check_context.subject = "rung before it waits";
	sleeps = 0;
	interrupt(BOTH_LINE);
	CHECK_EQ(wait(both), THREAD_OK);
	CHECK_EQ(sleeps, 0);
	CHECK_EQ(wait(both), THREAD_E_TIMEOUT);
	check_context.subject = "several are one";
	interrupt(BOTH_LINE);
	interrupt(BOTH_LINE);
	interrupt(BOTH_LINE);
	CHECK_EQ(wait(both), THREAD_OK);
	CHECK_EQ(wait(both), THREAD_E_TIMEOUT);
	CHECK_EQ(doorbell_count(both), 5);
	check_context.subject = "another doorbell";
	meanwhile = ring_the_other;
	CHECK_EQ(wait(both), THREAD_E_TIMEOUT);
	meanwhile = NULL;
	CHECK_EQ(wait(rung), THREAD_OK);
	CHECK_EQ(doorbell_count(rung), 1);
	CHECK_EQ(doorbell_count(both), 5);
	handler(NULL); /* an interrupt of nobody's is no ring */
	CHECK_EQ(wait(both), THREAD_E_TIMEOUT);
	CHECK_EQ(wait(rung), THREAD_E_TIMEOUT);
}

static void test_never_rung(void)
{
	check_context.subject = "never rung";
	sleeps = 0;
	CHECK_EQ(wait(rings), THREAD_E_INVALID);
	CHECK_EQ(doorbell_count(rings), 0);
	check_context.subject = "another core";
	interrupt(BOTH_LINE);
	fake_cpu.slot = 1;
	CHECK_EQ(wait(both), THREAD_E_INVALID);
	fake_cpu.slot = 0;
	CHECK_EQ(wait(both), THREAD_OK);
	CHECK_EQ(sleeps, 0);
}

int main(void)
{
	check_context.subject = "no doorbells";
	doorbells_init();
	CHECK(!doorbell_find("both"));
	CHECK_EQ(attached, 0);
	make();
	doorbells_init();
	test_grants();
	test_rings();
	test_tells();
	test_tells_at_once();
	test_waits();
	test_never_rung();
	return 0;
}
