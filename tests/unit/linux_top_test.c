/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.telemetry. What bulkhead-top makes of what a sandbox says: of a good value the numbers that are right, of any bytes at all lines
 * without anything that a terminal would obey, and no access outside, which the sanitizers see. tools/linux/top/{value,view}.c
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "tools/linux/top/value.h"
#include "tools/linux/top/view.h"

enum { ROUNDS = 20000, GROW = 1000000000 };

static struct screen screen;

static struct bh_telemetry good_value(void)
{
	struct bh_telemetry value = { .magic = BH_TELEMETRY_MAGIC,
				      .version = BH_TELEMETRY_VERSION,
				      .life = 2,
				      .is_ready = 1,
				      .number = 10,
				      .time = 5000000000,
				      .up = 3723000000000,
				      .beats = 1000,
				      .beat_gaps = 3,
				      .beat_late = 41000,
				      .exit_kinds = BH_EXIT_REASONS,
				      .core_count = 1,
				      .vcpu_count = 2,
				      .channel_count = 1 };

	value.exits[BH_EXIT_CALL] = 4;
	value.exits[BH_EXIT_HANG] = 1;
	value.vcpu[0] = (struct bh_telemetry_vcpu){ .name = "main", .budget = 20000000, .period = 100000000, .core = 1 };
	value.vcpu[1] = (struct bh_telemetry_vcpu){ .name = "loop", .program = "source", .budget = 200000, .period = 1000000, .core = 1 };
	value.channel[0] = (struct bh_telemetry_channel){
		.name = "samples", .peer = "control", .state = BH_TELEMETRY_CONNECTED, .sent = 4294967200, .connections = 1
	};
	return value;
}

/* A second later. */
static struct bh_telemetry next_value(struct bh_telemetry value)
{
	value.number += 10;
	value.time += GROW;
	value.up += GROW;
	value.beats += 1000;
	value.vcpu[1].had += 100000000;
	value.vcpu[1].background += 50000000;
	value.vcpu[1].rounds += 500;
	value.channel[0].sent += 1000; /* it wraps */
	return value;
}

static const char *screen_of(struct sandbox *sandbox, double now)
{
	screen_clear(&screen, 0);
	screen_sandbox(&screen, sandbox, now);
	return screen.text;
}

static void says(struct sandbox *sandbox, struct bh_telemetry value, double now)
{
	struct bh_telemetry found;

	CHECK(!value_take(&found, &value, sizeof(value)));
	sandbox->newest = found;
	sandbox->is_known = 1;
	sandbox->came = now;
}

static bool has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "%sno `%s`\n", text, part);
	return strstr(text, part);
}

/* ---- Good ones ---------------------------------------------------------------------------------------------------------------- */

static void what_is_shown(void)
{
	struct sandbox sandbox = { .name = "sensor" };
	const char *text = screen_of(&sandbox, 1);

	CHECK(!strcmp(text, "sensor: no data yet\n"));
	says(&sandbox, good_value(), 1);
	text = screen_of(&sandbox, 1.25);
	CHECK(has(text, "sensor: life 2, up 1:02:03, ready; data 0.2 s old\n"));
	CHECK(has(text, "  beats 1000 (- a second), gaps 3, latest 41 us; exits since ready 5, call 4, hang 1\n"));
	CHECK(has(text, "  main             -             1   20000  100000      -      -       -       -\n"));
	CHECK(has(text, "  loop             source        1     200    1000      -      -       -       0\n"));
	CHECK(has(text, "  samples              control          connected       -       -       0\n"));
	CHECK_EQ(screen.lines, 7);
	says(&sandbox, next_value(good_value()), 2);
	text = screen_of(&sandbox, 2);
	CHECK(has(text, "beats 2000 (1000 a second)"));
	CHECK(has(text, "  loop             source        1     200    1000   15.0   50.0     500       0\n"));
	CHECK(has(text, "  samples              control          connected    1000       0       0\n"));
}

/* Nothing new has come: nobody knows what it does now, and then it is compared with what was shown. */
static void what_grows_old(void)
{
	struct sandbox sandbox = { .name = "sensor" };

	says(&sandbox, good_value(), 1);
	(void)screen_of(&sandbox, 1);
	sandbox.trouble = "it has ended";
	CHECK(has(screen_of(&sandbox, 8), "data 7.0 s old; it has ended\n"));
	sandbox.trouble = NULL;
	CHECK(has(screen_of(&sandbox, 9), "(- a second)"));
	says(&sandbox, next_value(good_value()), 9);
	CHECK(has(screen_of(&sandbox, 9), "(1000 a second)"));
}

