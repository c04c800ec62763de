/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. The line editor of the sandbox kernel's console, by random keys: after each the line is that of a plain model, and a
 * terminal shows it, with its cursor at the right place. kernel/core/line_edit.c
 */
#include "kernel/core/line_edit.h"

#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "kernel/core/console.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"
#include "random.h"

enum { KEYS = 100000, MOST = LINE_EDIT_BYTES - 1, WIDTH = 512, PROMPT = 6 };

static struct bh_info page = { .name = "unit" };
const struct bh_info *info = &page;

/* ---- Terminal: its last row ---------------------------------------------------------------------------------------- */

static char row[WIDTH];
static size_t column;
static unsigned bells, rows, escaped;

static void clear_row(void)
{
	memset(row, ' ', sizeof(row));
	column = 0;
	rows++;
}

static void show(char c)
{
	if (escaped) {
		escaped = c != 'H' && c != 'J';
		if (c == 'J')
			clear_row();
	} else if (c == '\x1b') {
		escaped = 1;
	} else if (c == '\b') {
		CHECK(column-- > 0);
	} else if (c == '\n') {
		clear_row();
	} else if (c == '\a') {
		bells++;
	} else {
		CHECK(c >= ' ' && c <= '~' && column < WIDTH - 1);
		row[column++] = c;
	}
}

void console_echo(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_format(show, format, arguments);
	va_end(arguments);
}

/* ---- Model --------------------------------------------------------------------------------------------------------- */

static char model[MOST + 1], draft[MOST + 1], kept[KEYS][MOST + 1];
static size_t at;
static unsigned kept_count, back;

static void set(const char *text)
{
	strcpy(model, text);
	at = strlen(model);
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " ")];
}

static void remember(void)
{
	if (!is_blank(model) && (!kept_count || strcmp(kept[kept_count - 1], model)))
		strcpy(kept[kept_count++], model);
	back = 0;
	set("");
}

static void recall(unsigned ago)
{
	if (!back)
		strcpy(draft, model);
	back = ago;
	set(ago ? kept[kept_count - ago] : draft);
}

static void erase(size_t from, size_t to)
{
	memmove(model + from, model + to, strlen(model + to) + 1);
	at = from;
}

static void put(char c)
{
	size_t length = strlen(model);

	if (length == MOST)
		return;
	memmove(model + at + 1, model + at, length - at + 1);
	model[at++] = c;
}

