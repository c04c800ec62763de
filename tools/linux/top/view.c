// SPDX-License-Identifier: Apache-2.0
/* Writes what sandboxes do (view.h). Every number may be any, so each has a width that it cannot leave. */
#include "view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "value.h"

enum { NUMBER_BYTES = 24, KINDS_BYTES = 320 };
static const uint64_t NS_PER_US = 1000, NS_PER_S = 1000000000;

/* As enum bh_exit_reason. */
static const char *const kinds[] = { "kick",  "memory", "device", "port",      "register", "IPI",   "call", "firmware",
				     "CPUID", "idle",   "long",   "forbidden", "reset",    "error", "hang" };
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == BH_EXIT_REASONS, "each has a name");

void screen_clear(struct screen *screen, unsigned columns)
{
	screen->columns = columns;
	screen->lines = 0;
	screen->bytes = 0;
	screen->text[0] = '\0';
}

void screen_line(struct screen *screen, const char *format, ...)
{
	char line[SCREEN_MOST_COLUMNS + 1];
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (screen->columns && screen->columns < sizeof(line))
		line[screen->columns] = '\0';
	length = strlen(line);
	if (screen->bytes + length + 2 > sizeof(screen->text))
		return;
	memcpy(screen->text + screen->bytes, line, length);
	screen->bytes += length;
	memcpy(screen->text + screen->bytes, "\n", 2);
	screen->bytes++;
	screen->lines++;
}

/* ---- Numbers: seven characters at most -------------------------------------------------------------------------------------------------
 */

struct number {
	char text[NUMBER_BYTES];
};

static struct number count(uint64_t value)
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;
	struct number to;

	while (value > 9999999 || (unit && value > 999999)) {
		value /= 1000;
		unit++;
	}
	if (unit)
		snprintf(to.text, sizeof(to.text), "%" PRIu64 "%c", value, units[unit]);
	else
		snprintf(to.text, sizeof(to.text), "%" PRIu64, value);
	return to;
}

/* Negative: nobody knows. */
static struct number rate(double value)
{
	struct number to = { "-" };

	if (value >= 1e18)
		to = (struct number){ ">1000P" };
	else if (value >= 0)
		to = count((uint64_t)(value + 0.5));
	return to;
}

static struct number percent(double part)
{
	struct number to = { "-" };

	if (part > 99.99)
		snprintf(to.text, sizeof(to.text), ">9999");
	else if (part >= 0)
		snprintf(to.text, sizeof(to.text), "%.1f", part * 100);
	return to;
}

/* ---- Parts -----------------------------------------------------------------------------------------------------------------------------
 */

