/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. VCPUs that the sandbox kernel makes when it starts: on each core one for each of its rows of the information page that is
 * admitted, and a sentence with numbers for each that is not; all others are made all the same. Lines whose rate is limited are limited
 * before. Threads are not run here, and admission answers what it is told to. kernel/core/vcpus.c
 */
#include "kernel/core/vcpus.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/admit.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/programs.h"
#include "kernel/core/stacks.h"
#include "kernel/core/text.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/trace.h"

enum { ROWS = 32, SAID = 40, LINE = 160, FIRST_ROW = 7, HZ = 62500000, NS_PER_TICK = 16 };
#define TICKS 62500ULL /* in a ms */

static struct bh_info page;
const struct bh_info *info = &page;

static char said[SAID][LINE];
static unsigned said_count, said_at;
static struct thread_vcpu *vcpus[2 * ROWS];
static struct thread *threads[2 * ROWS];
static unsigned vcpu_count, thread_count, begun, by_deadline;
static bool no_frames;
struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
static enum thread_result of_begin, of_vcpu, of_thread;
static struct admit_request asked;    /* the last */
static struct admit_refusal refusing; /* why it is refused */
static uint64_t limit;

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

static unsigned stacks = 1000, stacks_out;
uintptr_t stacks_take(void)
{
	if (!stacks)
		return 0;
	stacks--;
	stacks_out++;
	return 0x1000;
}

void stacks_give(uintptr_t stack)
{
	CHECK_EQ(stack, 0x1000);
	stacks_out--;
}

/* Frames lie on the host, as many as a core's VCPUs need, for two cores. */
static _Alignas(16) unsigned char room_of_core[2][12 * FRAME_BYTES];
uint64_t frames_take_run(uint64_t frames, uint64_t alignment, unsigned owner)
{
	static unsigned taken;

	if (no_frames)
		return 0;
	CHECK(frames <= 12 && taken < 2);
	return (uintptr_t)room_of_core[taken++];
}

enum thread_result thread_begin(void)
{
	begun++;
	thread_cores[cpu_slot()] = (struct thread_core *)&begun; /* not NULL, and nobody looks into it */
	return of_begin;
}

void thread_schedule_by_deadline(void)
{
	CHECK_EQ(vcpu_count, 0);
	by_deadline++;
}

static const uint64_t *told_run;
static uint64_t published_hz;
void trace_program(uint32_t row, const uint64_t *run)
{
	CHECK_EQ(row, FIRST_ROW + vcpu_count - 1);
	told_run = run;
}

void trace_publish(uint64_t clock_hz)
{
	published_hz = clock_hz;
}

uint64_t clock_machine_hz(void)
{
	return HZ;
}

static bool deadlines;
bool thread_is_by_deadline(void)
{
	return deadlines;
}

enum { CONSOLES_LINE = 33 };
bool console_has_line(uint32_t line)
{
	return line == CONSOLES_LINE;
}

void console_limit(uint64_t distance)
{
	limit = distance;
}

enum thread_result admit_vcpu(struct thread_vcpu *on, const struct admit_request *request, struct admit_refusal *refusal)
{
	asked = *request;
	*refusal = refusing;
	if (of_vcpu != THREAD_OK)
		return of_vcpu;
	*on = (struct thread_vcpu){ .name = request->name,
				    .row = FIRST_ROW + vcpu_count,
				    .vcpu = { .kind = request->kind, .order = request->period } };
	if (request->kind == VCPU_MAIN)
		on->vcpu.main = (struct sporadic){ .budget = request->budget, .period = request->period };
	else
		on->vcpu.io = (struct pibs){ .percent = request->percent, .period = request->period };
	for (unsigned n = 0; n < vcpu_count; n++)
		CHECK(vcpus[n] != on); /* a VCPU that a scheduler knows stays where it is */
	vcpus[vcpu_count++] = on;
	return THREAD_OK;
}

enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack,
			       void (*entry)(void *argument), void *argument)
{
	const struct program_run *run = argument;

	CHECK_EQ(on->vcpu.order, run->period);
	CHECK(!strcmp(name, on->name));
	*thread = (struct thread){ .on = on, .name = name, .argument = argument };
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
	static const struct program all[] = { { "first", run_first, false },
					      { "second", run_second, false },
					      { "serves", run_first, true } };

	for (unsigned n = 0; n < 3; n++)
		if (!strcmp(all[n].name, name))
			return &all[n];
	return NULL;
}