static void what_cannot_be_compared(void)
{
	const struct bh_telemetry before = good_value();
	struct bh_telemetry now = next_value(before);
	struct sandbox sandbox = { .name = "sensor" };

	CHECK(value_seconds(&now, &before) == 1);
	CHECK(value_seconds(&before, &now) == 0);
	now.life++;
	CHECK(value_seconds(&now, &before) == 0);
	now = next_value(before);
	now.time = before.time;
	CHECK(value_seconds(&now, &before) == 0);
	now.time = UINT64_MAX;
	CHECK(value_seconds(&now, &before) == 0);
	CHECK(value_rate(5, 3, 2) == 1);
	CHECK(value_rate(3, 5, 2) < 0);
	CHECK(value_rate(5, 3, 0) < 0);
	/* another connection counts from 0 */
	says(&sandbox, before, 1);
	(void)screen_of(&sandbox, 1);
	now = next_value(before);
	now.channel[0].connections++;
	says(&sandbox, now, 2);
	CHECK(has(screen_of(&sandbox, 2), "connected       -       -       0\n"));
	/* a row that was not there */
	now = next_value(now);
	now.vcpu_count = 3;
	now.vcpu[2] = now.vcpu[1];
	says(&sandbox, now, 3);
	CHECK(has(screen_of(&sandbox, 3), "  loop             source        1     200    1000      -      -       -       0\n"));
}

static void what_is_left_out(void)
{
	struct sandbox sandbox = { .name = "sensor" };
	struct bh_telemetry value = good_value();

	value.vcpus_left_out = 3;
	value.channels_left_out = 4;
	says(&sandbox, value, 1);
	CHECK(has(screen_of(&sandbox, 1), "  and 3 more VCPUs\n"));
	CHECK(has(screen.text, "  and 4 more channels\n"));
}

static void large_numbers(void)
{
	struct sandbox sandbox = { .name = "sensor" };
	struct bh_telemetry value = good_value();

	value.beats = 9999999;
	value.beat_gaps = 12345678;
	value.exits[BH_EXIT_CALL] = UINT64_MAX - 1; /* and one */
	value.vcpu[1].core = 5000;
	says(&sandbox, value, 1);
	CHECK(has(screen_of(&sandbox, 1),
		  "beats 9999999 (- a second), gaps 12345k, latest 41 us; exits since ready 18446P, call 18446P, hang 1\n"));
	CHECK(has(screen.text, "  loop             source      999 "));
	value = next_value(value);
	value.time = sandbox.newest.time + 1; /* ns */
	value.beats = UINT64_MAX;
	value.vcpu[1].had = UINT64_MAX;
	says(&sandbox, value, 2);
	CHECK(has(screen_of(&sandbox, 2), "(>1000P a second)"));
	CHECK(has(screen.text, " >9999  >9999 "));
}

/* ---- Bad ones ----------------------------------------------------------------------------------------------------------------- */

static void refuses(size_t offset, uint32_t word, const char *why)
{
	struct bh_telemetry bad = good_value(), value = { .life = 77 };
	const char *said;

	memcpy((char *)&bad + offset, &word, sizeof(word));
	said = value_take(&value, &bad, sizeof(bad));
	CHECK(said && !strcmp(said, why));
	CHECK_EQ(value.life, 77);
}

