/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. What the sandbox kernel does with its channels: commands that try them, and programs that send and look at samples. This
 * kernel has both ends of each. And commands that try doorbells (BH-F6.doorbells). kernel/core/channels.c, kernel/core/shell_channels.c,
 * kernel/core/channel_programs.c
 */
#include "kernel/core/channels.h"

#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/channel_programs.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/info.h"
#include "kernel/core/lock.h"
#include "kernel/core/programs.h"
#include "kernel/core/shell_channels.h"
#include "kernel/core/sync.h"
#include "kernel/core/text.h"

enum { HZ = 1000000000, SLOTS = 4, SLOT_BYTES = 64, LONG_SLOT_BYTES = 128, TEXT = 1200, TICKS_A_ROUND = 1000, NEAR = 8, FAR = 9 };
#define NOTHING     "nothing to read\n"
#define UNCONNECTED "not connected yet\n"

static _Alignas(BH_PAGE_BYTES) uint8_t ring[3][BH_PAGE_BYTES], latest[3][BH_PAGE_BYTES], mailbox[3][BH_PAGE_BYTES],
	strange[3][BH_PAGE_BYTES], aside[3][BH_PAGE_BYTES], several[3][BH_PAGE_BYTES];
static struct bh_info page;
const struct bh_info *info = &page;

/* ---- Around it ------------------------------------------------------------------------------------------------------------ */

static char said[TEXT];

static void put(char c)
{
	CHECK(strlen(said) < TEXT - 1);
	said[strlen(said)] = c;
}

void console_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
	put('\n');
}

const struct bh_grant *info_find(enum bh_grant_kind kind, const char *name)
{
	for (unsigned n = 0; n < page.grant_count; n++)
		if (page.grants[n].kind == kind && (!name || !strcmp((const char *)page.grants[n].name, name)))
			return &page.grants[n];
	return NULL;
}

static uint64_t now;
uint64_t arch_counter(void)
{
	return now;
}

/* Nobody else asks. */
bool lock_take(struct lock *lock)
{
	CHECK_EQ(lock->next++, 0);
	return true;
}

void lock_give(struct lock *lock, bool interrupts_enabled)
{
	CHECK_EQ(lock->next--, 1);
}

static unsigned rounds_left;
enum thread_result periodic_begin(struct periodic *periodic, uint64_t period)
{
	*periodic = (struct periodic){ .period = period };
	return THREAD_OK;
}

enum thread_result periodic_wait(struct periodic *periodic)
{
	now += TICKS_A_ROUND;
	return rounds_left-- ? THREAD_OK : THREAD_E_INVALID;
}

static unsigned noted;
void program_note_round(struct program_run *run, const struct periodic *periodic)
{
	noted++;
}

static int64_t answer;
static uint64_t rung;

struct doorbell *doorbell_find(const char *name)
{
	return strcmp(name, "out") ? NULL : (struct doorbell *)&rung;
}

int64_t doorbell_ring(const struct doorbell *doorbell)
{
	CHECK(doorbell == (const struct doorbell *)&rung);
	return answer;
}

uint64_t doorbell_count(const struct doorbell *doorbell)
{
	CHECK(doorbell == (const struct doorbell *)&rung);
	return rung;
}

/* ---- The monitor ---------------------------------------------------------------------------------------------------------- */

static struct turned {
	uint64_t call, channel;
	unsigned count;
} turned;
static int64_t monitor_answer;

int64_t info_call_monitor(enum bh_call function, uint64_t argument, uint64_t other)
{
	turned = (struct turned){ function, argument, turned.count + 1 };
	return monitor_answer;
}

/* ---- Channels --------------------------------------------------------------------------------------------------------------- */

static struct bh_channel *page_of(uint8_t (*memory)[BH_PAGE_BYTES])
{
	return (struct bh_channel *)memory[1];
}

