/* SPDX-License-Identifier: Apache-2.0 */
/* Makes VCPUs at start-up and on command, and tells what they were given (vcpus.h). */
#include "kernel/core/vcpus.h"

#include <stddef.h>

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

enum { NS_PER_US = 1000, NS_PER_S = 1000000000, PPM_PER_TENTH = 1000, MOST = 32, NAME_BYTES = 16 };

/* What a core's main program has made, in this order; in frames, from the first on. */
static struct room {
	unsigned count;
	struct made {
		struct thread_vcpu vcpu;
		struct thread thread;
		struct program_run run;
		const char *program;
		char name[NAME_BYTES]; /* of one that a command made */
	} made[MOST];
} *rooms[BH_MAX_SANDBOX_CORES];

static struct room *this_room(void)
{
	struct room **room = &rooms[cpu_slot()];

	if (!*room)
		__atomic_store_n(
			room,
			(struct room *)(uintptr_t)frames_take_run((sizeof(struct room) + FRAME_BYTES - 1) / FRAME_BYTES, 1, FRAME_PROGRAM),
			__ATOMIC_RELEASE);
	return *room;
}

static const char *name_of(enum thread_result result)
{
	switch (result) {
	case THREAD_E_FULL:
		return "no rank is left";
	case THREAD_E_NOMEM:
		return "no memory is left for a stack";
	case THREAD_E_HOLDS:
		return "another admission is going on, try again";
	default:
		return "budget 0, longer than its period, or less than a switch takes, or a line that interrupts too often";
	}
}

void vcpus_say_invalid(const char *command, const char *name)
{
	console_say("%s %s: a budget is %ju us at least, for a switch, and at most its period, of %ju us at most", command, name,
		    (admit_switch_ns() + NS_PER_US - 1) / NS_PER_US, clock_to_ns(ADMISSION_MOST_TICKS) / NS_PER_US);
}

/* What follows the numbers. */
static const struct program *program_of(const char *text)
{
	for (unsigned commas = 0; *text && commas < 2; text++)
		commas += *text == ',';
	return program_find(text);
}

struct request {
	struct admit_request vcpu;
	const struct program *program;
	bool foreground_only;
};

static uint64_t us(uint64_t ticks)
{
	return (clock_to_ns(ticks) + NS_PER_US / 2) / NS_PER_US;
}

/* The most that are not more than so many ticks: who asks for them has them. */
static uint64_t us_within(uint64_t ticks)
{
	uint64_t most = us(ticks);

	return clock_from_us(most) > ticks ? most - 1 : most;
}

static uint64_t us_or_more(uint64_t ticks)
{
	return (clock_to_ns(ticks) + NS_PER_US - 1) / NS_PER_US;
}

/* By deadline it is nobody's fault alone, and where it is not the sum there is a time that shows it. In tenths of a per cent. */
static void say_late(const struct admit_request *asked, const struct admit_refusal *refusal)
{
	const struct admission_report *report = &refusal->report;
	const uint64_t sum = (report->asked_ppm + PPM_PER_TENTH - 1) / PPM_PER_TENTH, most = report->allowed_ppm / PPM_PER_TENTH;

	console_say("vcpu %s: refused: asks for %ju.%ju%% of the core with all others; %ju.%ju%% %s", asked->name, sum / 10, sum % 10,
		    most / 10, most % 10, thread_is_by_deadline() ? "is the most" : "always fit");
	if (!thread_is_by_deadline())
		console_say("vcpu %s: %s would have its budget after %ju us or more, and has a period of %ju us", asked->name, refusal->who,
			    us_or_more(report->response), us(report->deadline));
	else if (report->response > report->deadline)
		console_say("vcpu %s: by %ju us there would be work for %ju us", asked->name, us(report->deadline),
			    us_or_more(report->response));
}

void vcpus_say_refused(const struct admit_request *asked, const struct admit_refusal *refusal)
{
	if (refusal->result == ADMISSION_E_UNDECIDED)
		console_say("vcpu %s: refused: whether all would have their budgets in time takes too long to find out", asked->name);
	else
		say_late(asked, refusal);
	if (refusal->fits == 0 && refusal->result == ADMISSION_E_UNDECIDED)
		console_say("vcpu %s: periods that are multiples of each other, or closer to each other, take less", asked->name);
	else if (refusal->fits == 0)
		console_say("vcpu %s: no smaller budget or share of it would fit", asked->name);
	else if (asked->kind == VCPU_MAIN)
		console_say("vcpu %s: %ju us would fit", asked->name, us_within(refusal->fits));
	else
		console_say("vcpu %s: %ju percent would fit", asked->name, refusal->fits);
}

