/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on a VCPU that comes before the main program, which waits for what becomes of them (ends.h). */
#include "probe/ends.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/space.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"
#include "kernel/core/text.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"

enum { MS = 1000000, BUDGET_NS = 1 * MS, PERIOD_NS = 2 * MS, PATIENCE_MS = 40, LEVEL = 1 };

static struct thread_vcpu vcpu;
static struct thread one, other, third;

static uint64_t in_ms(uint64_t count)
{
	return arch_counter() + clock_from_ns(count * MS);
}

static void pause(uint64_t ms)
{
	(void)!thread_sleep_until(in_ms(ms));
}

static bool make_on(struct thread *thread, struct thread_vcpu *on, const char *name, void (*entry)(void *argument))
{
	return thread_make(thread, on, name, LEVEL, stacks_take(), entry, NULL) == THREAD_OK;
}

static bool make(struct thread *thread, const char *name, void (*entry)(void *argument))
{
	return make_on(thread, &vcpu, name, entry);
}

/* Whether it comes to that in time. */
static bool comes_to(const struct thread *thread, enum thread_condition condition)
{
	for (unsigned ms = 0; ms < PATIENCE_MS && thread_state(thread) != condition; ms++)
		pause(1);
	return thread_state(thread) == condition;
}

static bool begin(void)
{
	static bool begun;

	if (!begun)
		begun = thread_begin() == THREAD_OK &&
			thread_make_vcpu(&vcpu, "trial", clock_from_ns(BUDGET_NS), clock_from_ns(PERIOD_NS)) == THREAD_OK;
	return begun;
}

/* ---- Faults ------------------------------------------------------------------------------------------------------------- */

static volatile uint32_t depth;
static volatile bool endless = true;

/* What is done after the call keeps it a call. */
static __attribute__((noinline)) void go_deeper(void (*at_each)(void))
{
	volatile uint8_t frame[48];

	frame[0] = 0;
	depth++;
	if (at_each)
		at_each();
	if (endless)
		go_deeper(at_each);
	frame[0]++;
}

static void recurse(void *argument)
{
	go_deeper(NULL);
}

static struct semaphore given;

static void call_kernel(void)
{
	semaphore_give(&given);
	thread_yield();
}

static void recurse_with_calls(void *argument)
{
	go_deeper(call_kernel);
}

/* Address 0, where that is a hole, or the kernel's text. */
static void store_to_nowhere(void *argument)
{
	uintptr_t at = space_query(&kernel_space, 0).mapped ? (uintptr_t)store_to_nowhere : 0;

	__asm__ volatile("" : "+r"(at));
	*(volatile uint32_t *)at = 0;
}

static void execute_nothing(void *argument)
{
	__builtin_trap();
}

static void fault(const char *name, void (*entry)(void *argument))
{
	uint64_t before = thread_faults();
	bool ended = make(&one, name, entry) && comes_to(&one, THREAD_HAS_ENDED);

	thread_report_faults();
	console_say("ends %s: ended %ju, faults %ju", name, (uint64_t)ended, thread_faults() - before);
}

/* ---- An interrupt that comes, or a call to the kernel that is made, where little is left of the stack -------------------- */

enum { LEAST_LEFT = 96, MOST_LEFT = 4096 };
static const struct edge {
	const char *name;
	uintptr_t ends_below, lives_from, step;
} interrupted = { "interrupted", 2048, 2048 + 512, 32 }, called = { "called", 1024, 2048 + 512, 16 }; /* then an interrupt has room, too */

static volatile bool enough;
static uintptr_t left;

static void spin(void)
{
	while (!enough)
		;
}

static __attribute__((noinline)) void descend(uintptr_t until, void (*act)(void))
{
	volatile uint8_t frame[16];

	frame[0] = 0;
	if ((uintptr_t)frame > until)
		descend(until, act);
	else
		act();
	frame[0]++;
}

static void spin_with_little(void *argument)
{
	descend(one.stack - THREAD_STACK_BYTES + left, spin);
}

static struct semaphore passed;

static void pass_on(void)
{
	semaphore_give(&passed);
}

static void call_with_little(void *argument)
{
	descend(one.stack - THREAD_STACK_BYTES + left, pass_on);
}

static void take_passed(void *argument)
{
	while (semaphore_take(&passed, TIMER_NEVER) == THREAD_OK)
		;
}