static void put_up(char *text, size_t room, uint64_t ns)
{
	const uint64_t seconds = ns / NS_PER_S;

	snprintf(text, room, "%" PRIu64 ":%02u:%02u", seconds / 3600, (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

/* How many, and of which kinds; a kind without a name here is one of a later version. */
static void put_exits(char *text, size_t room, const struct bh_telemetry *now)
{
	size_t length = 0;
	uint64_t all = 0;

	for (uint32_t kind = 0; kind < now->exit_kinds; kind++)
		all += now->exits[kind];
	length += (size_t)snprintf(text, room, "%s", count(all).text);
	for (uint32_t kind = 0; kind < now->exit_kinds && length < room; kind++) {
		const char *name = kind < BH_EXIT_REASONS ? kinds[kind] : "other";

		if (now->exits[kind])
			length += (size_t)snprintf(text + length, room - length, ", %s %s", name, count(now->exits[kind]).text);
	}
}

static void put_head(struct screen *screen, const struct sandbox *sandbox, double now, double seconds)
{
	const struct bh_telemetry *said = &sandbox->newest;
	char up[NUMBER_BYTES * 2], exits[KINDS_BYTES];
	const double age = now - sandbox->came;

	put_up(up, sizeof(up), said->up);
	put_exits(exits, sizeof(exits), said);
	screen_line(screen, "%s: life %" PRIu32 ", up %s, %s; data %.1f s old%s%s", sandbox->name, said->life, up,
		    said->is_ready ? "ready" : "not ready", age > 0 ? age : 0.0, sandbox->trouble ? "; " : "",
		    sandbox->trouble ? sandbox->trouble : "");
	screen_line(screen, "  beats %s (%s a second), gaps %s, latest %s us; exits since ready %s", count(said->beats).text,
		    rate(value_rate(said->beats, sandbox->shown.beats, seconds)).text, count(said->beat_gaps).text,
		    count(said->beat_late / NS_PER_US).text, exits);
}

static void put_vcpu(struct screen *screen, const struct bh_telemetry_vcpu *now, const struct bh_telemetry_vcpu *before, double seconds)
{
	const double had = value_rate(now->had, before->had, seconds),
		     background = value_rate(now->background, before->background, seconds);
	const double promised = now->period ? (double)now->budget / (double)now->period : 0;
	const double second = (double)NS_PER_S;
	const int has_program = now->program[0] != '\0';

	screen_line(screen, "  %-16.16s %-10.10s %4" PRIu32 " %7s %7s %6s %6s %7s %7s", (const char *)now->name,
		    has_program ? (const char *)now->program : "-", now->core < 1000 ? now->core : 999, count(now->budget / NS_PER_US).text,
		    count(now->period / NS_PER_US).text, percent(had >= 0 && background >= 0 ? (had + background) / second : -1).text,
		    percent(had >= 0 && promised > 0 ? had / second / promised : -1).text,
		    rate(has_program ? value_rate(now->rounds, before->rounds, seconds) : -1).text,
		    has_program ? count(now->missed).text : "-");
}

/* Its counts begin at 0 with each connection. */
static void put_channel(struct screen *screen, const struct bh_telemetry_channel *now, const struct bh_telemetry_channel *before,
			double seconds)
{
	static const char *const states[] = { "closed", "alone", "connected" };
	const double same = now->connections == before->connections && now->state == before->state ? seconds : 0;

	screen_line(screen, "  %-20.20s %-16.16s %-9s %7s %7s %7s", (const char *)now->name, (const char *)now->peer,
		    now->state <= BH_TELEMETRY_CONNECTED ? states[now->state] : "-",
		    rate(value_rate((uint32_t)(now->sent - before->sent), 0, same)).text,
		    rate(value_rate((uint32_t)(now->taken - before->taken), 0, same)).text, count(now->refused).text);
}

static void put_left_out(struct screen *screen, uint32_t left_out, const char *what)
{
	if (left_out)
		screen_line(screen, "  and %" PRIu32 " more %s", left_out, what);
}

void screen_sandbox(struct screen *screen, struct sandbox *sandbox, double now)
{
	const struct bh_telemetry *said = &sandbox->newest, *before = &sandbox->shown;
	const double seconds = sandbox->is_shown ? value_seconds(said, before) : 0;

	if (!sandbox->is_known) {
		screen_line(screen, "%s: %s", sandbox->name, sandbox->trouble ? sandbox->trouble : "no data yet");
		return;
	}
	put_head(screen, sandbox, now, seconds);
	if (said->vcpu_count)
		screen_line(screen, "  %-16s %-10s %4s %7s %7s %6s %6s %7s %7s", "VCPU", "PROGRAM", "CORE", "BUDGET", "PERIOD", "%CORE",
			    "%ITS", "ROUND/s", "MISSED");
	for (uint32_t n = 0; n < said->vcpu_count; n++)
		put_vcpu(screen, &said->vcpu[n], &before->vcpu[n], n < before->vcpu_count ? seconds : 0);
	put_left_out(screen, said->vcpus_left_out, "VCPUs");
	if (said->channel_count)
		screen_line(screen, "  %-20s %-16s %-9s %7s %7s %7s", "CHANNEL", "WITH", "STATE", "SENT/s", "TAKEN/s", "REFUSED");
	for (uint32_t n = 0; n < said->channel_count; n++)
		put_channel(screen, &said->channel[n], &before->channel[n], n < before->channel_count ? seconds : 0);
	put_left_out(screen, said->channels_left_out, "channels");
	if (!sandbox->is_shown || said->number != before->number || said->life != before->life)
		sandbox->shown = sandbox->newest;
	sandbox->is_shown = 1;
}
