/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. Deadlines of the sandbox kernel in simulated time: random events added and cancelled on two cores against a list; then
 * the heartbeat over them, with delays of every length. kernel/core/{timer,heartbeat,clock}.c
 */
#include "kernel/core/timer.h"

#include "abi/telemetry.h"
#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/idle.h"
#include "kernel/core/telemetry.h"
#include "kernel/core/thread.h"
#include "random.h"

enum { STEPS = 10000, EVENTS = 24, CORES = 2, HZ = 1000000000 };

static uint64_t now;
static uint64_t timer_at[CORES]; /* of the hardware; ~0: off */
static void (*expired)(struct cpu_frame *frame);
static struct bh_log ring;
static bool sleeping;
static unsigned sleeps_ended;

/* ---- Around it ---------------------------------------------------------------------------------------------------- */

uint64_t arch_counter(void)
{
	return now;
}

void arch_relax(void) {}

void timer_hw_init(void (*handler)(struct cpu_frame *frame))
{
	expired = handler;
	timer_at[0] = ~0ULL;
}

void timer_hw_init_core(void)
{
	timer_at[fake_cpu.slot] = ~0ULL;
}

void timer_hw_set(uint64_t deadline)
{
	CHECK(!fake_cpu.enabled);
	timer_at[fake_cpu.slot] = deadline;
}

void timer_hw_clear(void)
{
	CHECK(!fake_cpu.enabled);
	timer_at[fake_cpu.slot] = ~0ULL;
}

static unsigned woken;

void thread_wake_main(void)
{
	CHECK(!fake_cpu.enabled);
	woken++;
}

_Atomic uint64_t telemetry_next = UINT64_MAX;
static unsigned times_up;

void thread_time_is_up(uint64_t by)
{
	CHECK(!fake_cpu.enabled);
	times_up++;
}

void idle_end_sleep(void)
{
	sleeps_ended++;
}

bool idle_slept_since(uint64_t moment)
{
	return sleeping;
}

struct bh_log *console_log(void)
{
	return &ring;
}

void console_report(const char *format, ...) {}

static unsigned refused;
void console_say(const char *format, ...)
{
	refused++;
}

struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];

/* Lets the core's timer interrupt, if it is due, as often as it is. */
static void interrupts(void)
{
	for (fake_cpu.slot = 0; fake_cpu.slot < CORES; fake_cpu.slot++)
		while (timer_at[fake_cpu.slot] <= now) {
			timer_at[fake_cpu.slot] = ~0ULL; /* one shot */
			fake_cpu.enabled = false;
			expired(NULL);
			fake_cpu.enabled = true;
		}
	fake_cpu.slot = 0;
}

/* ---- Events ------------------------------------------------------------------------------------------------------- */

static struct tested {
	struct timer_event event;
	bool waiting;
	unsigned slot;
	uint64_t again; /* 0, or how much later the handler adds it once more */
} tested[EVENTS];
static uint64_t fired;

static void fire(struct timer_event *event, struct cpu_frame *frame)
{
	struct tested *one = (struct tested *)event;

	CHECK(one->waiting);
	CHECK_EQ(one->slot, fake_cpu.slot);
	CHECK(event->deadline <= now);
	CHECK(!fake_cpu.enabled);
	one->waiting = false;
	fired++;
	for (unsigned n = 0; n < EVENTS; n++) /* nobody on this core was due before */
		CHECK(!tested[n].waiting || tested[n].slot != fake_cpu.slot || tested[n].event.deadline >= event->deadline);
	if (!one->again)
		return;
	one->waiting = true;
	timer_add(event, event->deadline + one->again);
	one->again = 0;
}

static void check_hardware(void)
{
	for (unsigned slot = 0; slot < CORES; slot++) {
		uint64_t first = ~0ULL;

		for (unsigned n = 0; n < EVENTS; n++)
			if (tested[n].waiting && tested[n].slot == slot && tested[n].event.deadline < first)
				first = tested[n].event.deadline;
		CHECK_EQ(timer_at[slot], first);
	}
}

/* ---- The heap below --------------------------------------------------------------------------------------------------- */

enum { NODES = 200, KEYS = 20 };

/* Everybody comes after who is above, the right side is the shallower one, and the links up are those down. */
static unsigned depth_below(const struct heap_node *node, unsigned *count)
{
	unsigned left, right;

	if (!node)
		return 0;
	++*count;
	left = depth_below(node->left, count);
	right = depth_below(node->right, count);
	CHECK(left >= right);
	CHECK_EQ(node->depth, right + 1);
	for (unsigned side = 0; side < 2; side++) {
		const struct heap_node *below = side ? node->right : node->left;

		CHECK(!below || below->up == node);
		CHECK(!below || below->key > node->key || (below->key == node->key && below->number > node->number));
	}
	return right + 1;
}