static void grant(const char *name, uint8_t (*memory)[BH_PAGE_BYTES], unsigned side)
{
	struct bh_grant *row = &page.grants[page.grant_count++];

	*row = (struct bh_grant){
		.kind = BH_GRANT_CHANNEL, .line = BH_PAGE_BYTES, .vector = side, .gpa = (uintptr_t)memory, .size = 3 * BH_PAGE_BYTES
	};
	strcpy((char *)row->name, name);
	strcpy((char *)row->compatible, "other");
}

static void make(uint8_t (*memory)[BH_PAGE_BYTES], enum bh_channel_kind kind, uint32_t slots, const char *from, const char *to)
{
	*page_of(memory) = (struct bh_channel){
		.magic = BH_CHANNEL_MAGIC,
		.version = BH_CHANNEL_VERSION,
		.kind = kind,
		.slots = slots,
		.slot_bytes = SLOT_BYTES,
		.slot_stride = SLOT_BYTES + sizeof(struct bh_channel_slot),
		.area_bytes = { BH_PAGE_BYTES, BH_PAGE_BYTES },
		.end = { { .epoch = 1, .state = BH_CHANNEL_LIVES }, { .epoch = 1, .state = BH_CHANNEL_LIVES } },
	};
	grant(from, memory, 0);
	grant(to, memory, 1);
}

static void expect(void (*run)(const struct command_line *line), const char *text, const char *expected)
{
	memset(said, 0, sizeof(said));
	run(&(struct command_line){ .text = text });
	if (strcmp(said, expected))
		fprintf(stderr, "said: %s", said);
	CHECK(!strcmp(said, expected));
}

/* ---- Commands --------------------------------------------------------------------------------------------------------------- */

static struct bh_channel_slot *slot_of(unsigned number)
{
	size_t slot = sizeof(struct bh_channel_slot) + SLOT_BYTES;

	return (struct bh_channel_slot *)(ring[0] + sizeof(struct bh_channel_control) + number % SLOTS * slot);
}

static void test_ring(void)
{
	expect(run_send, "out,one", "send out: " UNCONNECTED); /* the other end has said nothing yet */
	expect(run_receive, "in", "receive in: a new connection\nreceive in: " NOTHING);
	for (unsigned n = 0; n < SLOTS; n++)
		expect(run_send, "out,one,two", "send out: done\n");
	expect(run_send, "out,more", "send out: no room\n");
	expect(run_receive, "in", "receive in 0: one,two\n");
	expect(run_receive, "in", "receive in 1: one,two\n");
	expect(run_send, "out", "send out: done\n");
	expect(run_send, "out,\x01\x7f", "send out: done\n");
	expect(run_receive, "in", "receive in 2: one,two\n");
	expect(run_receive, "in", "receive in 3: one,two\n");
	expect(run_receive, "in", "receive in 4: \n");
	expect(run_receive, "in", "receive in 5: ..\n");
	expect(run_send, "out,0123456789012345678901234567890123456789012345678901234567890123", "send out: done\n");
	expect(run_send, "out,01234567890123456789012345678901234567890123456789012345678901234", "send out: too long\n");
	CHECK_EQ(ring[0][sizeof(struct bh_channel_control) + (size_t)SLOTS * (sizeof(struct bh_channel_slot) + SLOT_BYTES)], 0);
	expect(run_receive, "in", "receive in 6: 0123456789012345678901234567890123456789012345678901234567890123\n");
	expect(run_send, "out,bad", "send out: done\n");
	expect(run_send, "out,good", "send out: done\n");
	slot_of(7)->flags |= BH_CHANNEL_CHECKED;
	expect(run_receive, "in", "receive in: damaged\n");
	expect(run_receive, "in", "receive in 8: good\n");
	page_of(ring)->end[0].state = BH_CHANNEL_GONE;
	expect(run_receive, "in", "receive in: the other end is gone\n");
	page_of(ring)->end[0].epoch = 2;
	page_of(ring)->end[0].state = BH_CHANNEL_LIVES;
	CHECK_EQ(bh_end_attach(channel_untaken("out"), ring, sizeof(ring), BH_PAGE_BYTES, 0),
		 BH_END_OK); /* as the kernel of that life does */
	expect(run_receive, "in", "receive in: a new connection\nreceive in: " UNCONNECTED);
	expect(run_send, "out,again", "send out: done\n");
	expect(run_receive, "in", "receive in 0: again\n");
}

