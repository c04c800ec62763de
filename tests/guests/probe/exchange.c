/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between VCPUs that have little time (exchange.h). */
#include "probe/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/frames.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/stacks.h"
#include "probe/turns.h"

enum { SLOT_BYTES = 4096, GROWTH = 4, NAME_BYTES = 32, COST_TRIALS = 20 };
#define MAIL_POLL_NS 100000ULL

static struct {
	uint64_t budget_ns, period_ns, poll_ns;
	uint64_t least_pause_ns, pause_spread_ns;
	uint64_t answer_bytes, from, to, trials;
} want = { .answer_bytes = sizeof(uint64_t) };
static struct channel there, back, mail;
static bool far;
static uint64_t random_state = 1;
static uint64_t *page; /* what is sent, and what an answer is copied to */
static volatile uint64_t seen;

void run_exchange_vcpu(const struct command_line *line)
{
	want.budget_ns = line->operand[0];
	want.period_ns = line->operand[1];
	want.poll_ns = line->operand[2];
}

void run_exchange_answer(const struct command_line *line)
{
	want.answer_bytes = line->operand[0];
	random_state = line->operand[1] | 1;
}

void run_exchange_pause(const struct command_line *line)
{
	want.least_pause_ns = line->operand[0];
	want.pause_spread_ns = line->operand[1];
}

/* ---- Who is above ------------------------------------------------------------------------------------------------------------ */

static void spin(void *argument)
{
	for (;;)
		__asm__ volatile("");
}

/* Without what others leave: what is measured is what a VCPU is promised. */
void run_exchange_shell(const struct command_line *line)
{
	static struct thread_vcpu vcpu;
	static struct thread thread;
	const uint64_t budget = clock_from_ns(line->operand[0]), period = clock_from_ns(line->operand[1]);

	heartbeat_start(0);
	if (thread_begin() != THREAD_OK || thread_make_vcpu(&vcpu, "shell", budget, period) != THREAD_OK) {
		console_say("exchange: no shell");
		return;
	}
	vcpu.vcpu.foreground_only = true;
	if (thread_make(&thread, &vcpu, "shell", 0, stacks_take(), spin, NULL) != THREAD_OK)
		console_say("exchange: no shell");
}

/* ---- Pauses: G. Marsaglia, "Xorshift RNGs", 2003 -------------------------------------------------------------------------------- */

static uint64_t below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return limit ? random_state % limit : 0;
}

static void sleep_somewhat(void)
{
	const uint64_t ns = want.least_pause_ns + below(want.pause_spread_ns);

	if (ns)
		(void)!thread_sleep_until(arch_counter() + clock_from_ns(ns));
}

/* Somewhere else in its period, with some of its budget used. */
static void pause(void)
{
	uint64_t until;

	sleep_somewhat();
	until = arch_counter() + clock_from_ns(below(want.budget_ns));
	while (arch_counter() < until)
		__asm__ volatile("");
}