/* Returns whether it faulted. */
static bool overruns(const char *name, void (*entry)(void *argument))
{
	uint64_t before = thread_faults();

	enough = false;
	if (!make(&one, name, entry))
		return false;
	if (entry == spin_with_little)
		pause(4);
	enough = true;
	(void)!comes_to(&one, THREAD_HAS_ENDED);
	return thread_faults() > before;
}

static void try_edge(const struct edge *edge, void (*entry)(void *argument))
{
	uint64_t ended = 0, should_end = 0, lived = 0, should_live = 0;

	for (left = LEAST_LEFT; left < edge->ends_below; left += edge->step, should_end++)
		ended += overruns(edge->name, entry);
	for (left = edge->lives_from; left < MOST_LEFT; left += 8 * edge->step, should_live++)
		lived += !overruns(edge->name, entry);
	thread_report_faults();
	console_say("ends %s: ended %ju of %ju, lived %ju of %ju", edge->name, ended, should_end, lived, should_live);
}

static void run_interrupt(void)
{
	try_edge(&interrupted, spin_with_little);
}

/* Somebody waits, so that the call goes as deep as it can. */
static void run_call(void)
{
	if (thread_make(&other, &vcpu, "taker", LEVEL - 1, stacks_take(), take_passed, NULL) == THREAD_OK)
		try_edge(&called, call_with_little);
	thread_stop(&other);
}

/* ---- What others had to do with it ---------------------------------------------------------------------------------------- */

static struct mutex mutex;
static struct port port;
static struct thread server;
static volatile int results[3]; /* of who waits for the mutex, and of two calls */

static void lock_and_fault(void *argument)
{
	(void)!mutex_lock(&mutex);
	(void)!semaphore_take(&given, 0);
	while (mutex.waiting.top == NULL)
		thread_yield();
	execute_nothing(NULL);
}

static void wait_for_lock(void *argument)
{
	results[0] = mutex_lock(&mutex);
	mutex_unlock(&mutex);
}

static void serve_and_fault(void *argument)
{
	(void)!port_reply_and_receive(&port);
	while (__atomic_load_n(&port.waiting.top, __ATOMIC_RELAXED) == NULL)
		;
	execute_nothing(NULL);
}

static void call(void *argument)
{
	uint64_t message = 0;

	results[argument ? 1 : 2] = port_call(&port, &message);
}

/* The second one comes while the first is served. */
static bool make_caller(struct thread *thread, const char *name, unsigned level, void *argument)
{
	return thread_make(thread, &vcpu, name, level, stacks_take(), call, argument) == THREAD_OK;
}

static void run_bound(void)
{
	uint64_t message;
	bool well = make(&one, "holder", lock_and_fault) && make(&other, "waiter", wait_for_lock) && comes_to(&one, THREAD_HAS_ENDED) &&
		    comes_to(&other, THREAD_HAS_ENDED);

	thread_report_faults();
	console_say("ends holder: in order %ju, lock %ju, abandoned %ju, held %ju", (uint64_t)well, (uint64_t)-results[0],
		    (uint64_t)mutex.abandoned, (uint64_t)(mutex.holder.thread != NULL));
	well = make_on(&server, NULL, "server", serve_and_fault);
	port.server.thread = &server;
	well = well && make_caller(&one, "first", LEVEL, &port) && make_caller(&other, "second", LEVEL - 1, NULL) &&
	       comes_to(&one, THREAD_HAS_ENDED) && comes_to(&other, THREAD_HAS_ENDED) && comes_to(&server, THREAD_HAS_ENDED);
	thread_report_faults();
	console_say("ends server: in order %ju, calls %ju %ju, later %ju", (uint64_t)well, (uint64_t)-results[1], (uint64_t)-results[2],
		    (uint64_t)-port_call(&port, &message));
}

/* ---- Stopping and beginning again ----------------------------------------------------------------------------------------- */

static volatile uint64_t begun, rounds;

static void hog(void *argument)
{
	begun++;
	for (;;)
		rounds++;
}

static enum thread_result told;

static void stop_it(struct timer_event *event, struct cpu_frame *frame)
{
	told = thread_stop(&one);
}

static void restart_it(struct timer_event *event, struct cpu_frame *frame)
{
	told = thread_restart(&one);
}

