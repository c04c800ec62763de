/* SPDX-License-Identifier: Apache-2.0 */
/* Sends samples through a channel, and looks at those that come (channel_programs.h). */
#include "kernel/core/channel_programs.h"

#include <stddef.h>

#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/programs.h"
#include "kernel/core/sync.h"

/* Notes of the programs, in this order. */
enum { SENT, FULL, SOURCE_CONNECTIONS };
enum { TAKEN, WRONG, DAMAGED, SINK_CONNECTIONS, LATEST_NS, LOST /* of a relay alone */ };

static void count(struct program_run *run, unsigned note)
{
	__atomic_store_n(&run->notes[note].count, run->notes[note].count + 1, __ATOMIC_RELAXED);
}

static uint64_t pattern_of(uint64_t number, unsigned word)
{
	return (number + 1) * UINT64_C(0x9e3779b97f4a7c15) + word;
}

/* The channel of that name, or NULL and has said why not. */
static struct bh_end *take(const char *name, enum bh_end_role first, enum bh_end_role second)
{
	struct bh_end *end = channel_take(name);

	if (end && (end->role == first || end->role == second)) {
		bh_end_set_checked(end, true);
		return end;
	}
	console_say("%s: %s", name,
		    end ? "this program has no use for that end of that kind of channel" : "no such channel, or somebody has it");
	return NULL;
}

static struct channel_sample sample_of(uint64_t number)
{
	struct channel_sample sample = { .number = number, .clock = arch_counter() };

	for (unsigned word = 0; word < sizeof(sample.pattern) / sizeof(sample.pattern[0]); word++)
		sample.pattern[word] = pattern_of(number, word);
	return sample;
}

static enum bh_end_result send(struct bh_end *end)
{
	const struct channel_sample sample = sample_of(end->sent);
	enum bh_end_result result;
	void *data;

	if (end->role == BH_END_LATEST_WRITER)
		return bh_latest_write(end, &sample, sizeof(sample));
	result = bh_ring_reserve(end, &data);
	if (result != BH_END_OK)
		return result;
	bh_copy_to_slot((uint8_t *)data, &sample, sizeof(sample));
	return bh_ring_send(end, sizeof(sample), BH_CHANNEL_START | BH_CHANNEL_END);
}

/* Whose connection is new has told of that, and asks again. */
static void send_one(struct bh_end *end, struct program_run *run)
{
	enum bh_end_result result = send(end);

	if (result == BH_END_NEW) {
		count(run, SOURCE_CONNECTIONS);
		result = send(end);
	}
	if (result == BH_END_OK)
		count(run, SENT);
	else if (result == BH_END_AGAIN && end->connected)
		count(run, FULL);
}

void channel_source(void *given)
{
	struct program_run *run = given;
	struct bh_end *end = take(run->name, BH_END_RING_SENDER, BH_END_LATEST_WRITER);
	struct periodic periodic;

	run->notes[SENT].what = "sent";
	run->notes[FULL].what = "kept back, as the channel was full,";
	run->notes[SOURCE_CONNECTIONS].what = "connections";
	if (!end || periodic_begin(&periodic, run->period) != THREAD_OK)
		return;
	while (periodic_wait(&periodic) == THREAD_OK) {
		send_one(end, run);
		program_note_round(run, &periodic);
	}
}

/* What has come as that number of its connection. */
static void look_at(struct program_run *run, const struct channel_sample *sample, uint32_t length, uint64_t number)
{
	uint64_t late = clock_to_ns(arch_counter() - sample->clock);
	bool right = length == sizeof(*sample) && sample->number == number;

	for (unsigned word = 0; word < sizeof(sample->pattern) / sizeof(sample->pattern[0]); word++)
		right = right && sample->pattern[word] == pattern_of(number, word);
	count(run, right ? TAKEN : WRONG);
	if (right && late > run->notes[LATEST_NS].count)
		__atomic_store_n(&run->notes[LATEST_NS].count, late, __ATOMIC_RELAXED);
}

/* Returns whether there may be more. */
static bool take_from_ring(struct bh_end *end, struct program_run *run, struct channel_sample *sample)
{
	struct bh_message message;
	enum bh_end_result result = bh_ring_peek(end, &message);

	if (result == BH_END_NEW)
		count(run, SINK_CONNECTIONS);
	if (result == BH_END_CHECK)
		count(run, DAMAGED);
	*sample = (struct channel_sample){ .number = 0 };
	if (result == BH_END_OK && message.length <= sizeof(*sample))
		bh_copy_from_slot(sample, (const uint8_t *)message.data, message.length);
	if (result != BH_END_OK && result != BH_END_CHECK)
		return result == BH_END_NEW;
	if (bh_ring_release(end) == BH_END_OK && result == BH_END_OK)
		look_at(run, sample, message.length, message.number);
	return true;
}