/* The same, but it looks meanwhile: until there is something. */
static void look_on(struct channel *channel)
{
	struct bh_message message;
	uint64_t until;

	sleep_somewhat();
	until = arch_counter() + clock_from_ns(below(want.budget_ns));
	while (arch_counter() < until && channel_peek(channel, &message, 0) != BH_END_OK)
		continue;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------------------- */

static void copy(uint64_t *to, const uint64_t *from, uint64_t bytes)
{
	for (uint64_t n = 0; n < bytes / sizeof(uint64_t); n++)
		to[n] = from[n];
}

/* Both wait without sleeping, if the poll is 0. */
static bool find_room(struct channel *channel, void **data)
{
	enum bh_end_result result;

	do
		result = channel_reserve(channel, data, want.poll_ns ? TIMER_NEVER : 0);
	while (!want.poll_ns && result == BH_END_AGAIN);
	return result == BH_END_OK;
}

static bool find_message(struct channel *channel, struct bh_message *message)
{
	enum bh_end_result result;

	do
		result = channel_peek(channel, message, want.poll_ns ? TIMER_NEVER : 0);
	while (!want.poll_ns && result == BH_END_AGAIN);
	return result == BH_END_OK;
}

static uint64_t use(const uint64_t *words, uint64_t bytes)
{
	uint64_t all = 0;

	for (uint64_t n = 0; n < bytes / sizeof(uint64_t); n++)
		all += words[n];
	return all;
}

/* In place, in as many slots as it takes, as one transaction. Its first word is `stamp`. */
static bool send(struct channel *channel, uint64_t bytes, uint64_t stamp)
{
	void *data;

	if (bytes > SLOT_BYTES && channel_begin(channel) != BH_END_OK)
		return false;
	for (uint64_t at = 0; at < bytes; at += SLOT_BYTES) {
		const uint64_t part = bytes - at < SLOT_BYTES ? bytes - at : SLOT_BYTES;

		if (!find_room(channel, &data))
			return false;
		copy(data, page, part);
		*(uint64_t *)data = at ? at : stamp;
		if (at && at + part == bytes && channel_end(channel) != BH_END_OK)
			return false;
		if (channel_commit(channel, (uint32_t)part) != BH_END_OK)
			return false;
	}
	return true;
}

/* Uses every word, and gives the first one. */
static bool receive(struct channel *channel, uint64_t bytes, uint64_t *stamp)
{
	struct bh_message message;
	uint64_t all = 0;

	for (uint64_t at = 0; at < bytes; at += SLOT_BYTES) {
		const uint64_t part = bytes - at < SLOT_BYTES ? bytes - at : SLOT_BYTES;
		const uint64_t *words;

		if (!find_message(channel, &message) || message.length != part)
			return false;
		words = message.data;
		if (at == 0)
			*stamp = words[0];
		all += use(words, part);
		if ((at && words[0] != at) || channel_release(channel) != BH_END_OK)
			return false;
	}
	seen = all;
	return true;
}

static bool ask(uint64_t bytes)
{
	uint64_t begun, stamp = 0;

	pause();
	begun = arch_counter();
	if (!send(&there, bytes, begun) || !receive(&back, want.answer_bytes, &stamp) || stamp != begun)
		return false;
	turns_note(arch_counter() - begun);
	return true;
}

static bool answer(uint64_t bytes)
{
	uint64_t stamp = 0, came;

	look_on(&there);
	if (!receive(&there, bytes, &stamp))
		return false;
	came = arch_counter();
	if (!send(&back, want.answer_bytes, stamp))
		return false;
	turns_note(came - stamp);
	return true;
}

/* ---- Trials ------------------------------------------------------------------------------------------------------------------ */

static char *put_number(char *at, uint64_t number)
{
	if (number >= 10)
		at = put_number(at, number / 10);
	*at++ = (char)('0' + number % 10);
	return at;
}

static bool try_size(uint64_t bytes)
{
	static const char which[] = ": one way", both[] = ": there and back";
	char name[NAME_BYTES], *at = put_number(name, bytes);
	uint64_t n = 0;

	for (const char *text = far ? which : both; *text; text++)
		*at++ = *text;
	*at = '\0';
	while (n < want.trials && (far ? answer(bytes) : ask(bytes)))
		n++;
	if (n == want.trials)
		turns_say("exchange", name);
	else
		console_say("exchange: cannot measure %s, trial %ju", name, n);
	return n == want.trials;
}

/* Without what the other end executes meanwhile, which makes time pass where cores run in turns. */
static void say_costs(void)
{
	uint64_t copied = UINT64_MAX, used = UINT64_MAX;

	for (unsigned n = 0; n < COST_TRIALS; n++) {
		const uint64_t begun = arch_counter();
		uint64_t between, ended;

		copy(page + SLOT_BYTES / sizeof(uint64_t), page, SLOT_BYTES);
		between = arch_counter();
		seen = use(page, SLOT_BYTES);
		ended = arch_counter();
		copied = between - begun < copied ? between - begun : copied;
		used = ended - between < used ? ended - between : used;
	}
	console_say("exchange costs: a page %ju copied %ju used", copied, used);
}

static void connect(struct channel *channel)
{
	while (bh_end_look(channel->end) != BH_END_OK)
		(void)!thread_sleep_until(arch_counter() + clock_from_ns(MAIL_POLL_NS));
}

static void try_all(void)
{
	thread_running()->on->vcpu.foreground_only = true;
	page = (uint64_t *)(uintptr_t)frames_take_run(2, 1, FRAME_PROGRAM);
	if (!page || !turns_keep((unsigned)want.trials) || !turns_open(&mail, "mail", MAIL_POLL_NS)) {
		console_say("exchange: cannot measure without memory");
		return;
	}
	if (!turns_open(&there, "pages", want.poll_ns) || !turns_open(&back, "pages-back", want.poll_ns))
		return;
	far = there.end->role == BH_END_RING_READER;
	say_costs();
	connect(&there);
	connect(&back);
	for (uint64_t bytes = want.from; bytes <= want.to; bytes *= GROWTH)
		if (!turns_meet(&mail) || !try_size(bytes))
			return;
	console_say("exchange done");
}

void run_exchange(const struct command_line *line)
{
	want.from = line->operand[0] ? line->operand[0] : 1;
	want.to = line->operand[1];
	want.trials = line->operand[2];
	heartbeat_start(0);
	turns_run(want.budget_ns, want.period_ns, try_all);
}
