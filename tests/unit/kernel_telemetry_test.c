/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.telemetry. What a sandbox says of itself in a latest value, and when: each number from where it is counted, with more VCPUs and
 * channels than there are rows, and with whoever may be at the other end. kernel/core/telemetry.c
 */
#include "kernel/core/telemetry.h"

#include "abi/telemetry.h"
#include "channel_scene.h"
#include "check.h"
#include "kernel/core/channels.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/info.h"
#include "kernel/core/trace.h"
#include "kernel/core/vcpus.h"

enum { HZ = 62500000, NS_PER_TICK = 16, PERIOD = HZ / TELEMETRY_HZ };
static struct bh_info page = { .clock_hz = HZ, .core_count = 2, .cores = { 3, 5 } };
const struct bh_info *info = &page;
static struct bh_stats stats;
struct bh_trace trace_state;

static uint64_t now = 1000;
static struct scene scene;
static struct bh_end end, reader;
static struct bh_end others[BH_MAX_GRANTS]; /* by grant; not attached: closed */
static struct bh_trace_had had[BH_TRACE_VCPUS];
static struct bh_trace_run run = { .rounds = 70, .missed = 7 };
static struct bh_telemetry seen;
static unsigned taken;

uint64_t arch_counter(void)
{
	return now;
}

uint64_t clock_machine_hz(void)
{
	return 0;
}

const struct bh_stats *info_statistics(void)
{
	return &stats;
}

struct bh_end *channel_take(const char *name)
{
	taken++;
	return strcmp(name, "telemetry") ? NULL : &end;
}

const struct bh_end *channel_of(const struct bh_grant *grant)
{
	CHECK_EQ(grant->kind, BH_GRANT_CHANNEL);
	return others[grant - page.grants].slots ? &others[grant - page.grants] : NULL;
}

void heartbeat_tell(struct bh_telemetry *said)
{
	said->beats = 11;
	said->beat_gaps = 12;
	said->beat_late = 13;
	said->beat_period = 14;
}

const char *vcpus_program(uint32_t row)
{
	return row == 2 ? "a program with a long name" : NULL;
}

/* ---- The other side ---------------------------------------------------------------------------------------------------------- */

/* Returns whether there is another value than before. */
static bool reads(void)
{
	struct bh_message message;
	const uint64_t before = seen.number;
	enum bh_end_result result = bh_latest_read(&reader, &seen, sizeof(seen), &message);

	if (result == BH_END_NEW)
		result = bh_latest_read(&reader, &seen, sizeof(seen), &message);
	if (result == BH_END_OK)
		CHECK_EQ(message.length, BH_TELEMETRY_BYTES);
	return result == BH_END_OK && seen.number != before;
}

static void report(void)
{
	now += PERIOD;
	telemetry_report();
	CHECK(reads());
}

static void grant(const char *name, uint32_t flags)
{
	struct bh_grant *row = &page.grants[page.grant_count++];

	*row = (struct bh_grant){ .kind = BH_GRANT_CHANNEL, .flags = flags, .vector = 1, .compatible = "whose" };
	memcpy(row->name, name, strlen(name) < sizeof(row->name) ? strlen(name) : sizeof(row->name));
}

static void vcpu(const char *name)
{
	const uint32_t row = ++trace_state.vcpu_count;

	if (row >= BH_TRACE_VCPUS)
		return;
	trace_state.vcpu[row] = (struct bh_trace_vcpu){ .name = (uintptr_t)name, .budget = 100, .period = 1000, .slot = row % 2 };
	trace_state.vcpu[row].had = (uintptr_t)&had[row];
}

/* ---- Cases -------------------------------------------------------------------------------------------------------------------- */

static void without_a_grant(void)
{
	grant("telemetry", BH_CHANNEL_TERMINAL);
	telemetry_init();
	CHECK_EQ(taken, 0);
	CHECK(!telemetry_is_due(UINT64_MAX - 1));
	telemetry_report();
	CHECK_EQ(end.sent, 0);
	page.grant_count = 0;
}