static const struct thread *over;
enum thread_condition thread_state(const struct thread *thread)
{
	return thread == over ? THREAD_IS_STOPPED : THREAD_SLEEPS;
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

/* gpa of such a row is a rate. */
static void add_io(const char *name, uint64_t rate)
{
	struct bh_grant *row = add(BH_GRANT_VCPU, name, "second");

	row->vector = 5;
	row->gpa = rate;
	row->line = CONSOLES_LINE;
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
	said_count = 0;
	over = threads[0];
	run_vcpus(&(struct command_line){ .text = "" });
	expect(3, "control: is over, its vcpu is kept");
	expect(4, "second: 2");
	over = NULL;
}

/* What cannot be made is said, and keeps nobody else from being made. Rows of other cores are theirs. */
static void check_refused(void)
{
	add(BH_GRANT_VCPU, "nothing", "");
	add(BH_GRANT_VCPU, "unknown", "third");
	add(BH_GRANT_VCPU, "far", "first")->flags = 1;
	add(BH_GRANT_VCPU, "good", "first");
	start(1, 2);
	expect(0, "vcpu nothing: there is no program \"\"");
	expect(1, "vcpu unknown: there is no program \"third\"");
	add(BH_GRANT_VCPU, "far", "first")->flags = 1;
	add(BH_GRANT_VCPU, "near", "first");
	fake_cpu.slot = 1;
	start(1, 0);
	CHECK(!strcmp(vcpus[vcpu_count - 1]->name, "far"));
	fake_cpu.slot = 0; /* from where others are looked at, too */
	CHECK(!strcmp(vcpus_program(FIRST_ROW + vcpu_count - 1), "first"));
	CHECK(!strcmp(vcpus_program(FIRST_ROW + 1), "second"));
	CHECK(!vcpus_program(FIRST_ROW + vcpu_count) && !vcpus_program(0));
	fake_cpu.slot = 1;
	add(BH_GRANT_VCPU, "uart", "serves")->flags = 1;
	start(0, 1);
	expect(0, "vcpu uart: serves runs on the first core alone");
	fake_cpu.slot = 0;
	add(BH_GRANT_VCPU, "uart", "serves");
	start(1, 0);
}

/* With the numbers, in the words of what was asked for. */
static void check_load(void)
{
	of_vcpu = THREAD_E_LOAD;
	refusing = (struct admit_refusal){
		.result = ADMISSION_E_LOAD,
		.report = { .asked_ppm = 1100021, .allowed_ppm = 828427, .response = 110002 * TICKS / 1000, .deadline = 100 * TICKS },
		.who = "main",
		.fits = 39999 * TICKS / 1000,
	};
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 3);
	expect(0, "vcpu hungry: refused: asks for 110.1% of the core with all others; 82.8% always fit");
	expect(1, "vcpu hungry: main would have its budget after 110002 us or more, and has a period of 100000 us");
	expect(2, "vcpu hungry: 39999 us would fit");
	refusing.fits = 39999 * TICKS / 1000 - 1; /* not what is nearest, which does not fit */
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 3);
	expect(2, "vcpu hungry: 39998 us would fit");
	refusing.result = ADMISSION_E_UNDECIDED;
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 2);
	expect(0, "vcpu hungry: refused: whether all would have their budgets in time takes too long to find out");
	expect(1, "vcpu hungry: 39998 us would fit");
	refusing.fits = 0;
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 2);
	expect(1, "vcpu hungry: periods that are multiples of each other, or closer to each other, take less");
	refusing.fits = 39999 * TICKS / 1000 - 1;
	refusing.result = ADMISSION_E_LOAD;
	refusing.report.response++;
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 3);
	CHECK(strstr(said[1], "after 110003 us or more"));
	refusing.report.response--;
	refusing.fits = 0;
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 3);
	expect(2, "vcpu hungry: no smaller budget or share of it would fit");
	refusing.fits = 79;
	add_io("serial", 0);
	start(0, 3);
	expect(2, "vcpu serial: 79 percent would fit");
	deadlines = true;
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 3);
	expect(0, "vcpu hungry: refused: asks for 110.1% of the core with all others; 82.8% is the most");
	expect(1, "vcpu hungry: by 100000 us there would be work for 110002 us");
	refusing.report.response = refusing.report.deadline = 0;
	add(BH_GRANT_VCPU, "hungry", "first");
	start(0, 2);
	expect(0, "vcpu hungry: refused: asks for 110.1% of the core with all others; 82.8% is the most");
	deadlines = false;
	of_vcpu = THREAD_OK;
}

