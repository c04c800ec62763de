/* SPDX-License-Identifier: Apache-2.0 */
/* Compares and parses text (text.h). */
#include "kernel/core/text.h"

bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 99;
}

bool text_parse_number(const char **cursor, uint64_t *value)
{
	const char *s = *cursor;
	unsigned base = 10;
	uint64_t sum = 0;

	if (s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	}
	if (digit_value(*s) >= base)
		return false;
	for (; digit_value(*s) < base; s++) {
		if (sum > (UINT64_MAX - digit_value(*s)) / base)
			return false;
		sum = sum * base + digit_value(*s);
	}
	*cursor = s;
	*value = sum;
	return true;
}

static void put_number(void (*put)(char c), uint64_t value, unsigned base)
{
	char digits[20]; /* 2^64 has 20 decimal digits */
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (n)
		put(digits[--n]);
}

static void put_string(void (*put)(char c), const char *s)
{
	while (*s)
		put(*s++);
}

void text_format(void (*put)(char c), const char *format, va_list arguments)
{
	for (; *format; format++) {
		if (*format != '%') {
			put(*format);
			continue;
		}
		switch (*++format) {
		case 's':
			put_string(put, va_arg(arguments, const char *));
			break;
		case 'c':
			put((char)va_arg(arguments, int));
			break;
		case 'j': {
			uint64_t value = va_arg(arguments, uintmax_t);

			put_number(put, value, *++format == 'x' ? 16 : 10);
			break;
		}
		default:
			put(*format);
		}
	}
}