/* From a handler, which comes while it runs. Returns whether it went well. */
static bool by_handler(void (*fire)(struct timer_event *event, struct cpu_frame *frame))
{
	static struct timer_event event;

	told = THREAD_E_INVALID;
	event.fire = fire;
	pause(1);
	timer_add(&event, in_ms(0) + clock_from_ns(2 * PERIOD_NS + BUDGET_NS / 2));
	pause(4 * PERIOD_NS / MS);
	return told == THREAD_OK;
}

static bool runs_on(void)
{
	uint64_t before = rounds;

	pause(2 * PERIOD_NS / MS);
	return rounds > before;
}

static unsigned given_back;

static void give_back(void)
{
	given_back++;
}

static bool owns, stays;

static void own(void *argument)
{
	if (owns)
		thread_at_end(give_back);
	if (stays)
		hog(argument);
}

static unsigned given_back_by(enum thread_result (*tell)(struct thread *thread))
{
	given_back = 0;
	tell(&one);
	return given_back;
}

/* What a thread has to give back it gives back once, whether it begins again, is stopped or returns; not what it had in an earlier life. */
static void run_owner(void)
{
	unsigned restarted, stopped;

	owns = stays = true;
	make(&one, "owner", own);
	runs_on();
	owns = false;
	restarted = given_back_by(thread_restart);
	runs_on();
	stopped = given_back_by(thread_stop);
	owns = true;
	stays = false;
	thread_restart(&one);
	comes_to(&one, THREAD_HAS_ENDED);
	console_say("ends owner: given back %ju when restarted, %ju when stopped, %ju when it returned", (uint64_t)restarted,
		    (uint64_t)stopped, (uint64_t)given_back);
}

static void run_stop(void)
{
	bool made = make(&one, "hog", hog) && runs_on();
	bool restarted = thread_restart(&one) == THREAD_OK && runs_on() && begun == 2;
	bool stopped = thread_stop(&one) == THREAD_OK && thread_state(&one) == THREAD_IS_STOPPED && !runs_on();
	bool again = thread_restart(&one) == THREAD_OK && runs_on() && begun == 3;
	bool handler_restarted = by_handler(restart_it) && runs_on() && begun == 4;
	bool handler_stopped = by_handler(stop_it) && !runs_on();
	bool handler_again = by_handler(restart_it) && runs_on() && begun == 5;

	thread_stop(&one);
	console_say("ends hog: made %ju restarted %ju stopped %ju again %ju, by a handler restarted %ju stopped %ju again %ju",
		    (uint64_t)made, (uint64_t)restarted, (uint64_t)stopped, (uint64_t)again, (uint64_t)handler_restarted,
		    (uint64_t)handler_stopped, (uint64_t)handler_again);
}

/* Told while it holds the mutex, it stops when it gives that up. */
static volatile bool may_unlock, unlocked;

static void hold_on(void *argument)
{
	begun++;
	(void)!mutex_lock(&mutex);
	while (!may_unlock)
		rounds++;
	mutex_unlock(&mutex);
	unlocked = true;
	for (;;)
		;
}

static void run_later(void)
{
	bool waits, stopped, free;

	may_unlock = unlocked = false;
	waits = make(&one, "busy", hold_on) && runs_on() && thread_stop(&one) == THREAD_OK && runs_on();
	may_unlock = true;
	stopped = comes_to(&one, THREAD_IS_STOPPED) && !unlocked;
	free = mutex.holder.thread == NULL;
	begun = 0;
	may_unlock = false;
	waits = waits && thread_restart(&one) == THREAD_OK && runs_on() && thread_restart(&one) == THREAD_OK && runs_on() && begun == 1;
	may_unlock = true;
	pause(2 * PERIOD_NS / MS);
	free = free && begun > 1 && unlocked;
	thread_stop(&one);
	console_say("ends busy: waits %ju stopped %ju, mutex free %ju", (uint64_t)waits, (uint64_t)stopped, (uint64_t)free);
}

/* ---- Deadlines ---------------------------------------------------------------------------------------------------------- */

enum { DEADLINE_MS = 8 };
static struct periodic periodic;
static volatile uint64_t notified;
static enum periodic_policy policy;

static void note_miss(struct periodic *missed)
{
	notified++;
}

/* Two rounds in time, then one without end. */
static void miss_it(void *argument)
{
	begun++;
	(void)!periodic_begin(&periodic, clock_from_ns((uint64_t)DEADLINE_MS * MS));
	(void)!periodic_watch(&periodic, policy, note_miss);
	for (unsigned n = 0; n < 2; n++)
		(void)!periodic_wait(&periodic);
	for (;;)
		rounds++;
}

