/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. VCPUs that the sandbox kernel makes when it starts: one for each row of the information page that it can make, and one
 * sentence for each that it cannot; all others are made all the same. Threads are not run here. kernel/core/vcpus.c
 */
#include "kernel/core/vcpus.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/programs.h"
#include "kernel/core/stacks.h"
#include "kernel/core/text.h"
#include "kernel/core/thread.h"

enum { ROWS = 32, SAID = 40, LINE = 120, HZ = 62500000, NS_PER_TICK = 16 };

static struct bh_info page;
const struct bh_info *info = &page;

static char said[SAID][LINE];
static unsigned said_count, said_at;
static struct thread_vcpu *vcpus[ROWS + 1];
static struct thread *threads[ROWS + 1];
static unsigned vcpu_count, thread_count, begun;
struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
static enum thread_result of_begin, of_vcpu, of_thread;

/* ---- Around it ---------------------------------------------------------------------------------------------------- */

static void put(char c)
{
	CHECK(said_at < LINE - 1);
	said[said_count][said_at++] = c;
}

void console_say(const char *format, ...)
{
	va_list arguments;

	CHECK(said_count < SAID);
	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
	said[said_count++][said_at] = '\0';
	said_at = 0;
}

uint64_t arch_counter(void)
{
	return 0;
}

uintptr_t stacks_take(void)
{
	return 0x1000;
}

enum thread_result thread_begin(void)
{
	begun++;
	thread_cores[0] = (struct thread_core *)&begun; /* not NULL, and nobody looks into it */
	return of_begin;
}

enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	if (of_vcpu != THREAD_OK)
		return of_vcpu;
	*on = (struct thread_vcpu){ .name = name, .vcpu.main = { .budget = budget, .period = period } };
	for (unsigned n = 0; n < vcpu_count; n++)
		CHECK(vcpus[n] != on); /* a VCPU that a scheduler knows stays where it is */
	vcpus[vcpu_count++] = on;
	return THREAD_OK;
}

enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack,
			       void (*entry)(void *argument), void *argument)
{
	const struct program_run *run = argument;

	CHECK_EQ(on->vcpu.main.period, run->period);
	CHECK(!strcmp(name, on->name));
	*thread = (struct thread){ .on = on, .name = name };
	entry(argument);
	threads[thread_count++] = thread;
	return of_thread;
}

void thread_each_vcpu(void (*say)(const struct thread_vcpu *on))
{
	for (unsigned n = 0; n < vcpu_count; n++)
		say(vcpus[n]);
}

static void run_first(void *argument)
{
	struct program_run *run = argument;

	run->rounds = 1;
}

static void run_second(void *argument)
{
	struct program_run *run = argument;

	run->rounds = 2;
}

const struct program *program_find(const char *name)
{
	static const struct program all[] = { { "first", run_first }, { "second", run_second } };

	for (unsigned n = 0; n < 2; n++)
		if (!strcmp(all[n].name, name))
			return &all[n];
	return NULL;
}

void program_report(const struct program_run *run, const char *name)
{
	console_say("%s: %ju", name, run->rounds);
}

/* ---- The page ------------------------------------------------------------------------------------------------------- */

static struct bh_grant *add(enum bh_grant_kind kind, const char *name, const char *program)
{
	struct bh_grant *row = &page.grants[page.grant_count++];

	*row = (struct bh_grant){ .kind = kind, .line = BH_LINE_NONE, .gpa = 200000, .size = 1000000 };
	strcpy((char *)row->name, name);
	strcpy((char *)row->compatible, program);
	return row;
}

static void expect(unsigned line, const char *text)
{
	check_context.subject = text;
	CHECK(line < said_count);
	if (strcmp(said[line], text))
		fprintf(stderr, "said: %s\n", said[line]);
	CHECK(!strcmp(said[line], text));
}

static void start(unsigned made, unsigned lines)
{
	unsigned before = vcpu_count;

	said_count = 0;
	vcpus_start();
	CHECK_EQ(vcpu_count - before, made);
	CHECK_EQ(said_count, lines);
	page.grant_count = 0;
}

/* ---- What it makes ---------------------------------------------------------------------------------------------------- */