static struct heap_node nodes[NODES];
static struct {
	bool in;
	uint64_t key, added;
} listed[NODES];

static const struct heap_node *first_listed(void)
{
	unsigned first = NODES;

	for (unsigned n = 0; n < NODES; n++)
		if (listed[n].in && (first == NODES || listed[n].key < listed[first].key ||
				     (listed[n].key == listed[first].key && listed[n].added < listed[first].added)))
			first = n;
	return first == NODES ? NULL : &nodes[first];
}

static void hasten_one(struct heap *heap, unsigned n)
{
	listed[n].key -= below(listed[n].key + 1);
	heap_hasten(heap, &nodes[n], listed[n].key);
}

static void add_one(struct heap *heap, unsigned n)
{
	static uint64_t added;

	listed[n].in = true;
	listed[n].added = added++;
	listed[n].key = nodes[n].key = below(KEYS);
	heap_add(heap, &nodes[n]);
}

/* Against a list that is read to its end. */
static void test_heap(void)
{
	struct heap heap = { 0 };
	unsigned there = 0;

	check_context.subject = "heap";
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++) {
		unsigned n = (unsigned)below(NODES), count = 0;

		if (!listed[n].in) {
			add_one(&heap, n);
			there++;
		} else if (below(2)) {
			hasten_one(&heap, n);
		} else {
			heap_remove(&heap, &nodes[n]);
			listed[n].in = false;
			there--;
		}
		CHECK(heap.top == first_listed());
		depth_below(heap.top, &count);
		CHECK_EQ(count, there);
		CHECK(!heap.top || !heap.top->up);
	}
}

/* A limit among the events: the timer comes for whichever is first, and tells of the limit once. */
static void test_limit(void)
{
	struct tested *one = &tested[0];

	check_context.subject = "limit";
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++) {
		uint64_t limit = now + below(300), deadline = now + 1 + below(300), count = fired;
		unsigned before = times_up;

		*one = (struct tested){ .event = { .fire = fire }, .waiting = true };
		timer_add(&one->event, deadline);
		fake_cpu.enabled = false;
		timer_limit(limit);
		fake_cpu.enabled = true;
		CHECK_EQ(timer_at[0], limit < deadline ? limit : deadline);
		now += below(400);
		interrupts();
		CHECK_EQ(times_up - before, limit <= now);
		CHECK_EQ(fired - count, deadline <= now);
		timer_cancel(&one->event);
		one->waiting = false;
		fake_cpu.enabled = false;
		CHECK_EQ(timer_at[0], limit <= now ? TIMER_NEVER : limit);
		timer_limit(TIMER_NEVER);
		fake_cpu.enabled = true;
		CHECK_EQ(timer_at[0], TIMER_NEVER);
	}
}

/* A single shot that comes a little before its time is set again. */
static void test_early(void)
{
	struct tested *one = &tested[0];
	const uint64_t deadline = now + 10, count = fired;

	check_context.subject = "early";
	*one = (struct tested){ .event = { .fire = fire }, .waiting = true };
	timer_add(&one->event, deadline);
	timer_at[0] = now;
	interrupts();
	CHECK_EQ(timer_at[0], deadline);
	CHECK_EQ(fired, count);
	now = deadline;
	interrupts();
	CHECK_EQ(fired, count + 1);
}

static void test_events(void)
{
	check_context.subject = "events";
	timer_init();
	fake_cpu.slot = 1;
	timer_init_core();
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++) {
		struct tested *one = &tested[below(EVENTS)];
		uint64_t ended = sleeps_ended, count = fired;

		fake_cpu.slot = one->waiting ? one->slot : (unsigned)below(CORES);
		one->event.fire = fire;
		if (!one->waiting && below(3)) {
			one->waiting = true;
			one->slot = fake_cpu.slot;
			one->again = below(3) ? 0 : 1 + below(2000);
			timer_add(&one->event, now + below(3000) - (below(8) ? 0 : below(now + 1)) % 3000);
		} else if (!below(4)) {
			timer_cancel(&one->event);
			one->waiting = false;
			timer_cancel(&one->event); /* twice does nothing */
		}
		CHECK(fake_cpu.enabled);
		check_hardware();
		now += below(300);
		interrupts();
		check_hardware();
		CHECK_EQ(sleeps_ended - ended, fired - count);
	}
	CHECK(fired > 1000);
	for (unsigned n = 0; n < EVENTS; n++) {
		fake_cpu.slot = tested[n].slot;
		timer_cancel(&tested[n].event);
		tested[n].waiting = false;
	}
	check_hardware();
}

/* ---- Heartbeat ---------------------------------------------------------------------------------------------------- */

