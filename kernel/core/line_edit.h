/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Editing of the console's line, for any terminal that knows backspace; keys are those of VT100 and xterm, and of readline:
 *
 *   left, right, Ctrl-B, Ctrl-F      up, down, Ctrl-P, Ctrl-N: the last LINE_EDIT_LINES lines     Ctrl-C: another line
 *   home, end, Ctrl-A, Ctrl-E        delete, Ctrl-D; backspace                                    Ctrl-L: clear the screen
 *   Ctrl-U, Ctrl-K: to the line's beginning, end      Ctrl-W: a word      Tab: the rest of a name, or what it may be
 *
 * All other bytes that are not printable ASCII do nothing. A character for which a line has no room is refused with a bell. A terminal that
 * is narrower than the line shows it wrongly, and it is read rightly. The main program's alone.
 */
#pragma once
#include <stdbool.h>

enum { LINE_EDIT_BYTES = 160 /* with the end of the string */, LINE_EDIT_LINES = 16 };

/* Returns the nth name that Tab completes, from 0 on, or NULL after the last. */
typedef const char *line_edit_name(unsigned n);

/* An empty line, with a prompt. */
void line_edit_begin(void);

/* Takes what was typed. Returns whether the line is complete: then it is line_edit_text() until line_edit_begin. */
bool line_edit_take(char c, line_edit_name *name);

const char *line_edit_text(void);
