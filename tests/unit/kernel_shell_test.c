/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. What the sandbox kernel's shell makes of a log ring, of counters and of operands: the last lines of rings of random text,
 * against the text itself; exits by reason; and no operand but a name and two numbers changes a VCPU. kernel/core/{shell,shell_vcpus}.c
 */
#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "kernel/core/admit.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/shell.h"
#include "kernel/core/shell_vcpus.h"
#include "kernel/core/text.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/vcpus.h"
#include "random.h"

enum { ROUNDS = 400, WRITTEN = 3 * BH_LOG_TEXT_BYTES, SAID = 1 << 17, HZ = 64000000, NS_PER_US = 1000 };

/* ---- Around it ---------------------------------------------------------------------------------------------------- */

const char text_start[1], text_end[1], rodata_end[1], image_end[1]; /* of kernel.lds; nobody looks at memory here */
static struct bh_info page = { .switch_ns = 10001 };
const struct bh_info *info = &page;
static struct bh_log ring;
static bool has_ring;
static struct bh_stats stats;
static char said[SAID];
static size_t said_length;

static void put(char c)
{
	CHECK(said_length < SAID - 1);
	said[said_length++] = c;
	said[said_length] = '\0';
}

void console_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
	put('\n');
}

void console_echo(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
}

struct bh_log *console_log(void)
{
	return has_ring ? &ring : NULL;
}

void console_count(uint64_t *interrupts, uint64_t *masked)
{
	*interrupts = *masked = 0;
}

const struct bh_stats *info_statistics(void)
{
	return &stats;
}

uint64_t arch_counter(void)
{
	return 5ULL * HZ;
}

unsigned frames_owner(uint64_t address)
{
	return FRAME_FREE;
}

uint64_t frames_rest(uint64_t *end)
{
	return *end = 0;
}

bool irq_ask(unsigned n, struct irq_census *census)
{
	return false;
}

/* ---- Threads: two VCPUs of the same name, and one that serves a device ---------------------------------------------- */

struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
static struct thread_vcpu first = { .name = "hog" }, second = { .name = "hog" }, server = { .name = "nic", .vcpu.kind = VCPU_IO },
			  own = { .name = "main" };
static unsigned changes, made, restarts;
static uint64_t told_period;
static struct admit_request asked_for;
static const struct thread_vcpu *changed;
static enum thread_result of_change;

static struct thread myself = { .on = &own, .name = "main" };

struct thread *thread_running(void)
{
	return &myself;
}

static struct thread over = { .on = &first };
static bool has_one;

struct thread *vcpus_thread(unsigned n)
{
	return has_one && !n ? &over : NULL;
}

static enum thread_condition condition = THREAD_IS_STOPPED;
enum thread_condition thread_state(const struct thread *thread)
{
	return condition;
}

enum thread_result thread_stop(struct thread *thread)
{
	return THREAD_OK;
}

static enum thread_result of_restart = THREAD_OK;
enum thread_result thread_restart(struct thread *thread)
{
	CHECK(thread == &over);
	restarts += of_restart == THREAD_OK;
	return of_restart;
}

void thread_each_vcpu(void (*say)(const struct thread_vcpu *on))
{
	say(&server);
	say(&first);
	say(&second);
	say(&own);
}

