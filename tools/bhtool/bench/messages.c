/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux's program for `bench messages`: the same messages through a socket pair (Unix, SOCK_SEQPACKET) and through channels, by read and
 * write and in place, timed by the raw monotonic clock. At the other end of the channels a sandbox sends each message back.
 *
 *   messages cost     BATCH in a row, sent and then received: of the socket pair by one process, so that no switch is in it
 *   messages trips    one there and back: of the socket pair by a second process; of the channel through doorbells. In place only the
 * answer is, as who has mapped the channel rings nobody
 *
 * Prints `messages: WHAT WAY SIZE NS of COUNT`, NS for COUNT messages, less what reading the clock takes; or `messages: WHAT failed:
 * ERRNO`, and then ends with status 1. NS is the mean of the middle half of its rounds: interrupts fall into a few, and whether Linux has
 * gone to sleep before an answer is there differs from one to the next, so that a median would be one kind or the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bulkhead_channel.h"
#include "channel_inline.h"

enum { BATCH = 32, WARM_UP = 5, ROUNDS = 45, TRIPS_WARM_UP = 20, TRIPS = 200, MOST_BYTES = 4096, MOST_SAMPLES = 256, LOOK_US = 2000 };
enum { WHOLE = BH_CHANNEL_START | BH_CHANNEL_END };
#define NS_PER_S UINT64_C(1000000000)

static const size_t sizes[] = { 64, MOST_BYTES };
static uint8_t sent[MOST_BYTES], received[MOST_BYTES];
static int sockets[2];
static struct bulkhead_channel there, back;
static struct bh_end to, from; /* in place */

static void require(int good, const char *what)
{
	if (good)
		return;
	printf("messages: %s failed: %d\n", what, errno);
	exit(1);
}

/* ---- Time ----------------------------------------------------------------------------------------------------------------------- */

static uint64_t empty_ns; /* from one reading to the next */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t since_ns(uint64_t began)
{
	const uint64_t ns = now_ns() - began;

	return ns > empty_ns ? ns - empty_ns : 0;
}

static void learn_empty(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned n = 0; n < ROUNDS; n++) {
		const uint64_t ns = since_ns(now_ns());

		least = ns < least ? ns : least;
	}
	empty_ns = least;
}

struct samples {
	unsigned count;
	uint64_t ns[MOST_SAMPLES];
};

static int compare(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

static void say(const char *what, const char *way, size_t size, struct samples *samples, unsigned messages)
{
	const unsigned first = samples->count / 4, end = samples->count - first;
	uint64_t sum = 0;

	qsort(samples->ns, samples->count, sizeof(samples->ns[0]), compare);
	for (unsigned n = first; n < end; n++)
		sum += samples->ns[n];
	printf("messages: %s %s %zu %" PRIu64 " of %u\n", what, way, size, sum / (end - first), messages);
	fflush(stdout);
	samples->count = 0;
}

/* ---- Ways: one message ------------------------------------------------------------------------------------------------------------ */

static int send_by_socket(size_t size)
{
	return send(sockets[0], sent, size, 0) == (ssize_t)size;
}

static int take_by_socket(size_t size)
{
	return recv(sockets[1], received, sizeof(received), 0) == (ssize_t)size;
}

static int send_by_device(size_t size)
{
	return write(there.file, sent, size) == (ssize_t)size;
}

static int take_by_device(size_t size)
{
	return read(back.file, received, sizeof(received)) == (ssize_t)size;
}

static int send_in_place(size_t size)
{
	void *data;

	if (bh_ring_reserve(&to, &data) != BH_END_OK)
		return 0;
	memcpy(data, sent, size);
	return bh_ring_send(&to, (uint32_t)size, WHOLE) == BH_END_OK;
}

static int take_in_place(size_t size)
{
	struct bh_message message;

	if (bh_ring_peek(&from, &message) != BH_END_OK || message.length != size)
		return 0;
	memcpy(received, (const void *)message.data, size);
	return bh_ring_release(&from) == BH_END_OK;
}

struct way {
	const char *name;
	int (*send)(size_t size), (*take)(size_t size);
	int is_channel, is_mapped;
};
static const struct way by_socket = { "socket", send_by_socket, take_by_socket, 0, 0 };
static const struct way by_device = { "device", send_by_device, take_by_device, 1, 0 };
static const struct way in_place = { "place", send_in_place, take_in_place, 1, 1 };

/* ---- Channels ----------------------------------------------------------------------------------------------------------------------- */

static void open_one(struct bulkhead_channel *channel, const char *name)
{
	errno = -bulkhead_open(channel, name);
	require(errno == 0, name);
}

/* Its first look is told that the connection is new to it. */
static void map_one(struct bulkhead_channel *channel, struct bh_end *end)
{
	enum bh_end_result result;

	errno = -bulkhead_map(channel);
	require(errno == 0 &&
			bh_end_attach(end, channel->memory, channel->info.bytes, channel->info.page_offset, channel->info.end) == BH_END_OK,
		"mapping");
	do
		result = bh_end_look(end);
	while (result == BH_END_NEW || (result == BH_END_AGAIN && usleep(LOOK_US) == 0));
	require(result == BH_END_OK, "connecting");
}

/* A file that is closed and opened is its module's again. */
static void open_both(const char *there_name, const char *back_name, const struct way *way)
{
	open_one(&there, there_name);
	open_one(&back, back_name);
	if (way->is_mapped) {
		map_one(&there, &to);
		map_one(&back, &from);
	}
}

static void close_both(void)
{
	bulkhead_close(&there);
	bulkhead_close(&back);
}

static void wait_for_answers(unsigned count)
{
	struct bulkhead_info info;

	for (;;) {
		require(bulkhead_ask(&back, &info) == 0, "asking");
		if (info.peer_sent - info.taken == count)
			return;
		usleep(LOOK_US);
	}
}

/* ---- What a message costs ----------------------------------------------------------------------------------------------------------- */

/* Inlined for each way, as a program would have its calls. */
static inline __attribute__((always_inline)) void batch(const struct way *way, size_t size, uint64_t *send_ns, uint64_t *take_ns)
{
	unsigned done = 0;
	uint64_t began = now_ns();

	while (done < BATCH && way->send(size))
		done++;
	*send_ns = since_ns(began);
	require(done == BATCH, "sending");
	if (way->is_channel)
		wait_for_answers(BATCH);
	done = 0;
	began = now_ns();
	while (done < BATCH && way->take(size))
		done++;
	*take_ns = since_ns(began);
	require(done == BATCH && memcmp(sent, received, size) == 0, "receiving");
}

static inline __attribute__((always_inline)) void measure_costs(const struct way *way, size_t size)
{
	static struct samples sends, takes;

	for (unsigned round = 0; round < WARM_UP + ROUNDS; round++) {
		uint64_t send_ns, take_ns;

		memset(sent, (int)round, size);
		batch(way, size, &send_ns, &take_ns);
		if (round < WARM_UP)
			continue;
		sends.ns[sends.count++] = send_ns;
		takes.ns[takes.count++] = take_ns;
	}
	say("send", way->name, size, &sends, BATCH);
	say("receive", way->name, size, &takes, BATCH);
}

static void costs(void)
{
	const int room = 4 << 20;

	require(setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) == 0, "making room");
	for (unsigned n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		measure_costs(&by_socket, sizes[n]);
		open_both("many", "many-back", &by_device);
		measure_costs(&by_device, sizes[n]);
		close_both();
		open_both("many", "many-back", &in_place);
		measure_costs(&in_place, sizes[n]);
		close_both();
	}
}

