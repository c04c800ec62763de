/* SPDX-License-Identifier: Apache-2.0 */
/* Edits a line on a terminal, and remembers lines (line_edit.h). */
#include "kernel/core/line_edit.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/core/console.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"

enum { TAB = '\t', ESC = 0x1b, DEL = 0x7f };
#define BELL "\a"

static char line[LINE_EDIT_BYTES];
static size_t length, cursor;

/* ---- On the screen: what stands right of the cursor is written again, and backspace only moves it ---------------------- */

static void prompt(void)
{
	console_echo("%s> ", (const char *)info->name);
}

static void step_back(size_t count)
{
	while (count--)
		console_echo("\b");
}

static void show_rest(void)
{
	console_echo("%s", line + cursor);
	step_back(length - cursor);
}

static void show_all(void)
{
	prompt();
	console_echo("%s", line);
	step_back(length - cursor);
}

static void move(size_t to)
{
	for (; cursor < to; cursor++)
		console_echo("%c", line[cursor]);
	step_back(cursor - to);
	cursor = to;
}

/* ---- In the line -------------------------------------------------------------------------------------------------- */

static void insert(char c)
{
	if (length == LINE_EDIT_BYTES - 1) {
		console_echo(BELL);
		return;
	}
	for (size_t n = ++length; n > cursor; n--)
		line[n] = line[n - 1];
	line[cursor] = c;
	console_echo("%c", c);
	cursor++;
	show_rest();
}

/* Removes [from, to). */
static void cut(size_t from, size_t to)
{
	size_t count = to - from;

	move(from);
	for (size_t n = from; n + count <= length; n++)
		line[n] = line[n + count];
	length -= count;
	console_echo("%s", line + from);
	for (size_t n = 0; n < count; n++)
		console_echo(" ");
	step_back(length - from + count);
}

static void replace(const char *text)
{
	cut(0, length);
	while (*text)
		insert(*text++);
}

/* ---- History -------------------------------------------------------------------------------------------------------- */

static char lines[LINE_EDIT_LINES][LINE_EDIT_BYTES]; /* a ring */
static char draft[LINE_EDIT_BYTES];                  /* the line that was being written when a former one was asked for */
static unsigned entered;                             /* lines that were ever kept */
static unsigned back;                                /* how many lines ago; 0: the draft is edited */

static void copy(char *to, const char *from)
{
	while ((*to++ = *from++))
		;
}

static char *former(unsigned ago)
{
	return ago ? lines[(entered - ago) % LINE_EDIT_LINES] : draft;
}

static void keep(void)
{
	size_t blanks = 0;

	while (line[blanks] == ' ')
		blanks++;
	if (line[blanks] && !(entered && text_equal(former(1), line)))
		copy(lines[entered++ % LINE_EDIT_LINES], line);
}

static void recall(unsigned ago)
{
	if (ago > entered || ago > LINE_EDIT_LINES) {
		console_echo(BELL);
		return;
	}
	if (!back)
		copy(draft, line);
	back = ago;
	replace(former(ago));
}

/* ---- Completion ----------------------------------------------------------------------------------------------------- */

struct matches {
	const char *first;
	size_t common; /* how long the beginning is that all have */
	unsigned count;
};

