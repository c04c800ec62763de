/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that leaves something in every register it can write, ends its life by a fault, and looks in the next what is left:
 * BH-I6.contained, docs/guest.md "Registers at entry", "Restart". Its console says
 *
 *   first NAME VALUE           a register that is not 0 in the first life
 *   takes nothing NAME VALUE   one that reads as before when it has been written: nothing can be told of it on this machine
 *   left NAME VALUE            one that is not what it was in the first life
 *   life N: looked             the end of the list
 *
 * The processor's part is forgets.S, which keeps the general registers before any is used, and the table in forgets_cpu.h. What was
 * read in the first life waits for the second in the upper half of the log's text, which a restart leaves alone; so few lines are said
 * that the ring never gets there.
 */
#include "forgets.h"

#include <stdbool.h>
#include <stddef.h>

#include "forgets_cpu.h"
#include "tiny_cpu.h"

enum {
	GENERAL = sizeof(general_names) / sizeof(general_names[0]),
	ROWS = sizeof(rows) / sizeof(rows[0]),
	HEX_DIGITS = 16,
};

/* By forgets.S, in the order of general_names. */
forgets_word forgets_general[GENERAL];

static uint64_t found[GENERAL + ROWS]; /* in this life */

static struct bh_log *log;
static uint32_t text_at; /* log->head % BH_LOG_TEXT_BYTES, without a division */

static uint64_t *first_life(void)
{
	return (uint64_t *)(log->text + BH_LOG_TEXT_BYTES / 2);
}

const struct bh_grant *forgets_grant(const struct bh_info *info, enum bh_grant_kind kind, const char *name)
{
	for (uint32_t n = 0; n < info->grant_count; n++) {
		const struct bh_grant *grant = &info->grants[n];
		uint32_t same = 0;

		while (name[same] && (uint8_t)name[same] == grant->name[same])
			same++;
		if (grant->kind == kind && !name[same])
			return grant;
	}
	return NULL;
}

static void say(const char *text)
{
	for (; *text; text++) {
		log->text[text_at++] = (uint8_t)*text;
		__atomic_store_n(&log->head, log->head + 1, __ATOMIC_RELEASE);
	}
}

static void say_register(const char *what, const char *name, uint64_t value)
{
	char digits[HEX_DIGITS + 1];
	unsigned at = HEX_DIGITS;

	digits[at] = 0;
	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	say(what);
	say(" ");
	say(name);
	say(" 0x");
	say(digits + at);
	say("\n");
}

static const char *name_of(unsigned n)
{
	return n < GENERAL ? general_names[n] : rows[n - GENERAL].name;
}

static bool is_here(const struct bh_info *info, const struct row *row)
{
	return !row->with || forgets_grant(info, BH_GRANT_IRQCHIP, row->with);
}

/* Before anything is said: the earlier a register is read, the less has been done with it. */
static void look(const struct bh_info *info)
{
	for (unsigned n = 0; n < GENERAL; n++)
		found[n] = forgets_general[n];
	for (unsigned n = 0; n < ROWS; n++)
		if (is_here(info, &rows[n]))
			found[GENERAL + n] = rows[n].read();
}

static void remember(void)
{
	for (unsigned n = 0; n < GENERAL + ROWS; n++) {
		first_life()[n] = found[n];
		if (found[n])
			say_register("first", name_of(n), found[n]);
	}
}

static void compare(void)
{
	for (unsigned n = 0; n < GENERAL + ROWS; n++)
		if (found[n] != first_life()[n])
			say_register("left", name_of(n), found[n]);
}

static void leave_something(const struct bh_info *info)
{
	for (unsigned n = 0; n < ROWS; n++) {
		const struct row *row = &rows[n];

		if (!is_here(info, row))
			continue;
		row->write(row->left);
		if (row->read() == found[GENERAL + n])
			say_register("takes nothing", row->name, found[GENERAL + n]);
	}
}

static void open_log(const struct bh_info *info)
{
	const struct bh_grant *grant = forgets_grant(info, BH_GRANT_LOG, "");

	log = (struct bh_log *)(uintptr_t)grant->gpa;
	if (log->magic != BH_LOG_MAGIC) {
		log->text_bytes = BH_LOG_TEXT_BYTES;
		log->head = 0;
		__atomic_store_n(&log->magic, BH_LOG_MAGIC, __ATOMIC_RELEASE);
	}
	text_at = (uint32_t)log->head;
}

_Noreturn void forgets_main(const struct bh_info *info)
{
	const struct bh_grant *grant = forgets_grant(info, BH_GRANT_STATS, "");
	const struct bh_stats *stats = (const struct bh_stats *)(uintptr_t)grant->gpa;

	forgets_prepare(info);
	look(info);
	open_log(info);
	if (!stats->restarts) {
		remember();
		leave_something(info);
		say("life 0: looked\n");
		forgets_crash();
	}
	compare();
	say("life 1: looked\n");
	tiny_call_monitor(BH_CALL_READY);
	for (;;)
		tiny_sleep();
}