/* Without a row there are no threads either: a sandbox without VCPUs is as it was. */
static void check_none(void)
{
	add(BH_GRANT_RAM, "ram", "first");
	add(BH_GRANT_DEVICE, "uart0", "first");
	start(0, 0);
	CHECK_EQ(begun, 0);
	run_vcpus(&(struct command_line){ .text = "" });
	expect(0, "no vcpus");
}

static void check_made(void)
{
	add(BH_GRANT_RAM, "ram", "");
	add(BH_GRANT_VCPU, "control", "first");
	add(BH_GRANT_VCPU, "second", "second")->flags = BH_VCPU_FOREGROUND_ONLY;
	start(2, 0);
	CHECK(!strcmp(vcpus[0]->name, "control") && !strcmp(vcpus[1]->name, "second"));
	CHECK_EQ(vcpus[0]->vcpu.main.budget, 200000 / NS_PER_TICK);
	CHECK_EQ(vcpus[0]->vcpu.main.period, 1000000 / NS_PER_TICK);
	CHECK(!vcpus[0]->vcpu.foreground_only && vcpus[1]->vcpu.foreground_only);
	CHECK(threads[0]->on == vcpus[0] && threads[1]->on == vcpus[1]);
	run_vcpus(&(struct command_line){ .text = "" });
	CHECK_EQ(said_count, 4);
	expect(2, "control: 1");
	expect(3, "second: 2");
}

/* What cannot be made is said, and keeps nobody else from being made. */
static void check_refused(void)
{
	add(BH_GRANT_VCPU, "nothing", "");
	add(BH_GRANT_VCPU, "unknown", "third");
	add(BH_GRANT_VCPU, "nic-io", "first")->vector = 10;
	add(BH_GRANT_VCPU, "late", "first")->flags = BH_VCPU_EDF;
	add(BH_GRANT_VCPU, "far", "first")->flags = 1;
	add(BH_GRANT_VCPU, "good", "first");
	start(1, 5);
	expect(0, "vcpu nothing: there is no program \"\"");
	expect(1, "vcpu unknown: there is no program \"third\"");
	expect(2, "vcpu nic-io: no I/O VCPUs in this version");
	expect(3, "vcpu late: no VCPUs by deadline in this version");
	expect(4, "vcpu far: only the first core has VCPUs in this version");
}

static void check_failures(void)
{
	of_vcpu = THREAD_E_INVALID;
	add(BH_GRANT_VCPU, "long", "first");
	start(0, 1);
	expect(0, "vcpu long: budget 0, or longer than its period");
	of_vcpu = THREAD_OK;
	of_begin = THREAD_E_NOMEM;
	add(BH_GRANT_VCPU, "poor", "first");
	start(0, 1);
	expect(0, "vcpu poor: no memory is left for a stack");
	of_begin = THREAD_OK;
	of_thread = THREAD_E_NOMEM; /* then the core has the VCPU, without a thread */
	add(BH_GRANT_VCPU, "bare", "first");
	start(1, 1);
	of_thread = THREAD_OK;
	add(BH_GRANT_VCPU, "after", "second");
	start(1, 0);
}

static void check_count(void)
{
	while (vcpu_count < ROWS) {
		add(BH_GRANT_VCPU, "more", "first");
		start(1, 0);
	}
	add(BH_GRANT_VCPU, "too-many", "first");
	start(0, 1);
	expect(0, "vcpu too-many: there are 32 already");
	page.grant_count = ~0U; /* no more rows than there are */
	memset(page.grants, 0, sizeof(page.grants));
	start(0, 0);
}

static void check_command(void)
{
	said_count = 0;
	run_vcpu(&(struct command_line){ .text = "200,1000,second", .operand = { 200, 1000 }, .operands = 2 });
	CHECK_EQ(said_count, 0);
	CHECK_EQ(vcpus[vcpu_count - 1]->vcpu.main.budget, 200000 / NS_PER_TICK);
	CHECK(!strcmp(vcpus[vcpu_count - 1]->name, "second"));
	run_vcpu(&(struct command_line){ .text = "200,1000,third", .operand = { 200, 1000 }, .operands = 2 });
	expect(0, "vcpu 200,1000,third: no such program");
}

int main(void)
{
	clock_init(HZ);
	check_none();
	check_made();
	check_refused();
	check_failures();
	check_command();
	check_count();
	return 0;
}