static size_t alike(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

static bool begins(const char *name, const char *word, size_t typed)
{
	return alike(name, word) >= typed;
}

static struct matches find(line_edit_name *name, const char *word, size_t typed)
{
	struct matches found = { NULL, 0, 0 };
	const char *one;

	for (unsigned n = 0; (one = name(n)); n++) {
		if (!begins(one, word, typed))
			continue;
		if (!found.count++) {
			found.first = one;
			while (one[found.common])
				found.common++;
		} else if (alike(found.first, one) < found.common) {
			found.common = alike(found.first, one);
		}
	}
	return found;
}

static void list(line_edit_name *name, const char *word, size_t typed)
{
	const char *one;

	console_echo("\n");
	for (unsigned n = 0; (one = name(n)); n++)
		if (begins(one, word, typed))
			console_echo("%s ", one);
	console_echo("\n");
	show_all();
}

/* Of the word that ends at the cursor. */
static void complete(line_edit_name *name)
{
	size_t start = cursor, typed;
	struct matches found;

	while (start && line[start - 1] != ' ')
		start--;
	typed = cursor - start;
	found = find(name, line + start, typed);
	if (found.count > 1 && found.common == typed)
		list(name, line + start, typed);
	else if (found.count == 0 || found.common == typed)
		console_echo(BELL);
	for (size_t n = typed; n < found.common; n++)
		insert(found.first[n]);
}

/* ---- Keys ----------------------------------------------------------------------------------------------------------- */

static void key_left(void)
{
	move(cursor - (cursor > 0));
}

static void key_right(void)
{
	move(cursor + (cursor < length));
}

static void key_home(void)
{
	move(0);
}

static void key_end(void)
{
	move(length);
}

static void key_backspace(void)
{
	if (cursor)
		cut(cursor - 1, cursor);
}

static void key_delete(void)
{
	if (cursor < length)
		cut(cursor, cursor + 1);
}

static void key_up(void)
{
	recall(back + 1);
}

static void key_down(void)
{
	if (back)
		recall(back - 1);
}

static void cut_to_begin(void)
{
	cut(0, cursor);
}

static void cut_to_end(void)
{
	cut(cursor, length);
}

static void cut_word(void)
{
	size_t start = cursor;

	while (start && line[start - 1] == ' ')
		start--;
	while (start && line[start - 1] != ' ')
		start--;
	cut(start, cursor);
}

static void clear_screen(void)
{
	console_echo("\x1b[H\x1b[2J"); /* ECMA-48: CUP, ED */
	show_all();
}

static void give_up(void)
{
	console_echo("^C\n");
	line_edit_begin();
}

#define CONTROL(letter) ((letter) - '@')
static void (*const controls[' '])(void) = {
	[CONTROL('A')] = key_home,     [CONTROL('B')] = key_left,  [CONTROL('C')] = give_up,       [CONTROL('D')] = key_delete,
	[CONTROL('E')] = key_end,      [CONTROL('F')] = key_right, [CONTROL('H')] = key_backspace, [CONTROL('K')] = cut_to_end,
	[CONTROL('L')] = clear_screen, [CONTROL('N')] = key_down,  [CONTROL('P')] = key_up,        [CONTROL('U')] = cut_to_begin,
	[CONTROL('W')] = cut_word,
};

/* ---- Sequences of keys that have no byte: ECMA-48, 5.4 "Control sequences"; what xterm and the Linux console send ------ */

static enum { PLAIN, ESCAPED, SEQUENCE, SINGLE } state;
static unsigned number; /* first parameter */
static bool numbered;   /* it has ended */

static void act_by_number(void)
{
	static void (*const keys[])(void) = { [1] = key_home, [3] = key_delete, [4] = key_end, [7] = key_home, [8] = key_end };

	if (number < sizeof(keys) / sizeof(keys[0]) && keys[number])
		keys[number]();
}

static void act(char final)
{
	static void (*const keys[])(void) = { key_up, key_down, key_right, key_left, NULL, key_end, NULL, key_home };

	if (final == '~')
		act_by_number();
	else if (final >= 'A' && final <= 'H' && keys[final - 'A'])
		keys[final - 'A']();
}

static void take_parameter(char c)
{
	numbered |= c < '0' || c > '9';
	if (!numbered && number < 100)
		number = number * 10 + (unsigned)(c - '0');
}

static void begin_sequence(char c)
{
	number = 0;
	numbered = false;
	state = c == '[' ? SEQUENCE : c == 'O' ? SINGLE : PLAIN;
}

static void continue_sequence(char c)
{
	if (c >= ' ' && c < '@') {
		take_parameter(c);
	} else if (c == '[') { /* a function key of the Linux console: one more */
		state = SINGLE;
		numbered = true;
	} else {
		state = PLAIN;
		act(c);
	}
}

/* The byte after ESC O acts; that after ESC [ [ only ends. */
static void end_single(char c)
{
	state = PLAIN;
	if (!numbered)
		act(c);
}

static void take_printable(char c)
{
	switch (state) {
	case PLAIN:
		insert(c);
		break;
	case ESCAPED:
		begin_sequence(c);
		break;
	case SEQUENCE:
		continue_sequence(c);
		break;
	case SINGLE:
		end_single(c);
		break;
	}
}

/* A control ends a sequence that is not complete. */
static void take_control(char c, line_edit_name *name)
{
	state = c == ESC ? ESCAPED : PLAIN;
	if (c == DEL)
		key_backspace();
	else if (c == TAB)
		complete(name);
	else if (controls[(unsigned char)c])
		controls[(unsigned char)c]();
}

/* ---- For command.c --------------------------------------------------------------------------------------------------- */

void line_edit_begin(void)
{
	length = cursor = 0;
	line[0] = '\0';
	back = 0;
	prompt();
}

bool line_edit_take(char c, line_edit_name *name)
{
	if (c == '\r' || c == '\n') {
		state = PLAIN;
		console_echo("\n");
		keep();
		return true;
	}
	if ((unsigned char)c < ' ' || c == DEL)
		take_control(c, name);
	else if ((unsigned char)c < DEL)
		take_printable(c);
	else
		state = PLAIN;
	return false;
}

const char *line_edit_text(void)
{
	return line;
}
