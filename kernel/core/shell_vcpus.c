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

enum { NS_PER_US = 1000, START_BUDGET_US = 1000, START_PERIOD_US = 100000 };

/* "NAME", or "NAME,BUDGET_US,PERIOD_US". */
struct named {
	char name[COMMAND_WORD_BYTES];
	bool numbered;
	uint64_t budget_us, period_us;
};

/* What cannot be told in ns is too long for any VCPU, too. */
static uint64_t ticks_of(uint64_t us)
{
	return us < UINT64_MAX / NS_PER_US ? clock_from_ns(us * NS_PER_US) : UINT64_MAX;
}

/* Reads "," and a number. */
static bool next_number(const char **text, uint64_t *number)
{
	if (**text != ',')
		return false;
	++*text;
	return text_parse_number(text, number);
}

/* Returns false if what follows the name is neither nothing nor two numbers. */
static bool parse(const char *text, struct named *named)
{
	size_t n = 0;

	*named = (struct named){ .numbered = false };
	for (; *text && *text != ',' && n < sizeof(named->name) - 1; text++)
		named->name[n++] = *text;
	if (!*text)
		return true;
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
		.name = on->name, .kind = VCPU_MAIN, .budget = ticks_of(named->budget_us), .period = ticks_of(named->period_us)
	};
	struct admit_refusal refusal;
	enum thread_result result = on->vcpu.kind == VCPU_MAIN ? admit_change(on, &asked, &refusal) : THREAD_E_INVALID;

	if (result == THREAD_E_LOAD)
		vcpus_say_refused(&asked, &refusal);
	else if (result != THREAD_OK)
		console_say("set %s: no such budget and period, or not a Main VCPU", on->name);
	else
		console_say("set %s: %ju us of %ju us", on->name, named->budget_us, named->period_us);
	return result == THREAD_OK;
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
		console_say("set %s: %s", line->text, good ? "no such vcpu" : "VCPU,BUDGET_US,PERIOD_US");
}

/* ---- start and stop ---------------------------------------------------------------------------------------------------- */

static bool is_over(const struct thread *thread)
{
	enum thread_condition condition = thread_state(thread);

	return condition == THREAD_HAS_ENDED || condition == THREAD_IS_STOPPED;
}

/* The first of this core that runs the program, or that did and is over; NULL: there is none. */
static struct thread *thread_of(const char *name, bool over)
{
	struct thread *thread;

	for (unsigned n = 0; (thread = vcpus_thread(n)); n++)
		if (text_equal(thread->name, name) && is_over(thread) == over)
			return thread;
	return NULL;
}

/* On the VCPU that it had, which was kept for it. */
static void begin_again(struct thread *thread, const struct named *named)
{
	enum thread_result result;

	if (named->numbered && !change(thread->on, named))
		return;
	result = thread_restart(thread);
	console_say("start %s: %s", thread->name, result == THREAD_OK ? "runs again on its vcpu" : "no memory is left for a stack");
}

void run_start(const struct command_line *line)
{
	struct named named;
	bool good = parse(line->text, &named);
	const struct program *program = good ? program_find(named.name) : NULL;
	struct thread *over = program && thread_begun() ? thread_of(program->name, true) : NULL;

	if (!program)
		console_say("start %s: %s", line->text, good ? "no such program" : "PROGRAM, or PROGRAM,BUDGET_US,PERIOD_US");
	else if (over)
		begin_again(over, &named);
	else if (named.numbered)
		vcpus_make(program, ticks_of(named.budget_us), ticks_of(named.period_us));
	else
		vcpus_make(program, ticks_of(START_BUDGET_US), ticks_of(START_PERIOD_US));
}

void run_stop(const struct command_line *line)
{
	struct thread *thread = thread_begun() ? thread_of(line->text, false) : NULL;

	if (thread && thread_stop(thread) == THREAD_OK)
		console_say("stop %s: stopped, its vcpu is kept", line->text);
	else
		console_say("stop %s: no such program runs", line->text);
}