static void test_others(void)
{
	expect(run_receive, "seen", "receive seen: a new connection\nreceive seen: " UNCONNECTED);
	expect(run_send, "shown,5", "send shown: done\n");
	expect(run_send, "shown,6", "send shown: done\n");
	expect(run_receive, "seen", "receive seen 1: 6\n");
	expect(run_receive, "shown", "receive shown: not at this end of such a channel\n");
	expect(run_receive, "asked", "receive asked: a new connection\nreceive asked: " UNCONNECTED);
	expect(run_send, "asks,why", "send asks: done\n");
	expect(run_send, "asks,why not", "send asks: the other end has not taken the last message, or what it sent was not read here\n");
	expect(run_receive, "asked", "receive asked 0: why\n");
	expect(run_send, "asked,because", "send asked: done\n");
	expect(run_receive, "asks", "receive asks 0: because\n");
	expect(run_send, "asks,0123456789012345678901234567890123456789012345678901234567890123, and more", "send asks: done\n");
	expect(run_receive, "asked", "receive asked 1: 0123456789012345678901234567890123456789012345678901234567890123\n");
	expect(run_receive, "asked", "receive asked: " NOTHING);
	expect(run_send, "asked,shorter", "send asked: done\n");
	expect(run_receive, "asks", "receive asks 1: shorter\n");
}

static void test_refusals(void)
{
	expect(run_send, "nothing,x", "send nothing: no such channel\n");
	expect(run_send, "", "send : no such channel\n");
	expect(run_receive, "odd", "receive odd: it is of another version\n"); /* another version */
	fake_cpu.slot = 1;
	expect(run_receive, "in", "receive in: on the first core alone\n");
	fake_cpu.slot = 0;
	CHECK(channel_take("asks"));
	CHECK(!channel_take("asks") && !channel_take("nothing") && !channel_take("odd"));
	expect(run_send, "asks,x", "send asks: a program has it\n");
}

static void test_list(void)
{
	expect(run_channels, "",
	       "channel out: ring to other, 64 bytes a slot; epoch 2 here, 1 there, connected; sent 1, taken 0\n"
	       "channel in: ring from other, 64 bytes a slot; epoch 1 here, 2 there, connected; sent 0, taken 1\n"
	       "channel shown: latest value to other, 64 bytes a slot; epoch 1 here, 1 there, connected; sent 2, taken 0\n"
	       "channel seen: latest value from other, 64 bytes a slot; epoch 1 here, 1 there, connected; sent 0, taken 2\n"
	       "channel asks: mailbox with other, 128 bytes a slot; epoch 1 here, 1 there, connected; sent 2, taken 2\n"
	       "channel asked: mailbox with other, 128 bytes a slot; epoch 1 here, 1 there, connected; sent 2, taken 2\n");
}

static void test_doorbells(void)
{
	expect(run_ring, "out", "ring out: done\n");
	answer = BH_E_LATER;
	expect(run_ring, "out", "ring out: too soon after the last one\n");
	answer = BH_E_DENIED;
	expect(run_ring, "out", "ring out: not granted\n");
	answer = BH_OK;
	expect(run_ring, "in", "ring in: not granted\n");
	expect(run_ring, "", "ring : not granted\n");
	expect(run_rung, "out", "rung out: 0 times\n");
	rung = UINT64_C(5000000000);
	expect(run_rung, "out", "rung out: 5000000000 times\n");
	expect(run_rung, "in", "rung in: it has no doorbell\n");
}

/* ---- On request ------------------------------------------------------------------------------------------------------------- */