static void what_is_refused(void)
{
	static char bytes[sizeof(struct bh_telemetry) + 1];
	struct bh_telemetry value = { .life = 77 };
	const struct bh_telemetry good = good_value();

	memcpy(bytes, &good, sizeof(good));
	CHECK(!strcmp(value_take(&value, bytes, sizeof(bytes)), "it has another length"));
	CHECK(!strcmp(value_take(&value, bytes, sizeof(good) - 1), "it has another length"));
	CHECK(!strcmp(value_take(&value, bytes, 0), "it has another length"));
	refuses(offsetof(struct bh_telemetry, magic), 0, "it is something else");
	refuses(offsetof(struct bh_telemetry, version), BH_TELEMETRY_VERSION + 1, "it is of another version");
	refuses(offsetof(struct bh_telemetry, vcpu_count), BH_TELEMETRY_VCPUS + 1, "it claims too many VCPUs");
	refuses(offsetof(struct bh_telemetry, channel_count), BH_TELEMETRY_CHANNELS + 1, "it claims too many channels");
	refuses(offsetof(struct bh_telemetry, exit_kinds), BH_EXIT_SLOTS + 1, "it claims too many kinds of exits");
	value = good;
	value.exit_kinds = BH_EXIT_SLOTS; /* kinds of a later version */
	value.exits[BH_EXIT_SLOTS - 1] = 2;
	{
		struct sandbox sandbox = { .name = "sensor" };

		says(&sandbox, value, 1);
		CHECK(has(screen_of(&sandbox, 1), "exits since ready 7, call 4, hang 1, other 2\n"));
	}
}

static void check_printable(const char *text)
{
	for (; *text; text++)
		CHECK(*text == '\n' || (*text >= ' ' && *text <= '~'));
}

static void names(void)
{
	struct sandbox sandbox = { .name = "sensor" };
	struct bh_telemetry value = good_value();

	memcpy(value.vcpu[0].name, "\033[2J\r\n\x9b x", 10);
	memset(value.vcpu[1].name, 'n', sizeof(value.vcpu[1].name)); /* without an end */
	memset(value.vcpu[1].program, 0xff, sizeof(value.vcpu[1].program));
	memset(value.channel[0].name, 0x7f, sizeof(value.channel[0].name));
	memset(value.channel[0].peer, '%', sizeof(value.channel[0].peer));
	says(&sandbox, value, 1);
	CHECK_EQ(sandbox.newest.vcpu[1].name[BH_NAME_BYTES - 1], 0);
	check_printable(screen_of(&sandbox, 1));
	CHECK(has(screen.text, "  ?[2J????x        -  "));
	CHECK(has(screen.text, "  nnnnnnnnnnnnnnnn ??????????    1 "));
	CHECK(has(screen.text, "  ???????????????????? %%%%%%%%%%%%%%%% connected"));
}

/* Any bytes, behind a head that is taken: each is shown, and the lines have their widths. */
static void any_bytes(void)
{
	struct sandbox sandbox = { .name = "sensor" };

	for (check_context.round = 0; check_context.round < ROUNDS; check_context.round++) {
		struct bh_telemetry value;
		uint8_t *byte = (uint8_t *)&value;

		for (size_t n = 0; n < sizeof(value); n++)
			byte[n] = (uint8_t)random_u64();
		value.magic = BH_TELEMETRY_MAGIC;
		value.version = BH_TELEMETRY_VERSION;
		value.vcpu_count %= BH_TELEMETRY_VCPUS + 1;
		value.channel_count %= BH_TELEMETRY_CHANNELS + 1;
		value.exit_kinds %= BH_EXIT_SLOTS + 1;
		value.life = (uint32_t)below(2);
		says(&sandbox, value, 1);
		check_printable(screen_of(&sandbox, 1));
		for (const char *line = screen.text; *line; line += strcspn(line, "\n") + 1)
			CHECK(line[0] != ' ' || line[2] == 'b' || strcspn(line, "\n") <= 80 || !strncmp(line, "  and ", 6));
	}
}

static void narrow_terminals(void)
{
	screen_clear(&screen, 10);
	screen_line(&screen, "%s", "12345678901234567890");
	screen_line(&screen, "%s", "1234567890");
	screen_line(&screen, "%s", "");
	CHECK(!strcmp(screen.text, "1234567890\n1234567890\n\n"));
	CHECK_EQ(screen.lines, 3);
	screen_clear(&screen, 0);
	for (unsigned n = 0; n < SCREEN_BYTES; n++)
		screen_line(&screen, "%0600d", 0);
	CHECK(screen.bytes < sizeof(screen.text));
	CHECK_EQ(strlen(screen.text), screen.bytes);
	CHECK_EQ(screen.lines, SCREEN_BYTES / (SCREEN_MOST_COLUMNS + 1));
}

int main(void)
{
	check_context.subject = "telemetry";
	random_state = 7;
	what_is_shown();
	what_grows_old();
	what_cannot_be_compared();
	what_is_left_out();
	large_numbers();
	what_is_refused();
	names();
	any_bytes();
	narrow_terminals();
	return 0;
}