/* Somebody has it, or it is none that this kernel understands. */
static void with_one_that_cannot_be_taken(void)
{
	grant("other", BH_CHANNEL_TELEMETRY);
	telemetry_init();
	CHECK_EQ(taken, 1);
	CHECK(!telemetry_is_due(UINT64_MAX - 1));
	page.grant_count = 0;
}

static void what_is_said(void)
{
	CHECK(telemetry_is_due(now));
	stats.start_clock = 500;
	stats.restarts = 3;
	report(); /* there is nothing yet but itself */
	CHECK_EQ(seen.magic, BH_TELEMETRY_MAGIC);
	CHECK_EQ(seen.version, BH_TELEMETRY_VERSION);
	CHECK_EQ(seen.number, 1);
	CHECK_EQ(seen.life, 3);
	CHECK_EQ(seen.time, now * NS_PER_TICK);
	CHECK_EQ(seen.up, (now - 500) * NS_PER_TICK);
	CHECK_EQ(seen.beats + seen.beat_gaps + seen.beat_late + seen.beat_period, 11 + 12 + 13 + 14);
	CHECK_EQ(seen.core_count, 2);
	CHECK_EQ(seen.exit_kinds, BH_EXIT_REASONS);
	CHECK_EQ(seen.is_ready, 0);
	CHECK_EQ(seen.vcpu_count + seen.vcpus_left_out + seen.channels_left_out, 0);
	CHECK_EQ(seen.channel_count, 1);
}

static void ten_times_a_second(void)
{
	const uint64_t next = now + PERIOD;

	for (unsigned n = 0; n < 9; n++) {
		now += PERIOD / 10;
		CHECK(!telemetry_is_due(now));
		telemetry_report();
		CHECK(!reads());
	}
	now = next;
	CHECK(telemetry_is_due(now));
	telemetry_report();
	CHECK(reads());
	CHECK(!telemetry_is_due(now));
}

static void exits_since_ready(void)
{
	stats.core[0].exits[BH_EXIT_CALL] = 5;
	stats.core[1].exits[BH_EXIT_CALL] = 6;
	stats.core[1].exits[BH_EXIT_ERROR] = 9;
	stats.core[2].exits[BH_EXIT_CALL] = 100; /* it has no third core */
	report();
	CHECK_EQ(seen.exits[BH_EXIT_CALL], 0);
	stats.ready_clock = 700;
	stats.at_ready[0][BH_EXIT_CALL] = 5;
	stats.at_ready[1][BH_EXIT_CALL] = 4;
	report();
	CHECK_EQ(seen.is_ready, 1);
	CHECK_EQ(seen.exits[BH_EXIT_CALL], 2);
	CHECK_EQ(seen.exits[BH_EXIT_ERROR], 9);
	CHECK_EQ(seen.exits[BH_EXIT_KICK], 0);
}

static void each_vcpu(void)
{
	vcpu("main");
	vcpu("a VCPU whose name is far too long for its row");
	trace_state.vcpu[2].run = (uintptr_t)&run;
	had[2] = (struct bh_trace_had){ 300, 400 };
	report();
	CHECK_EQ(seen.vcpu_count, 2);
	CHECK(!strcmp((const char *)seen.vcpu[0].name, "main"));
	CHECK_EQ(seen.vcpu[0].program[0] + seen.vcpu[0].rounds, 0);
	CHECK_EQ(seen.vcpu[0].core, 5);
	CHECK(!strcmp((const char *)seen.vcpu[1].name, "a VCPU whose name is far too lo"));
	CHECK(!strcmp((const char *)seen.vcpu[1].program, "a program with "));
	CHECK_EQ(seen.vcpu[1].budget, 100 * NS_PER_TICK);
	CHECK_EQ(seen.vcpu[1].period, 1000 * NS_PER_TICK);
	CHECK_EQ(seen.vcpu[1].had, 300 * NS_PER_TICK);
	CHECK_EQ(seen.vcpu[1].background, 400 * NS_PER_TICK);
	CHECK_EQ(seen.vcpu[1].rounds, 70);
	CHECK_EQ(seen.vcpu[1].missed, 7);
	CHECK_EQ(seen.vcpu[1].core, 3);
}