/* While it is closed nobody looks there: what is there then would be a fault. */
static void test_on_request(void)
{
	struct bh_end *end;

	page_of(aside)->magic = 0; /* behind a closed gate */
	expect(run_send, "near,x", "send near: it is closed\n");
	memset(said, 0, sizeof(said));
	run_channels(NULL);
	CHECK(strstr(said, "\nchannel near: with other, closed\nchannel far: with other, closed\n"));
	CHECK_EQ(turned.count, 0);
	monitor_answer = BH_E_UNKNOWN;
	expect(run_open, "near", "open near: there is no monitor, or no channel that this kernel knows\n");
	monitor_answer = BH_OK;
	expect(run_open, "near", "open near: there is no monitor, or no channel that this kernel knows\n"); /* which it closes again */
	CHECK(turned.count == 3 && turned.call == BH_CALL_CLOSE && turned.channel == NEAR);
	page_of(aside)->magic = BH_CHANNEL_MAGIC;
	expect(run_open, "far", "open far: done\n");
	CHECK(turned.count == 4 && turned.call == BH_CALL_OPEN && turned.channel == FAR);
	expect(run_open, "far", "open far: done\n"); /* it is */
	CHECK_EQ(turned.count, 4);
	expect(run_receive, "far", "receive far: a new connection\nreceive far: " UNCONNECTED);
	CHECK(channel_take("near") && turned.count == 5 && turned.call == BH_CALL_OPEN && turned.channel == NEAR);
	CHECK(!channel_take("near"));
	expect(run_close, "near", "close near: a program has it\n");
	end = channel_take("far");
	CHECK(end && end->connections == 1);
	channel_give(end);
	CHECK(turned.count == 6 && turned.call == BH_CALL_CLOSE && turned.channel == FAR);
	end = channel_take("far");
	CHECK(end && end->connections == 0 && turned.count == 7); /* attached anew */
	channel_give(end);
	expect(run_reopen, "far,3", "reopen far: done, 3 times, 0 and 0 ns at most\n");
	CHECK_EQ(turned.count, 14);
	expect(run_reopen, "far", "reopen far: how often?\n");
	expect(run_open, "nothing", "open nothing: no such channel\n");
	CHECK_EQ(turned.count, 14);
}

/* One that is always there is given back open. */
static void test_given_back(void)
{
	struct bh_end *end = channel_take("asked");

	CHECK(end && end->connections == 1);
	channel_give(end);
	CHECK(channel_untaken("asked") == end && end->connections == 1);
	expect(run_close, "asked", "close asked: it is always open\n");
	CHECK_EQ(turned.count, 0);
}

/* ---- Several readers -------------------------------------------------------------------------------------------------------- */

enum { READERS = 3, MANY = 1000 };

/* Each who takes it has one of its own, under the least number that nobody has. */
static void test_readers(void)
{
	static const uint64_t value = 7;
	struct bh_end *writer, *end[READERS], *again;
	struct bh_message message;
	uint64_t found = 0;

	make(several, BH_CHANNEL_LATEST, bh_latest_slots(READERS), "written", "read");
	writer = channel_take("written");
	CHECK(writer && !channel_take("written"));
	for (unsigned n = 0; n < READERS; n++) {
		end[n] = channel_take("read");
		CHECK(end[n] && end[n]->reading == &end[n]->own->reading[n] && (n == 0 || end[n] != end[0]));
		(void)bh_end_look(end[n]);
	}
	CHECK(!channel_take("read") && !channel_untaken("read"));
	(void)bh_end_look(writer);
	(void)bh_end_look(writer);
	CHECK_EQ(bh_latest_write(writer, &value, sizeof(value)), BH_END_OK);
	for (unsigned n = 0; n < READERS; n++, found = 0)
		CHECK(bh_latest_read(end[n], &found, sizeof(found), &message) == BH_END_OK && found == value);
	channel_give(end[1]);
	again = channel_take("read");
	CHECK(again && again->reading == &again->own->reading[1] && !channel_take("read"));
	channel_give(again);
	for (unsigned n = 0; n < MANY; n++) { /* nothing is used up */
		again = channel_take("read");
		CHECK(again);
		channel_give(again);
	}
	channel_give(end[0]);
	CHECK(channel_untaken("read") == end[0]);
	CHECK(channel_take("read") == end[0]);
	channel_give(end[0]);
	channel_give(end[2]);
}

