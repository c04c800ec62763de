/* SPDX-License-Identifier: Apache-2.0 */
/* Makes VCPUs at start-up and on command, and tells what they were given (vcpus.h). */
#include "kernel/core/vcpus.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/programs.h"
#include "kernel/core/stacks.h"
#include "kernel/core/text.h"
#include "kernel/core/thread.h"

enum { NS_PER_US = 1000, MOST = 32 };

static struct made {
	struct thread_vcpu vcpu;
	struct thread thread;
	struct program_run run;
} all[MOST]; /* in the order in which they were made */
static _Atomic unsigned made_count;

static const char *name_of(enum thread_result result)
{
	static const char *const names[] = {
		[-THREAD_E_INVALID] = "budget 0, or longer than its period",
		[-THREAD_E_FULL] = "no rank is left",
		[-THREAD_E_NOMEM] = "no memory is left for a stack",
	};

	return names[-result];
}

/* What follows the numbers. */
static const struct program *program_of(const char *text)
{
	for (unsigned commas = 0; *text && commas < 2; text++)
		commas += *text == ',';
	return program_find(text);
}

struct request {
	const char *name;
	uint64_t budget_ns;
	uint64_t period_ns;
	bool foreground_only;
};

/* Once the scheduler has the VCPU, its place is taken, with a thread or without. */
static enum thread_result make_in(struct made *made, const struct request *asked, const struct program *program)
{
	enum thread_result result = thread_begin();

	made->run = (struct program_run){ .period = clock_from_ns(asked->period_ns) };
	if (result == THREAD_OK)
		result = thread_make_vcpu(&made->vcpu, asked->name, clock_from_ns(asked->budget_ns), made->run.period);
	if (result != THREAD_OK)
		return result;
	made_count++;
	made->vcpu.vcpu.foreground_only = asked->foreground_only;
	return thread_make(&made->thread, &made->vcpu, asked->name, 0, stacks_take(), program->run, &made->run);
}

static void make(const struct request *asked, const struct program *program)
{
	enum thread_result result;

	if (made_count == MOST) {
		console_say("vcpu %s: there are %ju already", asked->name, (uint64_t)MOST);
		return;
	}
	result = make_in(&all[made_count], asked, program);
	if (result != THREAD_OK)
		console_say("vcpu %s: %s", asked->name, name_of(result));
}

/* ---- Of the partition file ------------------------------------------------------------------------------------------ */

/* What `check` refuses as well: tools/bhtool/config/check_vcpus.py, not_yet. */
static const char *not_yet(const struct bh_grant *grant)
{
	if (grant->vector)
		return "no I/O VCPUs in this version";
	if (grant->flags & BH_VCPU_EDF)
		return "no VCPUs by deadline in this version";
	if (grant->flags & BH_VCPU_CORE)
		return "only the first core has VCPUs in this version";
	return NULL;
}

static void make_granted(const struct bh_grant *grant)
{
	const char *name = (const char *)grant->name, *program_name = (const char *)grant->compatible, *why = not_yet(grant);
	const struct program *program = program_find(program_name);

	if (why)
		console_say("vcpu %s: %s", name, why);
	else if (!program)
		console_say("vcpu %s: there is no program \"%s\"", name, program_name);
	else
		make(&(struct request){ name, grant->gpa, grant->size, grant->flags & BH_VCPU_FOREGROUND_ONLY }, program);
}

void vcpus_start(void)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++)
		if (info->grants[n].kind == BH_GRANT_VCPU)
			make_granted(&info->grants[n]);
}

/* ---- Commands ------------------------------------------------------------------------------------------------------- */

void run_vcpu(const struct command_line *line)
{
	const struct program *program = line->operands >= 2 ? program_of(line->text) : NULL;

	if (program)
		make(&(struct request){ program->name, line->operand[0] * NS_PER_US, line->operand[1] * NS_PER_US, false }, program);
	else
		console_say("vcpu %s: no such program", line->text);
}

static uint64_t us(uint64_t ticks)
{
	return (clock_to_ns(ticks) + NS_PER_US / 2) / NS_PER_US;
}

static void say(const struct thread_vcpu *on)
{
	const struct vcpu *vcpu = &on->vcpu;

	console_say("vcpu %s: %ju us of %ju us; given %ju us in %ju us, background %ju us", on->name, us(vcpu->main.budget),
		    us(vcpu->main.period), us(vcpu->given), us(arch_counter() - on->made), us(vcpu->background));
}

void run_vcpus(const struct command_line *line)
{
	if (!thread_begun()) {
		console_say("no vcpus");
		return;
	}
	thread_each_vcpu(say);
	for (unsigned n = 0; n < made_count; n++)
		program_report(&all[n].run, all[n].vcpu.name);
}