static enum thread_result admit(struct made *made, const struct request *asked)
{
	struct admit_refusal refusal = { .result = ADMISSION_OK };
	enum thread_result result = thread_begin();

	if (result == THREAD_OK)
		result = admit_vcpu(&made->vcpu, &asked->vcpu, &refusal);
	if (result == THREAD_E_LOAD)
		vcpus_say_refused(&asked->vcpu, &refusal);
	return result;
}

_Static_assert(offsetof(struct program_run, missed) == offsetof(struct program_run, rounds) + offsetof(struct bh_trace_run, missed) &&
		       offsetof(struct program_run, late_max) ==
			       offsetof(struct program_run, rounds) + offsetof(struct bh_trace_run, late) &&
		       offsetof(struct program_run, done_max) == offsetof(struct program_run, rounds) + offsetof(struct bh_trace_run, done),
	       "struct bh_trace_run");

/* For the tool's table: abi/trace.h */
static void publish(const struct made *made)
{
	trace_program(made->vcpu.row, &made->run.rounds);
	trace_publish(info_clock_hz());
}

/* For the first core, too, which looks at all (vcpus_program). */
static void count_one(struct room *room)
{
	__atomic_store_n(&room->count, room->count + 1, __ATOMIC_RELEASE);
}

/* Once the scheduler has the VCPU, its place is taken. */
static enum thread_result make_with(uintptr_t stack, struct made *made, const struct request *asked)
{
	enum thread_result result = admit(made, asked);

	made->run = (struct program_run){ .period = asked->vcpu.period, .name = asked->vcpu.name };
	made->program = asked->program->name;
	if (result != THREAD_OK)
		return result;
	count_one(this_room());
	if (asked->vcpu.line.cost)
		console_limit(asked->vcpu.line.distance); /* no other is known so far */
	made->vcpu.vcpu.foreground_only = asked->foreground_only;
	publish(made);
	return thread_make(&made->thread, &made->vcpu, asked->vcpu.name, 0, stack, asked->program->run, &made->run);
}

/* No VCPU without a thread: its stack is there first. */
static enum thread_result make_in(struct made *made, const struct request *asked)
{
	uintptr_t stack = stacks_take();
	enum thread_result result = stack ? make_with(stack, made, asked) : THREAD_E_NOMEM;

	if (stack && result != THREAD_OK)
		stacks_give(stack);
	return result;
}

/* Returns whether it is made. */
static bool make(const struct request *asked)
{
	struct room *room = this_room();
	enum thread_result result;

	if (asked->program->first_core_only && cpu_slot()) {
		console_say("vcpu %s: %s runs on the first core alone", asked->vcpu.name, asked->program->name);
		return false;
	}
	if (!room || room->count == MOST) {
		console_say("vcpu %s: %s", asked->vcpu.name, room ? "there are too many already" : "no memory is left for it");
		return false;
	}
	result = make_in(&room->made[room->count], asked);
	if (result == THREAD_E_INVALID && !asked->vcpu.line.cost)
		vcpus_say_invalid("vcpu", asked->vcpu.name);
	else if (result != THREAD_OK && result != THREAD_E_LOAD)
		console_say("vcpu %s: %s", asked->vcpu.name, name_of(result));
	return result == THREAD_OK;
}

/* ---- Of the partition file ------------------------------------------------------------------------------------------ */

/* Of a line whose rate is limited the top half takes part in admission, and is masked beyond. */
static struct top_half line_of(const struct bh_grant *grant)
{
	if (!grant->vector || !grant->gpa)
		return (struct top_half){ .cost = 0 };
	return (struct top_half){ .distance = clock_from_ns(NS_PER_S / grant->gpa), .cost = clock_from_ns(admit_top_half_ns()) };
}

static void make_granted(const struct bh_grant *grant)
{
	const struct request asked = {
		.vcpu = {
			.name = (const char *)grant->name,
			.kind = grant->vector ? VCPU_IO : VCPU_MAIN,
			.percent = grant->vector,
			.budget = clock_from_ns(grant->gpa),
			.period = clock_from_ns(grant->size),
			.line = line_of(grant),
		},
		.program = program_find((const char *)grant->compatible),
		.foreground_only = grant->flags & BH_VCPU_FOREGROUND_ONLY,
	};

	if ((grant->flags & BH_VCPU_CORE) != cpu_slot())
		return;
	if (grant->vector && (cpu_slot() || !console_has_line(grant->line)))
		console_say("vcpu %s: it does not serve the console's UART on the first core", asked.vcpu.name);
	else if (!asked.program)
		console_say("vcpu %s: there is no program \"%s\"", asked.vcpu.name, (const char *)grant->compatible);
	else
		make(&asked);
}

