/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. I/O VCPUs' servers: when one is eligible after each piece, and what it has then, in literal numbers; then through the
 * scheduler, where work comes too early and one server's budget ends. kernel/sched/{pibs,sched}.c
 */
#include "kernel/sched/pibs.h"

#include <stdbool.h>

#include "check.h"
#include "kernel/sched/sched.h"
#include "random.h"

static struct pibs server;

static void check_server(const char *what, uint64_t at, uint64_t amount)
{
	check_context.subject = what;
	CHECK_EQ(server.at, at);
	CHECK_EQ(server.amount, amount);
}

/* ---- One server --------------------------------------------------------------------------------------------------- */

static void pieces(void)
{
	pibs_init(&server, 10, 200, 1000);
	check_server("a new server", 1000, 20);
	pibs_wake(&server, 100, true, 1500);
	check_server("serves a shorter period, late", 1500, 10);
	CHECK(!pibs_charge(&server, 3));
	check_server("goes on with the rest", 1500, 7);
	CHECK(!pibs_charge(&server, 1));
	pibs_end(&server);
	check_server("four ticks of a tenth", 1540, 10);
	pibs_end(&server);
	check_server("nothing used, nothing moved", 1540, 10);
	pibs_wake(&server, 100, true, 1510);
	check_server("work that comes early waits", 1540, 10);
	CHECK(pibs_charge(&server, 10));
	check_server("a whole budget, a whole period", 1640, 10);
	CHECK(pibs_charge(&server, 12));
	check_server("two too many are charged as well", 1760, 10);
	CHECK(!pibs_charge(&server, 0));
}

static void inherits(void)
{
	pibs_init(&server, 20, 400, 0);
	pibs_wake(&server, 300, true, 0);
	check_server("takes the period of whom it serves", 0, 60);
	pibs_wake(&server, 400, false, 1);
	check_server("not a longer one while it has work", 0, 60);
	pibs_wake(&server, 300, false, 1);
	check_server("nor the same", 0, 60);
	CHECK(!pibs_charge(&server, 5));
	pibs_wake(&server, 100, false, 5);
	check_server("but a shorter one, less what it used", 0, 15);
	CHECK(!pibs_charge(&server, 12));
	pibs_wake(&server, 85, false, 17);
	check_server("of which it used all", 85, 17);
	CHECK_EQ(server.used, 0);
	pibs_end(&server);
	pibs_wake(&server, 400, true, 90);
	check_server("a longer one when it had none", 90, 80);
	CHECK(!pibs_charge(&server, 30));
	pibs_wake(&server, 100, false, 120);
	check_server("it used more than the shorter one's budget", 240, 20);
}

/* Work comes before the server is eligible, for one whose period is shorter: the time stays. */
static void waits_for_a_shorter_one(void)
{
	pibs_init(&server, 50, 100, 0);
	pibs_wake(&server, 100, true, 0);
	CHECK(pibs_charge(&server, 50));
	pibs_wake(&server, 40, false, 60);
	check_server("waits, for a shorter one", 100, 20);
}

/* used / utilization, rounded up, and a tick more at most; never less, and never past the end of time. */
static void rounds_up(void)
{
	check_context.subject = "span";
	random_state = 1;
	for (uint64_t n = 0; n < 100000; n++) {
		uint32_t percent = 1 + (uint32_t)below(100);
		uint64_t used = 1 + (random_u64() >> (20 + below(44))), least = (used * 100 + percent - 1) / percent;

		check_context.round = n;
		pibs_init(&server, percent, SPORADIC_MOST_TICKS, 7);
		pibs_charge(&server, used);
		if (used < server.period * percent / 100)
			pibs_end(&server);
		CHECK(server.at - 7 >= least);
		CHECK(server.at - 7 <= least + (used >> 32 ? 0 : 1 + (used >> 24)));
	}
}

static void uses_without_end(void)
{
	static const uint64_t ends[] = { UINT64_MAX / 2, UINT64_MAX / 100 + 1, SPORADIC_FAR / 100 + 1, SPORADIC_FAR / 100 - 1 };

	check_context.subject = "without end";
	for (unsigned n = 0; n < sizeof(ends) / sizeof(ends[0]); n++) {
		check_context.round = n;
		pibs_init(&server, 1, 1000, 1000);
		CHECK(pibs_charge(&server, ends[n]));
		pibs_charge(&server, ends[n]);
		CHECK_EQ(server.at, SPORADIC_FAR);
		CHECK_EQ(server.amount, 10);
	}
}

/* ---- Through the scheduler ---------------------------------------------------------------------------------------- */

static struct sched core;
static struct vcpu io, hog;

static void begin(void)
{
	static uint64_t words[4 * 2];
	static struct vcpu *by_rank[2];

	check_context.subject = "scheduled";
	sched_init(&core, words, by_rank, 2, 0);
	CHECK_EQ(sched_add_main(&core, &hog, 500, 1000, 4, 0), SCHED_OK);
	CHECK_EQ(sched_add_io(&core, &io, 10, 100, 0), SCHED_OK);
	io.foreground_only = true;
	sched_ready(&core, &hog, 0);
	CHECK(sched_decide(&core, 0) == &hog);
}

static void at(uint64_t now, const struct vcpu *runs, uint64_t until)
{
	check_context.round = now;
	CHECK(sched_decide(&core, now) == runs);
	CHECK_EQ(core.until, until);
}

