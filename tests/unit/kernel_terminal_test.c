/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F6.terminal. What a console writes into one ring and reads from another, with whoever may be at the other end: kernel/core/terminal.c.
 */
#include "kernel/core/terminal.h"

#include "abi/channel_wait.h"
#include "channel_scene.h"
#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/channels.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/info.h"
#include "kernel/core/lock.h"

enum { SLOTS = 4, SLOT_BYTES = 64 };
static struct bh_info page;
const struct bh_info *info = &page;

static struct scene says, hears;
static struct bh_end ends[2];   /* this kernel's: of `says` and `hears` */
static struct bh_end others[2]; /* whoever shows the terminal has these */

struct bh_end *channel_take(const char *name)
{
	return !strcmp(name, "says") ? &ends[0] : !strcmp(name, "hears") ? &ends[1] : NULL;
}

struct doorbell {
	unsigned rings;
};
static struct doorbell bell;

struct doorbell *doorbell_find(const char *name)
{
	return strcmp(name, "says") ? NULL : &bell;
}

void doorbell_tell(struct doorbell *doorbell)
{
	CHECK(doorbell == &bell);
	bell.rings++;
}

bool lock_take(struct lock *lock)
{
	CHECK_EQ(lock->next++, 0);
	return true;
}

void lock_give(struct lock *lock, bool interrupts_enabled)
{
	CHECK(interrupts_enabled);
	CHECK_EQ(lock->next--, 1);
}

/* ---- The other side ---------------------------------------------------------------------------------------------------------- */

static char heard[256];
static void received(char c)
{
	CHECK(strlen(heard) < sizeof(heard) - 1);
	heard[strlen(heard)] = c;
}

static const char *shown(void)
{
	static char text[SLOTS * SLOT_BYTES + 1];
	struct bh_message message;
	enum bh_end_result result;

	memset(text, 0, sizeof(text));
	while ((result = bh_ring_peek(&others[0], &message)) == BH_END_OK || result == BH_END_NEW) {
		if (result == BH_END_NEW)
			continue;
		bh_copy_from_slot(text + strlen(text), message.data, message.length);
		CHECK_EQ(bh_ring_release(&others[0]), BH_END_OK);
	}
	CHECK_EQ(result, BH_END_AGAIN);
	return text;
}

static void type(const char *text)
{
	void *data;

	if (bh_ring_reserve(&others[1], &data) == BH_END_NEW)
		CHECK_EQ(bh_ring_reserve(&others[1], &data), BH_END_OK);
	bh_copy_to_slot(data, text, (uint32_t)strlen(text));
	CHECK_EQ(bh_ring_send(&others[1], (uint32_t)strlen(text), BH_CHANNEL_START | BH_CHANNEL_END), BH_END_OK);
}

static void say(const char *text)
{
	for (; *text; text++)
		terminal_put(*text);
}

static void grant(const char *name, uint32_t flags)
{
	struct bh_grant *row = &page.grants[page.grant_count++];

	*row = (struct bh_grant){ .kind = BH_GRANT_CHANNEL, .flags = flags };
	memcpy(row->name, name, strlen(name));
}

/* ---- Cases -------------------------------------------------------------------------------------------------------------------- */

static void without_one(void)
{
	grant("says", 0);
	terminal_init();
	CHECK(!terminal_exists());
	CHECK(!terminal_begins_line());
	say("nobody\n");
	terminal_flush();
	terminal_read(received);
	CHECK_EQ(ends[0].sent + ends[0].written, 0);
	page.grant_count = 0;
}

static void without_a_reader(void)
{
	CHECK(!terminal_begins_line()); /* which nobody misses */
	say("lost\n");
	CHECK(!strcmp(shown(), "")); /* it takes part now */
}

static void lines(void)
{
	say("one\n");
	CHECK(!strcmp(shown(), "one\r\n"));
	say("$ ");
	CHECK(!strcmp(shown(), ""));
	terminal_flush();
	terminal_flush();
	CHECK(!strcmp(shown(), "$ "));
	CHECK_EQ(bell.rings, 0);
}

/* Takes so many messages of all that there are, in order. */
static void read_some(unsigned messages)
{
	struct bh_message message;

	for (unsigned n = 0; n < messages; n++) {
		CHECK_EQ(bh_ring_peek(&others[0], &message), BH_END_OK);
		CHECK_EQ(bh_ring_release(&others[0]), BH_END_OK);
	}
}

/* What is dropped is what comes last; it is counted, and how its last line began comes before what comes next. */
static void more_than_there_is_room_for(void)
{
	for (unsigned n = 0; n < SLOTS * SLOT_BYTES + 10; n++)
		terminal_put((char)('a' + n % 26));
	terminal_flush();
	CHECK_EQ(strlen(shown()), SLOTS * SLOT_BYTES);
	say("on\n");
	CHECK(!strcmp(shown(), "wxyzabcdefon\r\n"));
	for (unsigned n = 0; n < SLOTS + 2; n++)
		say("line\n");
	say("$ ");
	read_some(1);
	terminal_read(received); /* one slot is not enough for it */
	CHECK(!strcmp(shown(), "line\r\nline\r\nline\r\n"));
	terminal_read(received);
	CHECK(!strcmp(shown(), "[lines lost: 2]\r\n$ ")); /* nobody had to say more */
	terminal_read(received);
	CHECK(!strcmp(shown(), ""));
	say("on\n");
	CHECK(!strcmp(shown(), "on\r\n"));
	check_context.subject = "a line as a whole";
	for (unsigned n = 0; n < SLOTS; n++) {
		CHECK(terminal_begins_line());
		say("line\n");
	}
	CHECK(!terminal_begins_line() && !terminal_begins_line());
	(void)shown();
	CHECK(terminal_begins_line());
	say("on\n");
	CHECK(!strcmp(shown(), "[lines lost: 2]\r\non\r\n"));
	check_context.subject = "a long line";
	for (unsigned n = 0; n < SLOTS; n++)
		say("line\n");
	for (unsigned n = 0; n < 3 * SLOT_BYTES; n++)
		terminal_put('x');
	(void)shown();
	terminal_read(received);
	CHECK_EQ(strlen(shown()), SLOT_BYTES);
	check_context.subject = "the rest of a line";
	for (unsigned n = 0; n < SLOTS * SLOT_BYTES; n++)
		terminal_put('x');
	say("is lost\n");
	(void)shown();
	say("on\n");
	CHECK(!strcmp(shown(), "\r\n[lines lost: 1]\r\non\r\n"));
	check_context.subject = "in turns";
	for (unsigned n = 0; n < SLOTS + 1; n++)
		say("line\n");
	read_some(2);
	say("again\n"); /* no room for both */
	(void)shown();
	say("on\n");
	CHECK(!strcmp(shown(), "[lines lost: 2]\r\non\r\n"));
	check_context.subject = "";
}

