/* SPDX-License-Identifier: Apache-2.0 */
/* The little the kernel needs of text: compare, parse numbers, format. No allocation, no locale, no floating point. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

bool text_equal(const char *a, const char *b);

/*
 * Reads a number (decimal, or hexadecimal after "0x") at *cursor and moves *cursor past it. false: no digit there, or
 * more than 64 bits hold; *cursor and *value are untouched.
 */
bool text_parse_number(const char **cursor, uint64_t *value);

/* %s, %c, %ju and %jx (uintmax_t, which is uint64_t everywhere), %% ; each character goes to put(). */
void text_format(void (*put)(char c), const char *format, va_list arguments);
