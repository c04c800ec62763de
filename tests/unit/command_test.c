/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F4.programs. Whose command a word is: the program's before what else it has, and that before the kernel's. kernel/core/command.c. */
#include "kernel/core/command.h"

#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "kernel/core/console.h"
#include "kernel/core/info.h"

enum owner { NOBODY, PROGRAM, OTHER, KERNEL };

static enum owner ran;
static struct command_line given;
static unsigned complaints;
static const char *complaint; /* the last one */
const struct bh_info *info;

static void note(enum owner owner, const struct command_line *line)
{
	CHECK_EQ(ran, NOBODY);
	ran = owner;
	given = *line;
}

static void of_program(const struct command_line *line)
{
	note(PROGRAM, line);
}

static void of_kernel(const struct command_line *line)
{
	note(KERNEL, line);
}

const struct command program_commands[] = { { "both", 0, of_program }, { "two", 2, of_program }, { NULL, 0, NULL } };
const struct command kernel_commands[] = {
	{ "both", 0, of_kernel }, { "two", 1, of_kernel }, { "other", 0, of_kernel }, { "one", 1, of_kernel }, { NULL, 0, NULL },
};

bool command_run_other(const char *name, const struct command_line *line)
{
	if (strcmp(name, "other") != 0 || !line->operands)
		return false;
	note(OTHER, line);
	return true;
}

void console_say(const char *format, ...)
{
	va_list arguments;

	complaints++;
	va_start(arguments, format);
	complaint = va_arg(arguments, const char *);
	va_end(arguments);
}

void console_echo(const char *format, ...) {}

bool console_get(char *c)
{
	return false;
}

static enum owner owner_of(const char *word)
{
	check_context.subject = word;
	ran = NOBODY;
	complaints = 0;
	command_run_arguments(word);
	CHECK_EQ(complaints, ran == NOBODY);
	return ran;
}

int main(void)
{
	CHECK_EQ(owner_of("both"), PROGRAM);
	CHECK_EQ(owner_of("other=1"), OTHER);
	CHECK_EQ(owner_of("one=1"), KERNEL);
	CHECK_EQ(owner_of("none"), NOBODY);

	/* With too few operands for one it may be the next one's. */
	CHECK_EQ(owner_of("two=1,0x2"), PROGRAM);
	CHECK_EQ(given.operands, 2);
	CHECK_EQ(given.operand[1], 2);
	CHECK_EQ(owner_of("two=1"), KERNEL);
	CHECK_EQ(owner_of("two"), NOBODY);
	CHECK(!strcmp(complaint, "too few operands, see help"));
	CHECK_EQ(owner_of("one"), NOBODY);
	CHECK(!strcmp(complaint, "too few operands, see help"));
	CHECK_EQ(owner_of("tw"), NOBODY);
	CHECK(!strcmp(complaint, "no such command"));
	CHECK_EQ(owner_of("other"), KERNEL);
	CHECK_EQ(owner_of("one=x"), NOBODY);

	/* A number that 64 bits do not hold is none, wherever it stands: nobody goes on with half of what was meant. */
	CHECK_EQ(owner_of("one=18446744073709551615"), KERNEL);
	CHECK_EQ(given.operand[0], UINT64_MAX);
	CHECK_EQ(owner_of("one=18446744073709551616"), NOBODY);
	CHECK_EQ(owner_of("one=1,0x10000000000000000"), NOBODY);
	CHECK_EQ(owner_of("one=1,x"), KERNEL);
	CHECK_EQ(owner_of("one=1,2,3,18446744073709551616"), KERNEL); /* nobody looks at it */
	return 0;
}