static void rings_if_it_is_wanted(void)
{
	bh_end_wants_ring(&others[0], true);
	say("two\n");
	say("three\n");
	CHECK_EQ(bell.rings, 2);
	fake_cpu.slot = 1; /* which leaves it to the first core */
	say("four\n");
	CHECK_EQ(bell.rings, 2);
	fake_cpu.slot = 0;
	terminal_read(received);
	CHECK_EQ(bell.rings, 3);
	terminal_read(received);
	CHECK_EQ(bell.rings, 3);
	CHECK(!strcmp(shown(), "two\r\nthree\r\nfour\r\n"));
	bh_end_wants_ring(&others[0], false);
	say("five\n");
	CHECK_EQ(bell.rings, 3);
	CHECK(!strcmp(shown(), "five\r\n"));
}

static void is_typed_at(void)
{
	struct bh_message ignored;

	terminal_read(received);
	CHECK(bh_end_is_wanted(&others[1]) || others[1].peer->waits);
	type("li");
	type("fe\r");
	terminal_read(received);
	CHECK(!strcmp(heard, "life\r"));
	CHECK_EQ(bh_ring_peek(&ends[1], &ignored), BH_END_AGAIN);
}

/* Whoever shows it lives anew: a slot that was begun is gone with its connection, and nothing of it is in the next one. */
static void another_life_there(void)
{
	say("begun");
	says.page->end[1].epoch++;
	says.control[1]->peer = 0;
	scene_attach(&says, 1, &others[0]);
	CHECK(!strcmp(shown(), ""));
	say(" and lost\n");
	CHECK(!strcmp(shown(), ""));
	say("new\n");
	CHECK(!strcmp(shown(), "new\r\n"));
	for (unsigned n = 0; n < SLOTS + 1; n++)
		say("line\n");
	says.page->end[1].epoch++;
	says.control[1]->peer = 0;
	scene_attach(&says, 1, &others[0]);
	say("to nobody\n");
	CHECK(!strcmp(shown(), ""));
	say("newer\n");
	CHECK(!strcmp(shown(), "newer\r\n"));
	check_context.subject = "a slot that was reserved for what was missed";
	for (unsigned n = 0; n < SLOTS; n++)
		say("line\n");
	say("$ ");
	read_some(1);
	terminal_read(received); /* one slot is not enough for it */
	scene_new_life(&says, 1);
	scene_attach(&says, 1, &others[0]);
	say("to nobody");
	CHECK(!strcmp(shown(), ""));
	say("newest\n");
	say("of all\n");
	CHECK(!strcmp(shown(), "newest\r\nof all\r\n"));
	check_context.subject = "";
}

/* In which there is never room for more than the ring has. */
static void a_small_ring(void)
{
	check_context.subject = "a small ring";
	scene_close(&says);
	scene_open(&says, BH_CHANNEL_RING, 1, SLOT_BYTES);
	scene_attach(&says, 0, &ends[0]);
	scene_attach(&says, 1, &others[0]);
	say("to nobody\n");
	(void)shown();
	say("one\n");
	say("two\n");
	CHECK(!strcmp(shown(), "one\r\n"));
	terminal_read(received);
	CHECK(!strcmp(shown(), "[lines lost: 1]\r\n"));
	say("three\n");
	CHECK(!strcmp(shown(), "three\r\n"));
}

static void a_flood(void)
{
	memset(heard, 0, sizeof(heard));
	for (unsigned n = 0; n < SLOTS; n++)
		type("12345678");
	terminal_read(received);
	CHECK_EQ(strlen(heard), SLOTS * 8);
}

int main(void)
{
	scene_open(&says, BH_CHANNEL_RING, SLOTS, SLOT_BYTES);
	scene_open(&hears, BH_CHANNEL_RING, SLOTS, SLOT_BYTES);
	scene_attach(&says, 0, &ends[0]);
	scene_attach(&hears, 1, &ends[1]);
	scene_attach(&says, 1, &others[0]);
	scene_attach(&hears, 0, &others[1]);
	without_one();
	grant("other", 0);
	grant("says", BH_CHANNEL_TERMINAL);
	grant("hears", BH_CHANNEL_TERMINAL);
	terminal_init();
	CHECK(terminal_exists());
	without_a_reader();
	lines();
	more_than_there_is_room_for();
	rings_if_it_is_wanted();
	is_typed_at();
	another_life_there();
	a_flood();
	a_small_ring();
	return 0;
}
