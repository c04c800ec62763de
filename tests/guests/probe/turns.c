/* SPDX-License-Identifier: Apache-2.0 */
/* Two sandboxes, in turns (turns.h). */
#include "probe/turns.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/frames.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"

#define MEET_NS 5000000ULL
#define POLL_NS 50000ULL
enum { WORDS_A_FRAME = FRAME_BYTES / sizeof(uint64_t) };

static uint64_t *kept;
static unsigned room, noted;

bool turns_open(struct channel *channel, const char *name, uint64_t poll_ns)
{
	if (channel_open(channel, name, clock_from_ns(poll_ns)) == BH_END_OK)
		return true;
	console_say("channel: no channel %s", name);
	return false;
}

/* ---- A beginning ------------------------------------------------------------------------------------------------------------ */

/* Again where a connection is new, which either end may be told of first. */
static bool tell(struct channel *mail, uint64_t word)
{
	enum bh_end_result result;

	do
		result = channel_send(mail, &word, sizeof(word), TIMER_NEVER);
	while (result == BH_END_NEW);
	return result == BH_END_OK;
}

static bool hear(struct channel *mail, uint64_t *word)
{
	struct bh_message message;
	enum bh_end_result result;

	do
		result = channel_receive(mail, word, sizeof(*word), &message, TIMER_NEVER);
	while (result == BH_END_NEW);
	return result == BH_END_OK;
}

/* End 1 says that it is there, end 0 when it begins. */
uint64_t turns_meet(struct channel *mail)
{
	uint64_t begin = 0;
	bool first = mail->end->own_counter == &mail->end->own->sent;

	if (first)
		return hear(mail, &begin) && tell(mail, begin = arch_counter() + clock_from_ns(MEET_NS)) ? begin : 0;
	return tell(mail, 0) && hear(mail, &begin) ? begin : 0;
}

void turns_connect(struct channel *channel)
{
	while (bh_end_look(channel->end) != BH_END_OK)
		(void)!thread_sleep_until(arch_counter() + clock_from_ns(TURNS_NS));
}

/* ---- A thread ---------------------------------------------------------------------------------------------------------------- */

static struct semaphore finished;
static void (*worked)(void);

static void work_and_tell(void *argument)
{
	worked();
	semaphore_give(&finished);
}

void turns_run(uint64_t budget_ns, uint64_t period_ns, void (*work)(void))
{
	static struct thread thread;
	static struct thread_vcpu vcpu;

	worked = work;
	if (thread_begin() != THREAD_OK ||
	    thread_make_vcpu(&vcpu, "turns", clock_from_ns(budget_ns), clock_from_ns(period_ns)) != THREAD_OK ||
	    thread_make(&thread, &vcpu, "turns", 0, stacks_take(), work_and_tell, NULL) != THREAD_OK ||
	    semaphore_take(&finished, TIMER_NEVER) != THREAD_OK)
		console_say("channel: no thread");
}

/* ---- Samples ----------------------------------------------------------------------------------------------------------------- */

bool turns_keep(unsigned count)
{
	noted = 0;
	if (count <= room)
		return true;
	room = (count + WORDS_A_FRAME - 1) / WORDS_A_FRAME * WORDS_A_FRAME;
	kept = (uint64_t *)(uintptr_t)frames_take_run(room / WORDS_A_FRAME, 1, FRAME_PROGRAM);
	if (!kept)
		room = 0;
	return kept;
}

void turns_note(uint64_t ticks)
{
	if (noted < room)
		kept[noted++] = ticks;
}

/* By gaps, as there may be ten thousand: D. Shell, Communications of the ACM 2 (7), 1959. */
static void sort(void)
{
	for (unsigned gap = noted / 2; gap; gap /= 2) {
		for (unsigned i = gap; i < noted; i++) {
			uint64_t value = kept[i];
			unsigned at = i;

			for (; at >= gap && kept[at - gap] > value; at -= gap)
				kept[at] = kept[at - gap];
			kept[at] = value;
		}
	}
}

void turns_say(const char *bench, const char *what)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < noted; n++)
		sum += kept[n];
	sort();
	if (noted)
		console_say("%s %s min %ju median %ju max %ju mean %ju of %ju", bench, what, kept[0], kept[noted / 2], kept[noted - 1],
			    sum / noted, (uint64_t)noted);
	noted = 0;
}
