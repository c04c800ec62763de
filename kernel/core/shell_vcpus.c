/* SPDX-License-Identifier: Apache-2.0 */
/* Changes VCPUs, and starts programs (shell_vcpus.h). */
#include "kernel/core/shell_vcpus.h"

#include <stddef.h>

#include "kernel/core/admit.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/text.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/vcpus.h"

enum { START_BUDGET_US = 1000, START_PERIOD_US = 100000, NS_PER_US = 1000 };

/* "NAME", or "NAME,BUDGET_US,PERIOD_US". */
struct named {
	char name[COMMAND_WORD_BYTES];
	bool numbered;
	uint64_t budget_us, period_us;
};

/* Reads "," and a number. */
static bool next_number(const char **text, uint64_t *number)
{
	if (**text != ',')
		return false;
	++*text;
	return text_parse_number(text, number);
}

/* Returns false if there is no name, or what follows it is neither nothing nor two numbers. */
static bool parse(const char *text, struct named *named)
{
	size_t n = 0;

	*named = (struct named){ .numbered = false };
	for (; *text && *text != ',' && n < sizeof(named->name) - 1; text++)
		named->name[n++] = *text;
	if (!*text)
		return n > 0;
	named->numbered = next_number(&text, &named->budget_us) && next_number(&text, &named->period_us) && !*text;
	return named->numbered;
}

/* ---- set ------------------------------------------------------------------------------------------------------------- */

/* Of a core's main program. */
static struct search {
	const char *name;
	struct thread_vcpu *found;
} searches[BH_MAX_SANDBOX_CORES];

static void find(const struct thread_vcpu *on)
{
	struct search *search = &searches[cpu_slot()];

	if (!search->found && text_equal(on->name, search->name))
		search->found = (struct thread_vcpu *)(uintptr_t)on;
}

static struct thread_vcpu *vcpu_of(const char *name)
{
	struct search *search = &searches[cpu_slot()];

	*search = (struct search){ .name = name };
	if (thread_begun())
		thread_each_vcpu(find);
	return search->found;
}

/* Returns whether it has them now. */
static bool change(struct thread_vcpu *on, const struct named *named)
{
	const struct admit_request asked = {
		.name = on->name, .kind = VCPU_MAIN, .budget = clock_from_us(named->budget_us), .period = clock_from_us(named->period_us)
	};
	struct admit_refusal refusal;
	enum thread_result result;

	if (on->vcpu.kind != VCPU_MAIN) {
		console_say("set %s: an I/O VCPU keeps its share", on->name);
		return false;
	}
	result = admit_change(on, &asked, &refusal);
	if (result == THREAD_E_LOAD)
		vcpus_say_refused(&asked, &refusal);
	else if (result == THREAD_E_INVALID)
		vcpus_say_invalid("set", on->name);
	else if (result != THREAD_OK)
		console_say("set %s: another admission is going on, try again", on->name);
	if (result != THREAD_OK)
		return false;
	vcpus_tell_period(on, asked.period);
	console_say("set %s: %ju us of %ju us", on->name, named->budget_us, named->period_us);
	return true;
}

/* Nobody else has asked for anything on this core since, so it fits. */
static void change_back(struct thread_vcpu *on, const struct admit_request *before)
{
	struct admit_refusal refusal;

	if (admit_change(on, before, &refusal) == THREAD_OK)
		vcpus_tell_period(on, before->period);
}

/* Who carries this out could not take it back. */
static bool is_own(const struct thread_vcpu *on)
{
	return on == thread_running()->on;
}

void run_set(const struct command_line *line)
{
	struct named named;
	bool good = parse(line->text, &named) && named.numbered;
	struct thread_vcpu *on = good ? vcpu_of(named.name) : NULL;

	if (on && is_own(on))
		console_say("set %s: who carries out commands keeps what it has", on->name);
	else if (on)
		change(on, &named);
	else
		console_say("set %s: %s", line->text, good ? "no such vcpu on this core" : "write set=VCPU,BUDGET_US,PERIOD_US");
}

/* ---- start and stop ---------------------------------------------------------------------------------------------------- */

/* The first of this core with the name that runs, or that is over; NULL: there is none. */
static struct thread *thread_of(const char *name, bool over)
{
	struct thread *thread;

	for (unsigned n = 0; (thread = vcpus_thread(n)); n++)
		if (text_equal(thread->name, name) && thread_is_over(thread) == over)
			return thread;
	return NULL;
}

/* On the VCPU that it had, which was kept for it. */
static void begin_again(struct thread *thread, const struct named *named)
{
	const struct sporadic *main = &thread->on->vcpu.main;
	const struct admit_request before = { .name = thread->on->name, .kind = VCPU_MAIN, .budget = main->budget, .period = main->period };

	if (named->numbered && !change(thread->on, named))
		return;
	if (thread_restart(thread) == THREAD_OK) {
		console_say("start %s: runs again on its vcpu", thread->name);
		return;
	}
	if (named->numbered)
		change_back(thread->on, &before);
	console_say("start %s: no memory is left for a stack; its vcpu is as before", thread->name);
}

static void begin(const struct program *program, const struct named *named)
{
	uint64_t budget_us = named->numbered ? named->budget_us : START_BUDGET_US;
	uint64_t period_us = named->numbered ? named->period_us : START_PERIOD_US;
	const char *name = vcpus_make(program, clock_from_us(budget_us), clock_from_us(period_us));

	if (name)
		console_say("start %s: vcpu %s, %ju us of %ju us", named->name, name, budget_us, period_us);
}

void run_start(const struct command_line *line)
{
	struct named named;
	bool good = parse(line->text, &named);
	struct thread *over = good && thread_begun() ? thread_of(named.name, true) : NULL;
	const struct program *program = good ? program_find(named.name) : NULL;

	if (over)
		begin_again(over, &named);
	else if (program)
		begin(program, &named);
	else
		console_say("start %s: %s", line->text, good ? "no such program" : "write start=NAME or start=NAME,BUDGET_US,PERIOD_US");
}

void run_stop(const struct command_line *line)
{
	struct thread *thread = thread_begun() ? thread_of(line->text, false) : NULL;

	if (thread && thread_stop(thread) == THREAD_OK)
		console_say("stop %s: stopped, its vcpu is kept", line->text);
	else if (thread_begun() && text_equal(line->text, thread_running()->name))
		console_say("stop %s: who carries out commands goes on", line->text);
	else
		console_say("stop %s: %s", line->text, *line->text ? "no such program runs on this core" : "write stop=NAME");
}
