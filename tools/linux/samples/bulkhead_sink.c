// SPDX-License-Identifier: Apache-2.0
/*
 * bulkhead-sink: takes the samples of a sandbox kernel's `source` or `relay` (kernel/core/channel_programs.h) from a ring or a latest
 * value, looks at each, and says what came of it. A sample of how a program uses libbulkhead-channel.
 *
 *   bulkhead-sink CHANNEL [SECONDS]     for so long; without it until the other end is gone for good
 *
 * One line every second, and at the end: `epochs` lives of the other end, or of the source before it; `lost`, `doubled`: numbers that were
 * left out, or that came again, within one; `damaged`: refused by the CRC; `wrong`: not what a source sends. Ends with 0 if all of these
 * are 0, else with 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bulkhead_channel.h"

enum { WORDS = 4, LIMIT_MS = 1000, WRONG_CALL = 2, REFUSED = 3 };
struct sample {
	uint64_t number; /* in its connection, from 0 on */
	uint64_t clock;
	uint64_t pattern[WORDS];
};

static struct {
	uint64_t epochs, taken, lost, doubled, damaged, wrong;
	uint64_t next; /* number of the next sample */
	int is_known;  /* of this epoch one has come */
} seen;

static int is_right(const struct sample *sample, size_t bytes)
{
	if (bytes != sizeof(*sample))
		return 0;
	for (unsigned word = 0; word < WORDS; word++)
		if (sample->pattern[word] != (sample->number + 1) * UINT64_C(0x9e3779b97f4a7c15) + word)
			return 0;
	return 1;
}

static void begin_epoch(void)
{
	seen.epochs++;
	seen.is_known = 0;
}

/* Numbers of a ring follow one another; of a latest value some are never seen. */
static void look_at(const struct sample *sample, int is_ring)
{
	if (seen.is_known && sample->number == 0 && seen.next)
		begin_epoch(); /* of the source: the one between goes on */
	if (seen.is_known && is_ring && sample->number > seen.next)
		seen.lost += sample->number - seen.next;
	if (seen.is_known && sample->number < seen.next)
		seen.doubled++;
	seen.next = sample->number + 1;
	seen.is_known = 1;
	seen.taken++;
}

static void say(void)
{
	printf("epochs %" PRIu64 ", taken %" PRIu64 ", lost %" PRIu64 ", doubled %" PRIu64 ", damaged %" PRIu64 ", wrong %" PRIu64 "\n",
	       seen.epochs, seen.taken, seen.lost, seen.doubled, seen.damaged, seen.wrong);
	fflush(stdout);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns 0, or the errno that ends it all. */
static int take_one(struct bulkhead_channel *channel)
{
	static char data[1 << 20];
	struct sample sample;
	int count = bulkhead_receive(channel, data, sizeof(data), LIMIT_MS);

	if (count == -ETIMEDOUT)
		return 0;
	if (count == -ECONNRESET)
		begin_epoch();
	else if (count == -EBADMSG)
		seen.damaged++;
	else if (count < 0)
		return -count;
	else {
		memcpy(&sample, data, (size_t)count < sizeof(sample) ? (size_t)count : sizeof(sample));
		if (is_right(&sample, (size_t)count))
			look_at(&sample, channel->info.kind == BULKHEAD_RING);
		else
			seen.wrong++;
	}
	return 0;
}

static int sink(struct bulkhead_channel *channel, double seconds)
{
	const double began = now();
	double said = began;
	int error = 0;

	begin_epoch();
	while (!error && (seconds <= 0 || now() - began < seconds)) {
		error = take_one(channel);
		if (now() - said >= 1) {
			said += 1;
			say();
		}
	}
	say();
	if (error && error != EPIPE) {
		fprintf(stderr, "bulkhead-sink: %s: %s\n", channel->info.name, bulkhead_error_text(-error));
		return REFUSED;
	}
	return seen.lost || seen.doubled || seen.damaged || seen.wrong;
}

int main(int argc, char **argv)
{
	struct bulkhead_channel channel;
	double seconds = 0;
	char *end = "";
	int result;

	if (argc == 3)
		seconds = strtod(argv[2], &end);
	if (argc < 2 || argc > 3 || argv[1][0] == '-' || strchr(argv[1], '/') || *end || !(seconds >= 0) || (argc == 3 && end == argv[2])) {
		fprintf(stderr, "usage: bulkhead-sink CHANNEL [SECONDS]; CHANNEL as in /dev/bulkhead/CHANNEL\n");
		return WRONG_CALL;
	}
	result = bulkhead_open(&channel, argv[1]);
	if (result == 0)
		result = bulkhead_set_checked(&channel, 1);
	if (result < 0) {
		fprintf(stderr, "bulkhead-sink: %s: %s\n", argv[1], bulkhead_error_text(result));
		return REFUSED;
	}
	return sink(&channel, seconds);
}