static void each_granted(void (*visit)(const struct bh_grant *grant))
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++)
		if (info->grants[n].kind == BH_GRANT_VCPU)
			visit(&info->grants[n]);
}

static void look_for_policy(const struct bh_grant *grant)
{
	if (grant->flags & BH_VCPU_EDF)
		thread_schedule_by_deadline();
}

void vcpus_start(void)
{
	each_granted(look_for_policy);
	each_granted(make_granted);
}

struct thread *vcpus_thread(unsigned n)
{
	const struct room *room = rooms[cpu_slot()];

	return room && n < room->count ? &rooms[cpu_slot()]->made[n].thread : NULL;
}

const char *vcpus_program(uint32_t row)
{
	for (unsigned slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) {
		const struct room *room = __atomic_load_n(&rooms[slot], __ATOMIC_ACQUIRE);
		const unsigned count = room ? __atomic_load_n(&room->count, __ATOMIC_ACQUIRE) : 0;

		for (unsigned n = 0; n < count; n++)
			if (room->made[n].vcpu.row == row)
				return room->made[n].program;
	}
	return NULL;
}

/* ---- On command -------------------------------------------------------------------------------------------------------- */

static bool is_taken(const struct room *room, const char *name)
{
	for (unsigned n = 0; n < room->count; n++)
		if (text_equal(room->made[n].vcpu.name, name))
			return true;
	return false;
}

/* "NAME-2" to "NAME-99", of which one is free: there are no more than MOST. */
static void write_name(char *to, const char *name, unsigned number)
{
	unsigned n = 0;

	for (; name[n] && n < NAME_BYTES - sizeof("-99"); n++)
		to[n] = name[n];
	to[n++] = '-';
	if (number >= 10)
		to[n++] = (char)('0' + number / 10);
	to[n++] = (char)('0' + number % 10);
	to[n] = '\0';
}

static const char *free_name(struct room *room, const char *name)
{
	char *own = room->made[room->count].name;

	if (!is_taken(room, name))
		return name;
	for (unsigned number = 2; number <= MOST + 1; number++) {
		write_name(own, name, number);
		if (!is_taken(room, own))
			break;
	}
	return own;
}

const char *vcpus_make(const struct program *program, uint64_t budget, uint64_t period)
{
	struct room *room = this_room();
	const char *name = room && room->count < MOST ? free_name(room, program->name) : program->name;

	return make(&(struct request){ .vcpu = { .name = name, .budget = budget, .period = period }, .program = program }) ? name : NULL;
}

void vcpus_tell_period(const struct thread_vcpu *on, uint64_t period)
{
	struct room *room = rooms[cpu_slot()];

	for (unsigned n = 0; room && n < room->count; n++)
		if (&room->made[n].vcpu == on)
			__atomic_store_n(&room->made[n].run.period, period, __ATOMIC_RELAXED);
}

/* ---- Commands ------------------------------------------------------------------------------------------------------- */

void run_vcpu(const struct command_line *line)
{
	const struct program *program = line->operands >= 2 ? program_of(line->text) : NULL;

	const char *name = program ? vcpus_make(program, clock_from_us(line->operand[0]), clock_from_us(line->operand[1])) : NULL;

	if (name)
		console_say("vcpu %s: made", name);
	else if (!program)
		console_say("vcpu %s: no such program", line->text);
}

static void say(const struct thread_vcpu *on)
{
	const struct vcpu *vcpu = &on->vcpu;
	uint64_t budget = vcpu->kind == VCPU_MAIN ? vcpu->main.budget : vcpu->order * vcpu->io.percent / PIBS_PERCENT;

	console_say("vcpu %s: %ju us of %ju us; given %ju us in %ju us, background %ju us", on->name, us(budget), us(vcpu->order),
		    us(vcpu->given), us(arch_counter() - on->made), us(vcpu->background));
}

void run_vcpus(const struct command_line *line)
{
	if (!thread_begun()) {
		console_say("no vcpus");
		return;
	}
	thread_each_vcpu(say);
	for (unsigned n = 0; rooms[cpu_slot()] && n < rooms[cpu_slot()]->count; n++) {
		const struct made *made = &rooms[cpu_slot()]->made[n];

		program_report(&made->run, made->vcpu.name);
		if (thread_is_over(&made->thread))
			console_say("%s: is over, its vcpu is kept", made->vcpu.name);
	}
}