/* ---- I/O VCPUs -------------------------------------------------------------------------------------------------------- */

/* It is asked for with its own line, which is limited from then on. */
static void check_io(void)
{
	limit = 0;
	add_io("echo", 2000);
	start(1, 0);
	CHECK(asked.kind == VCPU_IO && !strcmp(asked.name, "echo"));
	CHECK_EQ(asked.percent, 5);
	CHECK_EQ(asked.period, TICKS);
	CHECK_EQ(asked.line.distance, TICKS / 2); /* 500 us */
	CHECK_EQ(asked.line.cost, BH_VCPU_TOP_HALF_NS / NS_PER_TICK);
	page.top_half_ns = 1000 * NS_PER_TICK; /* what the platform says */
	add_io("echo", 3000);
	start(1, 0);
	CHECK_EQ(asked.line.cost, 1000);
	page.top_half_ns = 0;
	CHECK_EQ(asked.line.distance, 333333 / NS_PER_TICK);
	CHECK_EQ(limit, 333333 / NS_PER_TICK);
	add_io("echo", 2000);
	start(1, 0);
	CHECK_EQ(limit, TICKS / 2);
	said_count = 0;
	run_vcpus(&(struct command_line){ .text = "" });
	expect(vcpu_count - 1, "vcpu echo: 50 us of 1000 us; given 0 us in 0 us, background 0 us");
}

/* Who says nothing of his line has it as it is, and so has who is refused. */
static void check_lines(void)
{
	limit = 1;
	add_io("free", 0);
	start(1, 0);
	CHECK_EQ(asked.line.cost, 0);
	CHECK_EQ(limit, 1);
	of_vcpu = THREAD_E_INVALID;
	add_io("storm", 100000);
	start(0, 1);
	expect(0, "vcpu storm: budget 0, longer than its period, or less than a switch takes, or a line that interrupts too often");
	CHECK_EQ(asked.line.cost, BH_VCPU_TOP_HALF_NS / NS_PER_TICK);
	CHECK_EQ(limit, 1);
	of_vcpu = THREAD_OK;
}

/* The configuration was checked before, but by others. */
static void check_foreign_lines(void)
{
	limit = 1;
	add_io("nic", 1000);
	page.grants[0].line = CONSOLES_LINE + 1;
	start(0, 1);
	expect(0, "vcpu nic: it does not serve the console's UART on the first core");
	fake_cpu.slot = 1;
	add_io("far", 1000);
	page.grants[0].flags = 1;
	start(0, 1);
	expect(0, "vcpu far: it does not serve the console's UART on the first core");
	fake_cpu.slot = 0;
	CHECK_EQ(limit, 1);
}

/* The budget of a Main VCPU is no rate. */
static void check_mains_have_no_line(void)
{
	limit = 0;
	add(BH_GRANT_VCPU, "plain", "first")->gpa = 2000;
	start(1, 0);
	CHECK_EQ(asked.line.cost, 0);
	CHECK_EQ(limit, 0);
	CHECK(asked.kind == VCPU_MAIN);
}

/* All of a core go by deadline, or none: before the first is made. Needs: there is none yet. */
static void check_policy(void)
{
	add(BH_GRANT_DEVICE, "uart0", "first")->flags = BH_VCPU_EDF;
	start(0, 0);
	CHECK_EQ(by_deadline, 0);
	add(BH_GRANT_VCPU, "unknown", "third");
	add(BH_GRANT_VCPU, "unknown", "third")->flags = BH_VCPU_EDF;
	start(0, 2);
	CHECK_EQ(by_deadline, 1);
}