/* Its row is there, and what it has had is not told yet. */
static void one_that_another_core_makes(void)
{
	vcpu("made");
	trace_state.vcpu[3].had = 0;
	report();
	CHECK_EQ(seen.vcpu_count, 2);
	CHECK_EQ(seen.vcpus_left_out, 1);
	trace_state.vcpu[3].had = (uintptr_t)&had[3];
	report();
	CHECK_EQ(seen.vcpu_count, 3);
	CHECK_EQ(seen.vcpus_left_out, 0);
}

/* More than the table of traces has rows, too. */
static void too_many_vcpus(void)
{
	while (trace_state.vcpu_count < BH_TRACE_VCPUS + 5)
		vcpu("more");
	report();
	CHECK_EQ(seen.vcpu_count, BH_TELEMETRY_VCPUS);
	CHECK_EQ(seen.vcpus_left_out, BH_TRACE_VCPUS + 5 - BH_TELEMETRY_VCPUS);
	CHECK(!strcmp((const char *)seen.vcpu[BH_TELEMETRY_VCPUS - 1].name, "more"));
}

static void each_channel(void)
{
	page.grants[page.grant_count++] = (struct bh_grant){ .kind = BH_GRANT_DOORBELL, .name = "none" };
	grant("a channel with a name of 32 byte", 0);
	others[2] = (struct bh_end){ .slots = 1, .connected = true, .sent = 21, .taken = 22, .connections = 23, .refused = 24 };
	report();
	CHECK_EQ(seen.channel_count, 2);
	CHECK(!strcmp((const char *)seen.channel[0].name, "telemetry"));
	CHECK_EQ(seen.channel[0].state, BH_TELEMETRY_CLOSED);
	CHECK(!strcmp((const char *)seen.channel[1].name, "a channel with a name of 32 byt"));
	CHECK(!strcmp((const char *)seen.channel[1].peer, "whose"));
	CHECK_EQ(seen.channel[1].end, 1);
	CHECK_EQ(seen.channel[1].state, BH_TELEMETRY_CONNECTED);
	CHECK_EQ(seen.channel[1].sent, 21);
	CHECK_EQ(seen.channel[1].taken, 22);
	CHECK_EQ(seen.channel[1].connections, 23);
	CHECK_EQ(seen.channel[1].refused, 24);
	others[2].connected = false;
	report();
	CHECK_EQ(seen.channel[1].state, BH_TELEMETRY_ALONE);
}

static void too_many_channels(void)
{
	while (page.grant_count < BH_MAX_GRANTS)
		grant("more", 0);
	report();
	CHECK_EQ(seen.channel_count, BH_TELEMETRY_CHANNELS);
	CHECK_EQ(seen.channels_left_out, BH_MAX_GRANTS - 1 - BH_TELEMETRY_CHANNELS);
}

/* Whoever reads begins a new life: it finds the value that is due next, and not only the one after that. */
static void another_life_there(void)
{
	scene.page->end[1].epoch++;
	scene.control[1]->peer = 0;
	scene_attach(&scene, 1, &reader);
	CHECK(!reads()); /* it takes part now */
	report();
	scene.page->end[1].state = BH_CHANNEL_GONE;
	now += PERIOD;
	telemetry_report();
	CHECK(!telemetry_is_due(now));
}

int main(void)
{
	clock_init(HZ);
	scene_open(&scene, BH_CHANNEL_LATEST, bh_latest_slots(1), (BH_TELEMETRY_BYTES + 63) & ~63U);
	scene_attach(&scene, 0, &end);
	scene_attach(&scene, 1, &reader);
	without_a_grant();
	with_one_that_cannot_be_taken();
	grant("telemetry", BH_CHANNEL_TELEMETRY);
	telemetry_init();
	CHECK(!reads());
	what_is_said();
	ten_times_a_second();
	exits_since_ready();
	each_vcpu();
	one_that_another_core_makes();
	too_many_vcpus();
	each_channel();
	too_many_channels();
	another_life_there();
	return 0;
}