static void is_scheduled(void)
{
	begin();
	sched_ready_for(&core, &io, 100, 50);
	at(50, &io, 60);
	sched_idle(&core, &io, 54); /* 4 of 10: eligible at 50 + 40 */
	at(54, &hog, 504);
	sched_ready_for(&core, &io, 100, 60); /* too early */
	at(60, &hog, 90);
	at(90, &io, 100);
	at(100, &hog, 190); /* spent */
	at(190, &io, 200);
	at(203, &hog, 320); /* three ticks late */
	CHECK_EQ(io.given, 4 + 10 + 13);
	sched_ready_for(&core, &io, 50, 300); /* half the budget from then on */
	at(300, &hog, 320);
	at(320, &io, 325);
	sched_ready_for(&core, &io, 20, 322); /* of which 2 are used: spent */
	at(322, &hog, 340);
	at(340, &io, 342);
	sched_ready_for(&core, &io, 1000, 341); /* longer: no change */
	at(341, &io, 342);
	sched_idle(&core, &io, 342);
	at(342, &hog, 531);
	sched_ready(&core, &io, 400); /* for nobody that is known: by its own period */
	at(400, &io, 410);
	CHECK_EQ(io.background, 0);
}

/* A late decision: what ran after the work was done belongs to the next piece, or to this one, if there is more. */
static void is_done_late(void)
{
	begin();
	sched_ready_for(&core, &io, 100, 50);
	at(50, &io, 60);
	sched_idle(&core, &io, 54);
	at(56, &hog, 506);
	CHECK_EQ(io.given, 6);
	sched_ready_for(&core, &io, 100, 80);
	at(80, &hog, 90);
	at(90, &io, 98); /* two were used before */
	at(98, &hog, 190);
}

/* Nobody else is ready: it has no more budget for that. */
static void is_alone(void)
{
	begin();
	sched_idle(&core, &hog, 10);
	at(10, NULL, SCHED_NEVER);
	sched_ready(&core, &io, 20);
	at(20, &io, 30);
	at(30, NULL, 120);
	at(120, &io, 130);
	CHECK_EQ(io.given, 10);
}

/* ---- Against a sporadic server -------------------------------------------------------------------------------------- */

/* Interrupts at 10 kHz, with more work than a tenth of the core, for a second; ns. */
enum { APART = 100000, WORK = 15000, SHARE = 10, PERIOD = 10000000, SECOND = 1000000000 };

struct load {
	uint64_t decisions, given;
};

/* When something changes next; what comes for who is ready already changes nothing. */
static uint64_t change(const struct vcpu *one, bool runs, uint64_t now, uint64_t *left, uint64_t *next)
{
	for (;;) {
		uint64_t until = runs && now + *left < core.until ? now + *left : core.until;

		if (*next > until || !one->ready)
			return *next < until ? *next : until;
		*left += WORK;
		*next += APART;
	}
}

static struct load under_load(struct vcpu *one)
{
	uint64_t next = APART, left = 0, now = 0;
	struct load load = { 0 };

	sched_ready(&core, &hog, 0);
	for (; now < SECOND; load.decisions++) {
		const bool runs = sched_decide(&core, now) == one;
		uint64_t until = change(one, runs, now, &left, &next);

		left -= runs ? until - now : 0;
		now = until;
		if (one->ready && !left)
			sched_idle(&core, one, now);
		if (!one->ready && now == next) {
			sched_ready(&core, one, now);
			left = WORK;
			next += APART;
		}
	}
	load.given = one->given;
	return load;
}

static void costs_less(void)
{
	static uint64_t words[4 * 2];
	static struct vcpu *by_rank[2];
	struct load sporadic, pibs;

	check_context.subject = "10 kHz";
	sched_init(&core, words, by_rank, 2, 0);
	CHECK_EQ(sched_add_main(&core, &hog, PERIOD, 10ULL * PERIOD, 2, 0), SCHED_OK);
	CHECK_EQ(sched_add_main(&core, &io, PERIOD / SHARE, PERIOD, SPORADIC_MOST_ENTRIES, 0), SCHED_OK);
	io.foreground_only = true;
	sporadic = under_load(&io);
	sched_init(&core, words, by_rank, 2, 0);
	CHECK_EQ(sched_add_main(&core, &hog, PERIOD, 10ULL * PERIOD, 2, 0), SCHED_OK);
	CHECK_EQ(sched_add_io(&core, &io, 100 / SHARE, PERIOD, 0), SCHED_OK);
	io.foreground_only = true;
	pibs = under_load(&io);
	printf("10 kHz for a second: sporadic %" PRIu64 " decisions, %" PRIu64 " us; PIBS %" PRIu64 ", %" PRIu64 " us\n",
	       sporadic.decisions, sporadic.given / 1000, pibs.decisions, pibs.given / 1000);
	CHECK(pibs.decisions * 2 <= sporadic.decisions);
	CHECK(pibs.given >= (SECOND - PERIOD) / SHARE && pibs.given <= (SECOND + PERIOD) / SHARE);
	CHECK(sporadic.given >= (SECOND - PERIOD) / SHARE && sporadic.given <= (SECOND + PERIOD) / SHARE);
}

int main(void)
{
	costs_less();
	pieces();
	inherits();
	waits_for_a_shorter_one();
	rounds_up();
	uses_without_end();
	is_scheduled();
	is_done_late();
	is_alone();
	return 0;
}