static void check_failures(void)
{
	of_vcpu = THREAD_E_INVALID;
	page.switch_ns = 10001;
	add(BH_GRANT_VCPU, "long", "first");
	start(0, 1);
	expect(0, "vcpu long: a budget is 11 us at least, for a switch, and at most its period, of 281474976710 us at most");
	of_vcpu = THREAD_OK;
	no_frames = true; /* asked for once a core */
	fake_cpu.slot = 2;
	add(BH_GRANT_VCPU, "nowhere", "first")->flags = 2;
	start(0, 1);
	expect(0, "vcpu nowhere: no memory is left for it");
	fake_cpu.slot = 0;
	of_vcpu = THREAD_E_FULL;
	add(BH_GRANT_VCPU, "last", "first");
	start(0, 1);
	expect(0, "vcpu last: no rank is left");
	of_vcpu = THREAD_OK;
	of_begin = THREAD_E_NOMEM;
	add(BH_GRANT_VCPU, "poor", "first");
	start(0, 1);
	expect(0, "vcpu poor: no memory is left for a stack");
	of_begin = THREAD_OK;
	CHECK_EQ(stacks_out, vcpu_count); /* who is refused has none */
	CHECK_EQ(published_hz, HZ);
	CHECK(told_run == &((const struct program_run *)threads[thread_count - 1]->argument)->rounds);
	stacks = 0;
	add(BH_GRANT_VCPU, "bare", "first");
	start(0, 1);
	expect(0, "vcpu bare: no memory is left for a stack");
	stacks = 1000;
	add(BH_GRANT_VCPU, "after", "second");
	start(1, 0);
}

static void check_count(void)
{
	static unsigned char copy[sizeof(room_of_core[0])];

	while (vcpus_thread(ROWS - 1) == NULL) {
		add(BH_GRANT_VCPU, "more", "first");
		start(1, 0);
	}
	add(BH_GRANT_VCPU, "too-many", "first");
	start(0, 1);
	expect(0, "vcpu too-many: there are too many already");
	CHECK(vcpus_thread(ROWS) == NULL && vcpus_thread(0) == threads[0]);
	said_count = 0;
	memcpy(copy, room_of_core[0], sizeof(copy));
	CHECK(!vcpus_make(program_find("second"), 1, 2)); /* nor is a name written where there is no room */
	CHECK(memcmp(copy, room_of_core[0], sizeof(copy)) == 0);
	page.grant_count = ~0U; /* no more rows than there are */
	memset(page.grants, 0, sizeof(page.grants));
	start(0, 0);
}

static void check_command(void)
{
	static const struct program second = { "second", run_second, false };
	const struct thread_vcpu *first_made;

	said_count = 0;
	run_vcpu(&(struct command_line){ .text = "200,1000,second", .operand = { 200, 1000 }, .operands = 2 });
	expect(0, "vcpu second: made");
	first_made = vcpus[vcpu_count - 1];
	CHECK_EQ(first_made->vcpu.main.budget, 200000 / NS_PER_TICK);
	CHECK(!strcmp(vcpus_make(&second, 1, 2), "second-2"));
	CHECK(!strcmp(vcpus_make(&second, 1, 2), "second-3"));
	CHECK(!strcmp(vcpus[vcpu_count - 1]->name, "second-3") && !strcmp(first_made->name, "second"));
	run_vcpu(&(struct command_line){ .text = "200,1000,third", .operand = { 200, 1000 }, .operands = 2 });
	expect(1, "vcpu 200,1000,third: no such program");
	of_vcpu = THREAD_E_INVALID;
	run_vcpu(&(struct command_line){ .text = "1,1,first", .operand = { UINT64_MAX, UINT64_MAX / 1000 + 1 }, .operands = 2 });
	CHECK(asked.budget == UINT64_MAX && asked.period == UINT64_MAX); /* not wrapped to something small */
	CHECK(!vcpus_make(&second, 1, 2));
	of_vcpu = THREAD_OK;
}

/* Of a VCPU of this core alone. */
static void check_period(void)
{
	const struct program_run *run = threads[thread_count - 1]->argument, *other = threads[0]->argument;
	const uint64_t others = other->period;

	vcpus_tell_period(vcpus[vcpu_count - 1], 77);
	CHECK_EQ(run->period, 77);
	CHECK_EQ(other->period, others);
	fake_cpu.slot = 1;
	vcpus_tell_period(vcpus[vcpu_count - 1], 88);
	fake_cpu.slot = 0;
	CHECK_EQ(run->period, 77);
}

int main(void)
{
	clock_init(HZ);
	check_none();
	check_policy();
	check_made();
	check_refused();
	check_load();
	check_io();
	check_lines();
	check_foreign_lines();
	check_mains_have_no_line();
	check_failures();
	check_command();
	check_period();
	check_count();
	return 0;
}