static bool take_latest(struct bh_end *end, struct program_run *run)
{
	const uint32_t before = end->taken;
	struct channel_sample sample;
	struct bh_message message;
	enum bh_end_result result = bh_latest_read(end, &sample, sizeof(sample), &message);

	if (result == BH_END_NEW)
		count(run, SINK_CONNECTIONS);
	if (result == BH_END_CHECK)
		count(run, DAMAGED);
	if (result == BH_END_OK && end->taken != before)
		look_at(run, &sample, message.length, message.number);
	return result == BH_END_NEW;
}

static void name_notes(struct program_run *run)
{
	run->notes[TAKEN].what = "taken";
	run->notes[WRONG].what = "not as a source sends them";
	run->notes[DAMAGED].what = "damaged";
	run->notes[SINK_CONNECTIONS].what = "connections";
	run->notes[LATEST_NS].what = "ns from sent to taken, at most";
}

void channel_sink(void *given)
{
	struct program_run *run = given;
	struct bh_end *end = take(run->name, BH_END_RING_READER, BH_END_LATEST_READER);
	struct channel_sample sample;
	struct periodic periodic;

	name_notes(run);
	if (!end || periodic_begin(&periodic, run->period) != THREAD_OK)
		return;
	while (periodic_wait(&periodic) == THREAD_OK) {
		/* As many as there are slots, and one new connection: a sender that goes on and on keeps nobody here. */
		for (uint32_t n = 0; n <= end->slots; n++)
			if (!(end->role == BH_END_RING_READER ? take_from_ring(end, run, &sample) : take_latest(end, run)))
				break;
		program_note_round(run, &periodic);
	}
}

/* ---- Relay ------------------------------------------------------------------------------------------------------------------------ */

static const char further[] = "-on";

/* Of the channel to which a relay sends. Returns false if it would be too long to be a channel's. */
static bool name_further(const char *name, char *to)
{
	size_t n = 0, more = 0;

	while (name[n] && n < BH_NAME_BYTES) {
		to[n] = name[n];
		n++;
	}
	if (n + sizeof(further) > BH_NAME_BYTES)
		return false;
	while (more < sizeof(further))
		to[n++] = further[more++];
	return true;
}

static enum bh_end_result send_on(struct bh_end *to, const struct channel_sample *sample)
{
	void *data;
	enum bh_end_result result = bh_ring_reserve(to, &data);

	if (result != BH_END_OK)
		return result;
	bh_copy_to_slot((uint8_t *)data, sample, sizeof(*sample));
	return bh_ring_send(to, sizeof(*sample), BH_CHANNEL_START | BH_CHANNEL_END);
}

/* Returns whether there may be more. What finds no room there is lost, and counted here. */
static bool relay_one(struct bh_end *from, struct bh_end *to, struct program_run *run)
{
	const uint64_t before = run->notes[TAKEN].count;
	struct channel_sample sample;
	enum bh_end_result result;

	if (!take_from_ring(from, run, &sample))
		return false;
	if (run->notes[TAKEN].count == before)
		return true;
	result = send_on(to, &sample);
	if (result == BH_END_NEW)
		result = send_on(to, &sample);
	if (result != BH_END_OK)
		count(run, LOST);
	return true;
}

void channel_relay(void *given)
{
	struct program_run *run = given;
	char name[BH_NAME_BYTES];
	struct bh_end *from = take(run->name, BH_END_RING_READER, BH_END_RING_READER), *to;
	struct periodic periodic;

	if (!from || !name_further(run->name, name))
		return;
	to = take(name, BH_END_RING_SENDER, BH_END_RING_SENDER);
	name_notes(run);
	run->notes[LOST].what = "lost, as nobody took them there,";
	if (!to || periodic_begin(&periodic, run->period) != THREAD_OK)
		return;
	while (periodic_wait(&periodic) == THREAD_OK) {
		for (uint32_t n = 0; n <= from->slots; n++)
			if (!relay_one(from, to, run))
				break;
		program_note_round(run, &periodic);
	}
}
