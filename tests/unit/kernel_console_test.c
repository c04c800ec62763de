/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F4.programs. The sandbox kernel's console: its log ring, its UART, the line editor, and commands. kernel/core/{console,command}.c on a
 * UART of arrays.
 */
#include "kernel/core/console.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/command.h"
#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/terminal.h"
#include "kernel/core/timer.h"
#include "kernel/core/uart.h"
#include "random.h"

enum { ROUNDS = 3000, SENT = 1 << 16, LINE_MOST = 159, DISTANCE = 1000000 };

/* ---- Around it ---------------------------------------------------------------------------------------------------- */

static struct bh_info page = { .name = "unit" };
const struct bh_info *info = &page;
static struct bh_log ring;
static bool has_ring;

static char sent[SENT];
static size_t sent_length;
static unsigned refusals; /* how many characters the UART has no room for */
static const char *typed; /* what the next interrupt brings */
static void (*interrupt)(struct cpu_frame *frame);

/* The second of two UARTs has the name, and what is reached by ports does not count. */
static const struct bh_grant devices[] = {
	{ .kind = BH_GRANT_DEVICE, .compatible = "unit,disk" },
	{ .kind = BH_GRANT_PORTS, .compatible = "unit,uart" },
	{ .kind = BH_GRANT_DEVICE, .compatible = "unit,uart" },
};

const struct bh_grant *info_find(enum bh_grant_kind kind, const char *name)
{
	static struct bh_grant grant;

	grant.gpa = (uintptr_t)&ring;
	return has_ring && kind == BH_GRANT_LOG ? &grant : NULL;
}

static struct bh_stats statistics;

const struct bh_stats *info_statistics(void)
{
	return &statistics;
}

uint32_t irq_attach_device(const struct bh_grant *grant, void (*handler)(struct cpu_frame *frame))
{
	interrupt = handler;
	return 0;
}

void idle_until(bool (*done)(void))
{
	while (!done())
		interrupt(NULL);
}

static uint32_t condition(const struct bh_grant *grant)
{
	return 7;
}

static const struct bh_grant *chosen;

static void init(const struct bh_grant *grant)
{
	chosen = grant;
}

/* The main program's characters are not torn apart by the handler's. */
static bool put(char c)
{
	if (refusals) {
		refusals--;
		return false;
	}
	CHECK(sent_length < SENT - 1);
	sent[sent_length++] = c;
	sent[sent_length] = '\0';
	return true;
}

static void transmit_interrupt(bool on) {}

static bool masked;
static void receive_interrupt(bool on)
{
	CHECK_EQ(masked, on); /* never twice */
	masked = !on;
}

static struct timer_event *unmasks;
static uint64_t unmasks_at;
void timer_add(struct timer_event *event, uint64_t deadline)
{
	CHECK(!event->waits);
	event->waits = true;
	unmasks = event;
	unmasks_at = deadline;
}

static bool has_terminal, is_full;
static char shown[SENT]; /* on the terminal */
static unsigned flushes;
static const char *typed_there;

void terminal_init(void) {}

bool terminal_exists(void)
{
	return has_terminal;
}

bool terminal_begins_line(void)
{
	return has_terminal && !is_full;
}

void terminal_put(char c)
{
	CHECK(has_terminal && strlen(shown) < SENT - 1);
	shown[strlen(shown)] = c;
}

void terminal_flush(void)
{
	flushes++;
}

/* The UART's interrupt hands over to the same place. */
void terminal_read(void (*received)(char c))
{
	CHECK(has_terminal && !fake_cpu.enabled);
	while (typed_there && *typed_there)
		received(*typed_there++);
}

/* As a 16550: what is masked is no cause, and stays. */
static bool serve(void (*received)(char c))
{
	while (!masked && typed && *typed)
		received(*typed++);
	return true;
}

static const char *const names[] = { "unit,other", "unit,uart", NULL };
static const struct uart_driver driver = { BH_GRANT_DEVICE, names, condition, init, put, transmit_interrupt, receive_interrupt, serve };
const struct uart_driver *const uart_drivers[] = { &driver, NULL };

/* ---- Commands of the program --------------------------------------------------------------------------------------- */

static char ran[1024];

static void note(const char *name, const struct command_line *line)
{
	size_t length = strlen(ran);

	snprintf(ran + length, sizeof(ran) - length, "%s(%s:%u:%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", name, line->text, line->operands,
		 line->operand[0], line->operand[1], line->operand[2]);
}

static void run_one(const struct command_line *line)
{
	note("one", line);
}

const struct command program_commands[] = { { "one", 1, run_one }, { NULL, 0, NULL } };
const struct command kernel_commands[] = { { "kernel", 1, run_one }, { NULL, 0, NULL } };

bool command_run_other(const char *name, const struct command_line *line)
{
	if (strcmp(name, "other"))
		return false;
	note("other", line);
	return true;
}

static void expect_run(const char *arguments, const char *expected)
{
	check_context.subject = arguments;
	ran[0] = '\0';
	command_run_arguments(arguments);
	CHECK(!strcmp(ran, expected));
}