/* ---- There and back ----------------------------------------------------------------------------------------------------------------- */

static int ask_by_socket(size_t size)
{
	return send_by_socket(size) && recv(sockets[0], received, sizeof(received), 0) == (ssize_t)size;
}

static int ask_by_device(size_t size)
{
	return send_by_device(size) && take_by_device(size);
}

static int answered_in_place(size_t size)
{
	if (!send_by_device(size))
		return 0;
	for (;;) {
		struct bh_message message;
		const enum bh_end_result result = bh_ring_peek(&from, &message);

		if (result == BH_END_OK)
			return take_in_place(size);
		if (result != BH_END_AGAIN || bulkhead_wait(&back, POLLIN, -1) < 0)
			return 0;
	}
}

static inline __attribute__((always_inline)) void measure_trips(const char *way, int (*ask)(size_t size), size_t size)
{
	static struct samples trips;

	for (unsigned round = 0; round < TRIPS_WARM_UP + TRIPS; round++) {
		uint64_t began, ns;
		int good;

		memset(sent, (int)round, size);
		began = now_ns();
		good = ask(size);
		ns = since_ns(began);
		require(good && memcmp(sent, received, size) == 0, "asking");
		if (round >= TRIPS_WARM_UP)
			trips.ns[trips.count++] = ns;
	}
	say("trip", way, size, &trips, 1);
}

/* Of a process of its own, until the other one ends. */
static void answer_sockets(void)
{
	ssize_t size;

	close(sockets[0]);
	while ((size = recv(sockets[1], received, sizeof(received), 0)) > 0 && send(sockets[1], received, (size_t)size, 0) == size)
		;
	_exit(0);
}

static void trips_by_socket(void)
{
	const pid_t child = fork();

	require(child >= 0, "a second process");
	if (child == 0)
		answer_sockets();
	close(sockets[1]);
	for (unsigned n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
		measure_trips("socket", ask_by_socket, sizes[n]);
}

static void trips_by_channel(void)
{
	for (unsigned n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		open_both("one", "one-back", &by_device);
		measure_trips("device", ask_by_device, sizes[n]);
		errno = 0;
		map_one(&back, &from);
		measure_trips("place", answered_in_place, sizes[n]);
		close_both();
	}
}

int main(int argc, char **argv)
{
	const int is_cost = argc == 2 && strcmp(argv[1], "cost") == 0;
	const int is_trips = argc == 2 && strcmp(argv[1], "trips") == 0;

	require(is_cost || is_trips, "what to do");
	require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0, "socketpair");
	learn_empty();
	if (is_cost) {
		costs();
	} else {
		trips_by_socket();
		trips_by_channel();
	}
	return 0;
}