enum thread_result admit_change(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
{
	changes++;
	changed = on;
	asked_for = *asked;
	return of_change;
}

void vcpus_say_invalid(const char *command, const char *name)
{
	console_say("invalid %s %s", command, name);
}

void vcpus_say_refused(const struct admit_request *asked, const struct admit_refusal *refusal)
{
	console_say("refused %s", asked->name);
}

const struct program *program_find(const char *name)
{
	static const struct program hog = { "hog", NULL, false };

	return strcmp(name, "hog") ? NULL : &hog;
}

static const char *name_of_made = "hog";
const char *vcpus_make(const struct program *program, uint64_t budget, uint64_t period)
{
	made++;
	asked_for = (struct admit_request){ .budget = budget, .period = period };
	return name_of_made;
}

void vcpus_tell_period(const struct thread_vcpu *on, uint64_t period)
{
	CHECK(on == changed);
	told_period = period;
}

/* ---- dmesg ---------------------------------------------------------------------------------------------------------- */

static char written[WRITTEN];

/* Where the last `count` lines begin that are still whole, looked for forwards. */
static size_t expected_begin(size_t length, size_t count)
{
	size_t oldest = length > BH_LOG_TEXT_BYTES ? length - BH_LOG_TEXT_BYTES : 0, begins[WRITTEN / 8], lines = 0;

	for (size_t at = oldest; at < length; at++)
		if (at == 0 || (at > oldest && written[at - 1] == '\n'))
			begins[lines++ % (WRITTEN / 8)] = at;
	if (!lines || !count)
		return length;
	return begins[lines > count ? lines - count : 0];
}

static void check_dmesg(void)
{
	check_context.subject = "dmesg";
	has_ring = true;
	for (check_context.round = 0; check_context.round < ROUNDS; check_context.round++) {
		size_t length = below(4) ? below(WRITTEN) : below(100), count = below(below(2) ? 40 : 2000), left = below(60) + 8;

		for (size_t n = 0; n < length; n++) {
			written[n] = left-- ? 'x' : '\n';
			if (written[n] == '\n')
				left = below(60) + 8;
			ring.text[n % BH_LOG_TEXT_BYTES] = (uint8_t)written[n];
		}
		ring.head = length;
		said_length = 0;
		run_dmesg(&(struct command_line){ .text = "", .operand = { count }, .operands = 1 });
		CHECK_EQ(said_length, length - expected_begin(length, count));
		CHECK(!memcmp(said, written + length - said_length, said_length));
	}
	has_ring = false;
	said_length = 0;
	run_dmesg(&(struct command_line){ .text = "" });
	CHECK_EQ(said_length, 0);
}

/* ---- Counters --------------------------------------------------------------------------------------------------------- */

static void expect(void (*run)(const struct command_line *line), const char *text, const char *expected)
{
	check_context.subject = text;
	said_length = 0;
	said[0] = '\0';
	run(&(struct command_line){ .text = text });
	if (strcmp(said, expected))
		fprintf(stderr, "said: %s\n", said);
	CHECK(!strcmp(said, expected));
}

static void check_counters(void)
{
	expect(run_exits, "exits", "");
	stats.core[0].exits[BH_EXIT_CALL] = (1ULL << 33) + 7;
	stats.at_ready[0][BH_EXIT_CALL] = 3;
	stats.core[15].exits[BH_EXIT_CALL] = 2;
	stats.at_ready[15][BH_EXIT_CALL] = 1;
	stats.core[1].exits[BH_EXIT_HANG] = 1;
	stats.core[1].exits[BH_EXIT_REASONS] = 1; /* not a reason of this version */
	expect(run_exits, "exits", "exits call: 4 until ready, 8589934597 since\nexits hang: 0 until ready, 1 since\n");
	stats.start_clock = 2ULL * HZ;
	stats.restarts = 3;
	expect(run_uptime, "uptime", "up 3000 ms, life 3\n");
	expect(run_threads, "threads", "no threads\n");
}

/* ---- Operands --------------------------------------------------------------------------------------------------------- */

static void check_set(void)
{
	expect(run_set, "hog,1,2", "set hog,1,2: no such vcpu on this core\n"); /* there are no threads */
	thread_cores[0] = (struct thread_core *)&changes;                       /* not NULL, and nobody looks into it */
	expect(run_set, "hog,100,2000", "set hog: 100 us of 2000 us\n");
	CHECK(changed == &first && changes == 1);
	CHECK_EQ(asked_for.budget, clock_from_ns(100 * NS_PER_US));
	CHECK_EQ(asked_for.period, clock_from_ns(2000 * NS_PER_US));
	CHECK_EQ(told_period, asked_for.period);
	told_period = 0;
	of_change = THREAD_E_LOAD;
	expect(run_set, "hog,0x10,20", "refused hog\n");
	of_change = THREAD_E_INVALID;
	expect(run_set, "hog,3,2", "invalid set hog\n");
	CHECK_EQ(changes, 3);
	CHECK_EQ(told_period, 0);
	of_change = THREAD_E_HOLDS;
	expect(run_set, "hog,2,3", "set hog: another admission is going on, try again\n");
	CHECK_EQ(changes, 4);
	changes--;
	of_change = THREAD_E_INVALID;
	expect(run_set, "nic,1,2", "set nic: an I/O VCPU keeps its share\n");
	expect(run_set, "none,1,2", "set none,1,2: no such vcpu on this core\n");
	of_change = THREAD_OK;
	expect(run_set, "hog,18446744073709551615,18446744073709551", "set hog: 18446744073709551615 us of 18446744073709551 us\n");
	CHECK_EQ(asked_for.budget, UINT64_MAX);
	CHECK_EQ(asked_for.period, UINT64_MAX); /* not wrapped to something small */
	CHECK_EQ(changes, 4);
}

static void check_own(void)
{
	const unsigned before = changes;

	expect(run_set, "main,1,1000000", "set main: who carries out commands keeps what it has\n");
	CHECK_EQ(changes, before);
}

static void check_malformed(void)
{
	static const char *const texts[] = { "",          "hog",     "hog,",    "hog,1",    "hog,1,", "hog,,2", "hog,1,2,",
					     "hog,1,2,3", "hog,1;2", "hog,1,x", "hog,-1,2", ",",      ",1" };
	char long_name[200];

	for (size_t n = 0; n < sizeof(texts) / sizeof(texts[0]); n++) {
		check_context.subject = texts[n];
		run_set(&(struct command_line){ .text = texts[n] });
	}
	memset(long_name, 'h', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	run_set(&(struct command_line){ .text = long_name });
	memcpy(long_name + 150, ",1,2", 5);
	run_set(&(struct command_line){ .text = long_name });
	CHECK_EQ(changes, 4);
}

static void check_start(void)
{
	expect(run_start, "hog", "start hog: vcpu hog, 1000 us of 100000 us\n");
	CHECK_EQ(asked_for.budget, clock_from_ns(1000 * NS_PER_US));
	CHECK_EQ(asked_for.period, clock_from_ns(100000 * NS_PER_US));
	name_of_made = "hog-2";
	expect(run_start, "hog,5,10", "start hog: vcpu hog-2, 5 us of 10 us\n");
	CHECK_EQ(asked_for.budget, clock_from_ns(5 * NS_PER_US));
	name_of_made = NULL; /* it has said why */
	expect(run_start, "hog", "");
	CHECK_EQ(made, 3);
	expect(run_start, "nobody", "start nobody: no such program\n");
	expect(run_start, "hog,1", "start hog,1: write start=NAME or start=NAME,BUDGET_US,PERIOD_US\n");
	expect(run_start, "", "start : write start=NAME or start=NAME,BUDGET_US,PERIOD_US\n");
	CHECK_EQ(made, 3);
}

/* By its own name, which may be a program's, and not with what it was refused. */
static void check_start_again(void)
{
	has_one = true;
	over.name = "fast";
	expect(run_start, "fast", "start fast: runs again on its vcpu\n");
	over.name = "hog";
	restarts = 0;
	thread_cores[0] = (struct thread_core *)&changes; /* not NULL, and nobody looks into it */
	changes = made = 0;
	expect(run_start, "hog", "start hog: runs again on its vcpu\n");
	expect(run_start, "hog,5,10", "set hog: 5 us of 10 us\nstart hog: runs again on its vcpu\n");
	CHECK_EQ(restarts, 2);
	of_change = THREAD_E_LOAD;
	expect(run_start, "hog,9,10", "refused hog\n");
	of_change = THREAD_E_INVALID;
	expect(run_start, "hog,20,10", "invalid set hog\n");
	CHECK_EQ(restarts, 2);
	CHECK_EQ(changes, 3);
	of_change = THREAD_OK;
	of_restart = THREAD_E_NOMEM;
	expect(run_start, "hog", "start hog: no memory is left for a stack; its vcpu is as before\n");
	CHECK_EQ(changes, 3);
	first.vcpu.main = (struct sporadic){ .budget = 123, .period = 4567 };
	expect(run_start, "hog,5,10", "set hog: 5 us of 10 us\nstart hog: no memory is left for a stack; its vcpu is as before\n");
	CHECK(changes == 5 && changed == &first && asked_for.budget == 123 && asked_for.period == 4567);
	CHECK_EQ(told_period, 4567);
	CHECK_EQ(restarts, 2);
	CHECK_EQ(made, 0);
	of_restart = THREAD_OK;
	condition = THREAD_HAS_ENDED;
	expect(run_start, "hog", "start hog: runs again on its vcpu\n");
	CHECK_EQ(restarts, 3);
	CHECK_EQ(made, 0);
}

/* Who runs is not begun again: it is another one that begins. */
static void check_stop(void)
{
	expect(run_stop, "hog", "stop hog: no such program runs on this core\n"); /* it has ended */
	condition = THREAD_IS_READY;
	expect(run_stop, "nobody", "stop nobody: no such program runs on this core\n");
	expect(run_stop, "hog", "stop hog: stopped, its vcpu is kept\n");
	name_of_made = "hog-2";
	expect(run_start, "hog", "start hog: vcpu hog-2, 1000 us of 100000 us\n");
	CHECK_EQ(made, 1);
	CHECK_EQ(restarts, 3);
	expect(run_stop, "", "stop : write stop=NAME\n");
	expect(run_stop, "main", "stop main: who carries out commands goes on\n");
}

int main(void)
{
	clock_init(HZ);
	check_dmesg();
	check_counters();
	check_set();
	check_own();
	check_malformed();
	check_start();
	check_start_again();
	check_stop();
	return 0;
}