static void test_commands(void)
{
	char longest[300] = "other=";

	expect_run("", "");
	expect_run("   ", "");
	expect_run("one=1", "one(1:1:1,0,0)");
	expect_run("  one=1,0x10,3,4   other ", "one(1,0x10,3,4:3:1,16,3)other(:0:0,0,0)");
	expect_run("one", ""); /* too few operands */
	expect_run("one=", "");
	expect_run("one=a,1", ""); /* the first is no number */
	expect_run("other=2,b,3", "other(2,b,3:1:2,0,0)");
	expect_run("other=1;2", "other(1;2:1:1,0,0)");
	expect_run("other=a=b", "other(a=b:0:0,0,0)");
	expect_run("nothing=1", "");
	memset(longest + 6, 'x', 200);
	ran[0] = '\0';
	command_run_arguments(longest); /* cut to what a word holds */
	CHECK_EQ(strlen(ran), strlen("other(:0:0,0,0)") + COMMAND_WORD_BYTES - 1 - 6);
	memset(longest, ' ', 250);
	command_run_arguments(longest);
}

/* ---- Console ------------------------------------------------------------------------------------------------------ */

static void test_ring(void)
{
	check_context.subject = "ring";
	has_ring = true;
	ring.magic = 0;
	ring.head = 77;
	console_init();
	CHECK_EQ(ring.magic, BH_LOG_MAGIC);
	CHECK_EQ(ring.text_bytes, BH_LOG_TEXT_BYTES);
	CHECK_EQ(ring.head, 0);
	console_say("first %ju", UINT64_C(1));
	CHECK(!memcmp(ring.text, "unit: first 1\n", 14));
	CHECK_EQ(ring.head, 14);
	memcpy(ring.text + 14, "unit: tor", 9);
	ring.head = 23;
	statistics.restarts = 1;
	console_init(); /* another life goes on, on a line of its own */
	statistics.restarts = 0;
	CHECK(!memcmp(ring.text + 14, "unit: tor\n", 10));
	CHECK_EQ(ring.head, 24);
	for (unsigned n = 0; n < 2 * BH_LOG_TEXT_BYTES / 14; n++)
		console_report("first %ju", UINT64_C(1));
	for (unsigned n = 0; n < 14; n++)
		CHECK_EQ(ring.text[(ring.head - 14 + n) % BH_LOG_TEXT_BYTES], (uint8_t)"unit: first 1\n"[n]);
	CHECK(!console_has_uart() && !console_count_interrupts(3));
	CHECK_EQ(console_uart_found(), 0);
}

static void type(const char *text)
{
	typed = text;
	interrupt(NULL);
	CHECK(fake_cpu.enabled);
	command_read_input();
}

static void expect_typed(const char *text, const char *echoed, const char *expected)
{
	check_context.subject = text;
	ran[0] = '\0';
	sent_length = 0;
	sent[0] = '\0';
	refusals = *echoed ? 5 : 0;
	type(text);
	CHECK(!strcmp(ran, expected));
	CHECK(!strcmp(sent, echoed));
	CHECK(!refusals);
}

/* What the UART shows the terminal shows, too, and either is typed at; further cores do not look there. */
static void test_terminal(void)
{
	check_context.subject = "terminal";
	has_terminal = true;
	memset(shown, 0, sizeof(shown));
	flushes = 0;
	console_say("both");
	CHECK(!strcmp(shown, "unit: both\n"));
	memset(shown, 0, sizeof(shown));
	is_full = true;
	console_say("lost");
	console_report("lost, too");
	CHECK(!*shown);
	is_full = false;
	typed_there = "one=7\r";
	fake_cpu.slot = 1;
	CHECK(!console_has_input());
	fake_cpu.slot = 0;
	CHECK(console_has_input());
	ran[0] = '\0';
	command_read_input();
	CHECK(!strcmp(ran, "one(7:1:7,0,0)"));
	CHECK(!strcmp(shown, "one=7\nunit> "));
	CHECK(flushes);
	CHECK(fake_cpu.enabled);
	memset(shown, 0, sizeof(shown));
	console_report("quiet"); /* somebody types */
	CHECK(!*shown);
	has_terminal = false;
	console_say("one");
	CHECK(!*shown);
}

/* A line holds 159 characters. */
static void test_full_line(void)
{
	char line[300];

	memset(line, ' ', LINE_MOST);
	strcpy(line + LINE_MOST - 5, "one=12");
	for (char one[2] = "", *c = line; *c; c++) {
		one[0] = *c;
		type(one);
		sent_length = 0;
	}
	expect_typed("\r", "\r\nunit> ", "one(1:1:1,0,0)");
}

