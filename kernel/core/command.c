/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines and runs the command that each names (command.h). The commands stand in commands.c. */
#include "kernel/core/command.h"

#include <stddef.h>

#include "kernel/core/console.h"
#include "kernel/core/line_edit.h"
#include "kernel/core/text.h"

/* Runs the command of that name. Returns false if the table has none, or the line has too few operands for it. */
static bool run_of(const struct command *command, const char *name, const struct command_line *line)
{
	for (; command->name; command++)
		if (text_equal(command->name, name) && line->operands >= command->operands) {
			command->run(line);
			return true;
		}
	return false;
}

/* Whether the table has a command of that name, however many operands that takes. */
static bool has(const struct command *command, const char *name)
{
	while (command->name && !text_equal(command->name, name))
		command++;
	return command->name != NULL;
}

/* Reads the numbers that it begins with. Returns false if something begins like a number and is none, or has more than 64 bits. */
static bool parse_operands(struct command_line *line)
{
	const char *cursor = line->text;

	while (line->operands < COMMAND_OPERANDS && text_parse_number(&cursor, &line->operand[line->operands])) {
		line->operands++;
		if (*cursor != ',')
			return true;
		cursor++;
	}
	return line->operands == COMMAND_OPERANDS || *cursor < '0' || *cursor > '9';
}

/* Cuts the word at its first "="; returns what follows. */
static const char *split(char *word)
{
	for (; *word; word++)
		if (*word == '=') {
			*word = '\0';
			return word + 1;
		}
	return word;
}

static void run_word(char *word)
{
	struct command_line line = { .text = split(word) };

	if (!parse_operands(&line))
		console_say("not a number, or more than 64 bits: %s %s", word, line.text);
	else if (!run_of(program_commands, word, &line) && !command_run_other(word, &line) && !run_of(kernel_commands, word, &line))
		console_say("%s: %s %s",
			    has(program_commands, word) || has(kernel_commands, word) ? "too few operands, see help" : "no such command",
			    word, line.text);
}

/* Copies the next word of *cursor; false: no more. A word too long is cut. */
static bool next_word(const char **cursor, char *word)
{
	const char *s = *cursor;
	size_t n = 0;

	while (*s == ' ')
		s++;
	for (; *s && *s != ' '; s++)
		if (n < COMMAND_WORD_BYTES - 1)
			word[n++] = *s;
	word[n] = '\0';
	*cursor = s;
	return n > 0;
}

void command_run_arguments(const char *arguments)
{
	char word[COMMAND_WORD_BYTES];

	while (next_word(&arguments, word))
		run_word(word);
}

/* ---- Typed lines ---------------------------------------------------------------------------------------------------- */

/* The program's, then the kernel's. */
static const char *nth_name(unsigned n)
{
	unsigned count = 0;

	while (count < n && program_commands[count].name)
		count++;
	return program_commands[count].name ? program_commands[count].name : kernel_commands[n - count].name;
}

void command_read_input(void)
{
	char c;

	while (console_get(&c))
		if (line_edit_take(c, nth_name)) {
			command_run_arguments(line_edit_text());
			line_edit_begin();
		}
}