static void try_policy(const char *name, enum periodic_policy wanted)
{
	bool made;

	policy = wanted;
	begun = notified = 0;
	made = make(&one, name, miss_it);
	pause(2 * DEADLINE_MS + DEADLINE_MS / 2);
	made = made && begun == 1 && notified == 0 && thread_state(&one) != THREAD_IS_STOPPED;
	pause(2 * DEADLINE_MS + DEADLINE_MS / 2);
	console_say("ends policy %s: in time %ju, then begun %ju, notified %ju, stopped %ju", name, (uint64_t)made, begun, notified,
		    (uint64_t)(thread_state(&one) == THREAD_IS_STOPPED));
	thread_stop(&one);
}

static void miss_the_first(void *argument)
{
	(void)!periodic_begin(&periodic, clock_from_ns((uint64_t)DEADLINE_MS * MS));
	(void)!periodic_watch(&periodic, PERIODIC_STOP, NULL);
	for (;;)
		rounds++;
}

static void try_the_first(void)
{
	bool made = make(&one, "first", miss_the_first);

	pause(DEADLINE_MS / 2);
	made = made && thread_state(&one) != THREAD_IS_STOPPED;
	pause(DEADLINE_MS);
	console_say("ends policy at first: in time %ju, then stopped %ju", (uint64_t)made,
		    (uint64_t)(thread_state(&one) == THREAD_IS_STOPPED));
	thread_stop(&one);
}

static void run_policies(void)
{
	try_the_first();
	try_policy("count", PERIODIC_COUNT);
	try_policy("notify", PERIODIC_NOTIFY);
	try_policy("stop", PERIODIC_STOP);
	try_policy("restart", PERIODIC_RESTART);
}

/* ---- Nonsense ----------------------------------------------------------------------------------------------------------- */

static void end_at_once(void *argument) {}

static void run_nonsense(void)
{
	struct periodic own = { .period = 0 };
	bool ended = make(&one, "short", end_at_once) && comes_to(&one, THREAD_HAS_ENDED);
	int levels = thread_make(&third, &vcpu, "third", THREAD_LEVELS, 1, end_at_once, NULL);
	int nobody = thread_make(&third, &vcpu, "third", LEVEL, 0, end_at_once, NULL);
	int nothing = thread_make(&third, &vcpu, "third", LEVEL, one.stack, NULL, NULL);

	cpu_interrupts_disable();
	thread_wake(&one);
	cpu_interrupts_enable();
	console_say("ends nonsense: make %ju %ju %ju, stop %ju %ju %ju, restart %ju", (uint64_t)-levels, (uint64_t)-nobody,
		    (uint64_t)-nothing, (uint64_t)-thread_stop(&one), (uint64_t)-thread_stop(NULL),
		    (uint64_t)-thread_stop(thread_running()), (uint64_t)-thread_restart(thread_running()));
	console_say("ends periods: %ju %ju %ju %ju %ju, ended %ju", (uint64_t)-periodic_wait(&own),
		    (uint64_t)-periodic_watch(&own, PERIODIC_STOP, NULL), (uint64_t)-periodic_begin(&own, 0),
		    (uint64_t)-periodic_begin(&own, UINT64_MAX),
		    (uint64_t)-(periodic_begin(&own, 1000) == THREAD_OK ? periodic_watch(&own, PERIODIC_NOTIFY, NULL) : THREAD_OK),
		    (uint64_t)(ended && thread_state(&one) == THREAD_HAS_ENDED));
}

/* ---- Kinds -------------------------------------------------------------------------------------------------------------- */

static void run_recursion(void)
{
	fault("deep", recurse);
	fault("calling", recurse_with_calls);
}

static void run_fault(void)
{
	fault("stray", store_to_nowhere);
	fault("undefined", execute_nothing);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "recursion", run_recursion }, { "interrupt", run_interrupt }, { "call", run_call },   { "fault", run_fault },
	{ "bound", run_bound },         { "stop", run_stop },           { "owner", run_owner }, { "later", run_later },
	{ "policy", run_policies },     { "nonsense", run_nonsense },
};

bool ends_run(const char *kind)
{
	for (unsigned n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		if (text_equal(kinds[n].name, kind) && begin()) {
			kinds[n].run();
			return true;
		}
	return false;
}