/* It is closed when the last one gives it back. */
static void test_readers_on_request(void)
{
	struct bh_end *first, *second;

	page.grants[page.grant_count - 1].flags = BH_CHANNEL_ON_REQUEST;
	turned.count = 0;
	first = channel_take("read");
	second = channel_take("read");
	CHECK(first && second && turned.count == 0); /* it is open */
	channel_give(first);
	CHECK_EQ(turned.count, 0);
	expect(run_close, "read", "close read: a program has it\n");
	channel_give(second);
	CHECK(turned.count == 1 && turned.call == BH_CALL_CLOSE);
	CHECK(channel_take("read") && channel_take("read") && turned.count == 2 && turned.call == BH_CALL_OPEN);
}

/* ---- Programs --------------------------------------------------------------------------------------------------------------- */

static struct program_run play(void (*program)(void *run), const char *name, unsigned rounds)
{
	static struct program_run runs[2 * SLOTS];
	static unsigned count;
	struct program_run *run = &runs[count++];

	CHECK(count < 2 * SLOTS);
	*run = (struct program_run){ .name = name, .period = 10 };
	rounds_left = rounds;
	memset(said, 0, sizeof(said));
	program(run);
	return *run;
}

static void check_notes(struct program_run run, uint64_t a, uint64_t b, uint64_t c)
{
	CHECK(run.notes[0].what && run.notes[1].what && run.notes[2].what);
	CHECK_EQ(run.notes[0].count, a);
	CHECK_EQ(run.notes[1].count, b);
	CHECK_EQ(run.notes[2].count, c);
}

/* An end is taken once, so each program has its turn once. */
static void test_programs(void)
{
	struct program_run run;

	CHECK(!strcmp(said, ""));
	check_notes(play(channel_source, "nobody", 1), 0, 0, 0);
	CHECK(!strcmp(said, "nobody: no such channel, or somebody has it\n"));
	check_notes(play(channel_source, "asked", 1), 0, 0, 0);
	CHECK(!strcmp(said, "asked: this program has no use for that end of that kind of channel\n"));
	noted = 0;
	check_notes(play(channel_source, "out", SLOTS + 2), SLOTS, 2, 0);
	CHECK_EQ(noted, SLOTS + 2);
	*(uint8_t *)(slot_of(2) + 1) ^= 1; /* of one, the data */
	run = play(channel_sink, "in", 2);
	CHECK(run.notes[4].what);
	CHECK_EQ(run.notes[0].count + run.notes[2].count, SLOTS);
	CHECK_EQ(run.notes[2].count, 1);
	CHECK_EQ(run.notes[1].count, 0);
	CHECK(run.notes[4].count >= TICKS_A_ROUND && run.notes[4].count <= 10 * TICKS_A_ROUND);
	check_notes(play(channel_source, "shown", 3), 3, 0, 0);
	run = play(channel_sink, "seen", 3);
	CHECK_EQ(run.notes[0].count, 1); /* the same value once */
}

int main(void)
{
	clock_init(HZ);
	expect(run_channels, "", "no channels\n");
	make(ring, BH_CHANNEL_RING, SLOTS, "out", "in");
	make(latest, BH_CHANNEL_LATEST, bh_latest_slots(1), "shown", "seen");
	make(mailbox, BH_CHANNEL_MAILBOX, 1, "asks", "asked");
	page_of(mailbox)->slot_bytes = LONG_SLOT_BYTES;
	page_of(mailbox)->slot_stride = LONG_SLOT_BYTES + sizeof(struct bh_channel_slot);
	make(strange, BH_CHANNEL_RING, SLOTS, "odd", "even");
	page_of(strange)->version++;
	test_ring();
	test_others();
	test_list();
	test_refusals();
	test_given_back();
	test_doorbells();
	memset(said, 0, sizeof(said));
	test_programs();
	make(aside, BH_CHANNEL_RING, SLOTS, "near", "far");
	page.grants[NEAR].flags = page.grants[FAR].flags = BH_CHANNEL_ON_REQUEST;
	test_on_request();
	test_readers();
	test_readers_on_request();
	return 0;
}