static size_t word_start(void)
{
	size_t start = at;

	while (start && model[start - 1] == ' ')
		start--;
	while (start && model[start - 1] != ' ')
		start--;
	return start;
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static const char *nth(unsigned n)
{
	static const char *const names[] = { "vcpu", "vcpus", "set", "start", "stop", "start", NULL };

	return names[n];
}

static bool type(const char *keys)
{
	bool complete = false;

	for (; *keys; keys++) {
		CHECK(!complete);
		complete = line_edit_take(*keys, nth);
	}
	return complete;
}

/* What a key does to the model: the name is its first sequence, others mean the same. */
enum key { UP, DOWN, RIGHT, LEFT, HOME, END, DELETE, BACKSPACE, TO_BEGIN, TO_END, WORD, CLEAR, GIVE_UP, ENTER, NOTHING };
static const struct {
	enum key key;
	const char *sequence;
} keys[] = {
	{ UP, "\x1b[A" },
	{ UP, "\x1bOA" },
	{ UP, "\x10" },
	{ DOWN, "\x1b[B" },
	{ DOWN, "\x1bOB" },
	{ DOWN, "\x0e" },
	{ RIGHT, "\x1b[C" },
	{ RIGHT, "\x1bOC" },
	{ RIGHT, "\x06" },
	{ RIGHT, "\x1b[1;5C" },
	{ LEFT, "\x1b[D" },
	{ LEFT, "\x1bOD" },
	{ LEFT, "\x02" },
	{ HOME, "\x1b[H" },
	{ HOME, "\x1b[1~" },
	{ HOME, "\x1b[7~" },
	{ HOME, "\x01" },
	{ HOME, "\x1bOH" },
	{ END, "\x1b[F" },
	{ END, "\x1b[4~" },
	{ END, "\x1b[8~" },
	{ END, "\x05" },
	{ END, "\x1bOF" },
	{ DELETE, "\x1b[3~" },
	{ DELETE, "\x04" },
	{ BACKSPACE, "\b" },
	{ BACKSPACE, "\x7f" },
	{ TO_BEGIN, "\x15" },
	{ TO_END, "\x0b" },
	{ WORD, "\x17" },
	{ CLEAR, "\x0c" },
	{ GIVE_UP, "\x03" },
	{ ENTER, "\r" },
	{ ENTER, "\n" },
	{ ENTER, "\x1b\r" },
	{ ENTER, "\x1b[3\r" },
	{ NOTHING, "\x1b[[A" },
	{ NOTHING, "\x1b[15~" },
	{ NOTHING, "\x1bx" },
	{ NOTHING, "\x80" },
	{ NOTHING, "\xc3\xa4" },
	{ NOTHING, "\x1b[3\x80" },
	{ NOTHING, "\x1b[33333333333333333333~" },
	{ NOTHING, "\x1b[?25h" },
	{ NOTHING, "\x1b\x1b\x80" },
	{ NOTHING, "\x1bO\x80" },
	{ NOTHING, "\x1bOP" },
	{ NOTHING, "\x1b[E" },
	{ NOTHING, "\x1b[G" },
	{ NOTHING, "\x1b[;3~" },
	{ LEFT, "\x1b[\x1b[D" },
	{ HOME, "\x1b[3\x01" },
	{ NOTHING, "\x1b[0~" },
	{ NOTHING, "\x1b[9~" },
	{ NOTHING, "\x1f" },
	{ NOTHING, "\x1b[@" },
	{ NOTHING, "\x1b[12~" },
	{ DELETE, "\x1b[3;5~" },
	{ NOTHING, "\x1b[I" },
};

static void do_history(enum key key)
{
	if (key == UP && back < kept_count && back < LINE_EDIT_LINES)
		recall(back + 1);
	if (key == DOWN && back)
		recall(back - 1);
}

static void do_motion(enum key key)
{
	size_t length = strlen(model);

	at = key == HOME ? 0 : key == END ? length : key == LEFT ? at - (at > 0) : at + (at < length);
}

static void do_removal(enum key key)
{
	size_t length = strlen(model);

	if (key == DELETE && at < length)
		erase(at, at + 1);
	else if (key == BACKSPACE && at)
		erase(at - 1, at);
	else if (key == TO_BEGIN)
		erase(0, at);
	else if (key == TO_END)
		erase(at, length);
	else if (key == WORD)
		erase(word_start(), at);
}

static void do_key(enum key key)
{
	if (key == UP || key == DOWN)
		do_history(key);
	else if (key <= END)
		do_motion(key);
	else if (key <= WORD)
		do_removal(key);
	else if (key == GIVE_UP) {
		back = 0;
		set("");
	}
}

static void check_row(void)
{
	size_t length = strlen(model);

	CHECK(!strcmp(line_edit_text(), model));
	CHECK(!memcmp(row, "unit> ", PROMPT) && !memcmp(row + PROMPT, model, length));
	CHECK_EQ(column, PROMPT + at);
	for (size_t n = PROMPT + length; n < WIDTH; n++)
		CHECK_EQ(row[n], ' ');
}

static void press(unsigned n)
{
	static char name[20];

	snprintf(name, sizeof(name), "key %u", n); /* some of the sequences are no text */
	check_context.subject = name;
	if (keys[n].key != ENTER) {
		CHECK(!type(keys[n].sequence));
		do_key(keys[n].key);
		return;
	}
	CHECK(type(keys[n].sequence));
	CHECK(!strcmp(line_edit_text(), model));
	remember();
	line_edit_begin();
}

static void press_character(void)
{
	char text[2] = { (char)(below(3) ? ' ' + below(95) : ' '), '\0' };
	unsigned before = bells;

	check_context.subject = "a character";
	CHECK(!type(text));
	CHECK_EQ(bells - before, strlen(model) == MOST);
	put(text[0]);
}

/* Long lines and short ones, by turns. */
static void check_random_keys(void)
{
	for (check_context.round = 0; check_context.round < KEYS; check_context.round++) {
		bool filling = check_context.round / 1000 % 2;

		if (below(filling ? 40 : 3))
			press_character();
		else
			press((unsigned)below(sizeof(keys) / sizeof(keys[0])));
		check_row();
	}
	CHECK(kept_count > 100);
}

/* Whatever comes, it stays in bounds, and the next key finds a line. */
static void check_junk(void)
{
	check_context.subject = "junk";
	for (unsigned n = 0; n < KEYS; n++)
		if (line_edit_take((char)below(256), nth))
			line_edit_begin();
	CHECK(type("\x03\r"));
	line_edit_begin();
	set("");
	check_row();
}

static void expect(const char *typed, const char *shown, unsigned bells_rung, unsigned rows_shown)
{
	unsigned bells_before = bells, rows_before = rows;

	check_context.subject = typed;
	CHECK(!type(typed));
	set(shown);
	check_row();
	CHECK_EQ(bells - bells_before, bells_rung);
	CHECK_EQ(rows - rows_before, rows_shown);
	CHECK(!type("\x03"));
	set("");
}

static void check_completion(void)
{
	expect("x\t", "x", 1, 0);
	expect("se\t", "set", 0, 0);
	expect("set\t", "set", 1, 0);
	expect("v\t", "vcpu", 0, 0);
	expect("vcpu\t", "vcpu", 0, 2); /* lists both, and the line again */
	expect("set sta\t", "set start", 0, 0);
	expect("sta\tx", "startx", 0, 0);
	expect("set=v\t", "set=v", 1, 0);
	expect("\t", "", 0, 2);
}

static void check_history(void)
{
	CHECK(type("first\r"));
	line_edit_begin();
	CHECK(type("first\r")); /* not twice */
	line_edit_begin();
	CHECK(type("second\r"));
	line_edit_begin();
	CHECK(type("  \r"));
	line_edit_begin();
	expect("dra\x1b[A", "second", 0, 0);
	expect("dra\x1b[A\x1b[A", "first", 0, 0);
	expect("dra\x1b[A\x1b[A\x1b[B\x1b[B", "dra", 0, 0);
	expect("\x1b[Ax\x1b[A", "first", 0, 0);
	for (char text[] = "a\r"; text[0] <= 'z'; text[0]++) {
		CHECK(type(text));
		line_edit_begin();
	}
	for (unsigned n = 1; n < LINE_EDIT_LINES; n++)
		CHECK(!type("\x1b[A"));
	expect("\x1b[A\x1b[A", "k", 1, 0); /* the last 16 letters begin with k */
}

int main(void)
{
	clear_row();
	line_edit_begin();
	expect("x\x1b[A", "x", 1, 0); /* there are no former lines yet */
	check_random_keys();
	check_junk();
	check_completion();
	check_history();
	return 0;
}
