/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. How often a line may interrupt: at random, in bursts and as fast as it can, no span has more beginnings than admission
 * counts with, and who keeps to what was agreed is never masked. kernel/core/rate.h
 */
#include "kernel/core/rate.h"

#include "check.h"
#include "random.h"

enum { ROUNDS = 2000, MOST = 200 };

/* Of one line. */
struct line {
	struct rate_limit limit;
	uint64_t begun[MOST];
	unsigned count;
	uint64_t masked_until;
};

/* When one more would not be too many in any span that begins with an interrupt: k of them are not in (k - 2) distances and a tick. */
static uint64_t next_allowed(const struct line *line)
{
	uint64_t next = 0;

	for (unsigned from = 0; from + 1 < line->count; from++) {
		uint64_t at = line->begun[from] + (line->count - from - 1) * line->limit.distance;

		next = at > next ? at : next;
	}
	return next;
}

/* The device wants to interrupt at `at`, and does as soon as it is not masked: only when, and as long as, it would be too much. */
static uint64_t interrupt(struct line *line, uint64_t at)
{
	uint64_t now = at > line->masked_until ? at : line->masked_until, until = rate_limit_note(&line->limit, now), next;

	line->begun[line->count++] = now;
	next = next_allowed(line);
	CHECK_EQ(until, next > now ? next : 0);
	if (until)
		line->masked_until = until;
	return now;
}

/* t / distance + 1, rounded up, in every span t: it is worst in one that begins with an interrupt and ends after another. */
static void check_all_spans(const struct line *line)
{
	for (unsigned from = 0; from < line->count; from++)
		for (unsigned to = from; to < line->count; to++) {
			uint64_t span = line->begun[to] - line->begun[from] + 1, distance = line->limit.distance;

			CHECK(to - from + 1 <= (span + distance - 1) / distance + 1);
		}
}

static void at_random(void)
{
	uint64_t masked = 0;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct line line = { .limit.distance = 1 + below(40) };
		uint64_t now = below(100), mean = 1 + below(3 * line.limit.distance);

		check_context.round = random_state = round;
		while (line.count < MOST / 4)
			now = interrupt(&line, now + below(2) * below(2 * mean));
		check_all_spans(&line);
		CHECK_EQ(line.limit.count, line.count);
		masked += line.limit.masked;
	}
	CHECK(masked > ROUNDS);
}

/* Two at once, and then one at each end of masking. */
static void as_fast_as_it_can(void)
{
	struct line line = { .limit.distance = 10 };
	static const uint64_t begun[] = { 100, 100, 110, 120, 130 };
	uint64_t now = 100;

	for (unsigned n = 0; n < 5; n++) {
		now = interrupt(&line, now);
		CHECK_EQ(now, begun[n]);
	}
	CHECK_EQ(line.limit.masked, 4);
	check_all_spans(&line);
}

/* Two that come close together, late against a grid, and none for a while. */
static void late_ones_pass(void)
{
	struct rate_limit limit = { .distance = 10 };

	CHECK_EQ(rate_limit_note(&limit, 100), 0);
	CHECK_EQ(rate_limit_note(&limit, 110), 0);
	CHECK_EQ(rate_limit_note(&limit, 139), 0);
	CHECK_EQ(rate_limit_note(&limit, 149), 0); /* exactly a distance apart, for ever */
	CHECK_EQ(rate_limit_note(&limit, 150), 159);
	CHECK_EQ(limit.masked, 1);
	CHECK_EQ(rate_limit_note(&limit, 179), 0); /* all is forgotten after a rest */
	CHECK_EQ(rate_limit_note(&limit, 180), 189);
}

static void no_limit(void)
{
	struct rate_limit limit = { .distance = 0 };

	for (unsigned n = 0; n < 100; n++)
		CHECK_EQ(rate_limit_note(&limit, 5), 0);
	CHECK_EQ(limit.count, 100);
	CHECK_EQ(limit.masked, 0);
}

int main(void)
{
	at_random();
	as_fast_as_it_can();
	late_ones_pass();
	no_limit();
	return 0;
}
