/* SPDX-License-Identifier: Apache-2.0 */
/* Makes VCPUs on command, and tells what they were given (vcpus.h). */
#include "kernel/core/vcpus.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
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

static enum thread_result make(struct made *made, const struct program *program, uint64_t budget, uint64_t period)
{
	enum thread_result result = thread_begin();

	made->run = (struct program_run){ .period = period };
	if (result == THREAD_OK)
		result = thread_make_vcpu(&made->vcpu, program->name, budget, period);
	if (result == THREAD_OK)
		result = thread_make(&made->thread, &made->vcpu, program->name, 0, stacks_take(), program->run, &made->run);
	return result;
}

void run_vcpu(const struct command_line *line)
{
	const struct program *program = line->operands >= 2 ? program_of(line->text) : NULL;
	enum thread_result result;

	if (!program) {
		console_say("vcpu %s: no such program", line->text);
		return;
	}
	if (made_count == MOST) {
		console_say("vcpu %s: there are %ju already", line->text, (uint64_t)MOST);
		return;
	}
	result = make(&all[made_count], program, clock_from_ns(line->operand[0] * NS_PER_US), clock_from_ns(line->operand[1] * NS_PER_US));
	if (result != THREAD_OK)
		console_say("vcpu %s: %s", line->text, name_of(result));
	else
		made_count++;
}

static uint64_t us(uint64_t ticks)
{
	return clock_to_ns(ticks) / NS_PER_US;
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
		program_report(&all[n].run, all[n].thread.name);
}