/* Against a line that is edited by hand: none is longer than there is room for. Other keys: line_edit_test.c. */
static void test_keys(void)
{
	char line[1024] = "other=", text[2] = "";
	size_t length = 6;

	type("\rother=");
	for (check_context.round = 0; check_context.round < ROUNDS; check_context.round++) {
		text[0] = below(12) ? (char)(' ' + below(224)) : '\b';
		if (text[0] == ' ')
			continue;
		type(text);
		if (text[0] == '\b' || text[0] == 0x7f)
			length -= length > 0;
		else if (text[0] > ' ' && text[0] <= '~' && length < LINE_MOST)
			line[length++] = text[0];
		sent_length = 0;
	}
	line[length] = '\0';
	ran[0] = '\0';
	command_run_arguments(line);
	strcpy(line, ran);
	ran[0] = '\0';
	type("\r");
	CHECK(!strcmp(ran, line));
}

static void test_uart(void)
{
	char flood[400];
	char c;
	unsigned taken = 0;

	check_context.subject = "UART";
	memcpy(page.grants, devices, sizeof(devices));
	page.grant_count = 2;
	console_init();
	CHECK(!console_has_uart());
	page.grant_count = 3;
	console_init();
	CHECK(chosen == &page.grants[2]);
	CHECK_EQ(console_uart_found(), 7);
	statistics.restarts = 1;
	console_init();
	statistics.restarts = 0;
	console_say("both");
	CHECK(!strcmp(sent, "\r\nunit: both\r\n"));
	sent_length = 0;
	sent[0] = '\0';
	CHECK(console_count_interrupts(5));
	CHECK(!strcmp(sent, ".....\r\n"));
	CHECK(!console_has_input() && !console_get(&c));
	expect_typed("one=5\r", "one=5\r\nunit> ", "one(5:1:5,0,0)");
	expect_typed("on\t=5\r", "one=5\r\nunit> ", "one(5:1:5,0,0)");
	expect_typed("\x03k\t\x03", "^C\r\nunit> kernel^C\r\nunit> ", "");
	expect_typed("onx\be=2\n", "onx\b \be=2\r\nunit> ", "one(2:1:2,0,0)");
	expect_typed("\b\x7f\x01\x80", "", "");
	refusals = 0;
	sent_length = 0;
	console_report("quiet");
	CHECK_EQ(sent_length, 0); /* somebody types */
	memset(flood, 'y', sizeof(flood) - 1);
	flood[sizeof(flood) - 1] = '\0';
	typed = flood;
	interrupt(NULL);
	while (console_get(&c))
		taken++;
	CHECK_EQ(taken, 256); /* typed faster than read: dropped */
}

static void come(const char *text)
{
	typed = text;
	if (!masked)
		interrupt(NULL);
}

static void unmask(void)
{
	unmasks->waits = false;
	unmasks->fire(unmasks, NULL);
	CHECK(!masked);
	if (*typed)
		interrupt(NULL);
}

static void expect_char(char expected)
{
	char c = '\0';

	CHECK(console_get(&c));
	CHECK_EQ(c, expected);
}

/* What comes while it is masked waits in the UART, and is served when that ends: reception goes on, however often this is so. */
static void test_masked(void)
{
	char c;

	check_context.subject = "masked";
	console_limit(DISTANCE);
	come("b"); /* within the distance of test_limit's */
	for (check_context.round = 0; check_context.round < 10; check_context.round++) {
		CHECK(masked && !*typed);
		expect_char('b');
		come("b");
		CHECK(*typed && !console_get(&c));
		unmask(); /* there it is, and too early once more */
	}
	check_context.round = 0;
	unmask();
	expect_char('b');
	console_limit(0);
}

/* Who sends dots is not masked: that would have to be waited for. */
static void test_limited_dots(void)
{
	check_context.subject = "dots";
	console_limit(DISTANCE);
	sent_length = 0;
	sent[0] = '\0';
	CHECK(!console_count_interrupts(0) && !console_count_interrupts(3));
	CHECK_EQ(sent_length, 0);
	console_limit(0);
	CHECK(console_count_interrupts(3));
	CHECK(!strcmp(sent, "...\r\n"));
}

/* A flood: the UART is masked at itself, and not again while it is, until it may interrupt once more. What came before is served. */
static void test_limit(void)
{
	const uint64_t began = arch_counter() + DISTANCE;
	uint64_t count, times;
	char c;

	check_context.subject = "rate";
	console_limit(DISTANCE);
	typed = "a";
	interrupt(NULL);
	CHECK(!masked);
	typed = "b";
	interrupt(NULL);
	CHECK(masked);
	CHECK(unmasks_at > began && unmasks_at <= arch_counter() + DISTANCE);
	CHECK(console_get(&c) && c == 'a' && console_get(&c) && c == 'b');
	interrupt(NULL); /* the transmitter's, which is not masked */
	console_count(&count, &times);
	CHECK_EQ(times, 2);
	unmask();
	console_limit(0);
	interrupt(NULL);
	CHECK(!masked);
}

int main(void)
{
	test_ring();
	test_commands();
	test_uart();
	test_terminal();
	test_full_line();
	test_keys();
	test_limit();
	test_masked();
	test_limited_dots();
	return 0;
}