/* Each delay costs the beats that fell into it, and one gap if it is longer than a period. */
static void test_heartbeat(void)
{
	const uint64_t period = HZ / HEARTBEAT_HZ;
	uint64_t due, gaps = 0, latest = 0, awake_latest = 0;

	check_context.subject = "heartbeat";
	fake_cpu.slot = 0;
	clock_init(HZ);
	heartbeat_start(HEARTBEAT_HZ);
	CHECK_EQ(ring.beat_period_ns, 1000000);
	due = timer_at[0];
	CHECK_EQ(due, now + HZ / 100);
	for (check_context.round = 1; check_context.round <= STEPS; check_context.round++) {
		bool first = check_context.round == 1; /* out of a sleep, and later than any other */
		uint64_t late = first ? 5 * period : below(4) ? below(period / 2) : below(5 * period);

		sleeping = first || below(2);
		now = due + late;
		interrupts();
		CHECK_EQ(ring.beats, check_context.round);
		gaps += late > period;
		latest = clock_to_ns(late) > latest ? clock_to_ns(late) : latest;
		if (!sleeping && clock_to_ns(late) > awake_latest)
			awake_latest = clock_to_ns(late);
		CHECK_EQ(ring.beat_gaps, gaps);
		CHECK_EQ(ring.beat_late_max_ns, latest);
		CHECK_EQ(ring.beat_awake_late_max_ns, awake_latest + 1);
		due += period * (1 + (late > period ? late / period : 0));
		CHECK_EQ(timer_at[0], due);
	}
	heartbeat_start(0);
	CHECK_EQ(timer_at[0], ~0ULL);
	heartbeat_start(100001); /* faster than it can */
	CHECK_EQ(timer_at[0], ~0ULL);
	heartbeat_start(HEARTBEAT_HZ);
	heartbeat_start(HEARTBEAT_HZ / 2); /* in the place of the other */
	now = timer_at[0];
	interrupts();
	CHECK_EQ(ring.beats, STEPS + 1);
	CHECK_EQ(timer_at[0] - now, 2 * period);
}

/* VCPUs are admitted beside the usual rate, or the one that there is if it is higher; it cannot rise beyond that behind their backs. */
/* The beat by which it is due wakes the main program, and each that follows, until that has seen to it. Requires: threads. */
static void test_telemetry(void)
{
	struct bh_telemetry said = { .number = 5 };

	now = timer_at[0];
	interrupts(); /* the thousandth, which wakes it, too */
	woken = 0;
	telemetry_next = timer_at[0] + 3ULL * (HZ / HEARTBEAT_HZ);
	for (unsigned n = 0; n < 5; n++) {
		now = timer_at[0];
		interrupts();
		CHECK_EQ(woken, n < 3 ? 0 : n - 2);
	}
	telemetry_next = UINT64_MAX;
	heartbeat_tell(&said);
	CHECK_EQ(said.beats, ring.beats);
	CHECK_EQ(said.beat_gaps, ring.beat_gaps);
	CHECK_EQ(said.beat_late, ring.beat_late_max_ns);
	CHECK_EQ(said.beat_period, 1000000);
	CHECK_EQ(said.number, 5);
	heartbeat_start(0);
	heartbeat_tell(&said);
	CHECK_EQ(said.beat_period, 0);
}

static void test_heartbeat_beside_vcpus(void)
{
	const uint64_t usual = HZ / HEARTBEAT_HZ;

	check_context.subject = "heartbeat beside VCPUs";
	CHECK_EQ(heartbeat_distance(), usual); /* slower: it may be started anew */
	heartbeat_start(HEARTBEAT_HZ * 5);
	CHECK_EQ(heartbeat_distance(), usual / 5);
	heartbeat_start(0);
	CHECK_EQ(heartbeat_distance(), usual);
	heartbeat_start(HEARTBEAT_HZ / 2);
	CHECK_EQ(refused, 0);
	thread_cores[0] = (struct thread_core *)&ring; /* not NULL, and nobody looks into it */
	for (uint64_t hz = HEARTBEAT_HZ + 1; hz < UINT64_MAX / 100; hz *= 100) {
		uint64_t at = timer_at[0], count = refused;

		heartbeat_start(hz);
		CHECK_EQ(refused, count + 1);
		CHECK_EQ(timer_at[0], at);
		CHECK_EQ(ring.beat_period_ns, 2000000);
	}
	refused = 0;
	heartbeat_start(HEARTBEAT_HZ);
	CHECK_EQ(ring.beat_period_ns, 1000000);
	CHECK(!woken);
	for (uint64_t end = ring.beats / 1000 * 1000 + 2999; ring.beats < end;) {
		now = timer_at[0];
		interrupts();
	}
	CHECK_EQ(woken, 2);
	test_telemetry();
	heartbeat_start(0);
	CHECK_EQ(timer_at[0], ~0ULL);
	CHECK_EQ(refused, 0);
	thread_cores[0] = NULL;
}

int main(void)
{
	test_events();
	test_heap();
	test_early();
	test_limit();
	test_heartbeat();
	test_heartbeat_beside_vcpus();
	return 0;
}
