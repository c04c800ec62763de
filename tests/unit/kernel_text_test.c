/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F4.programs. What the sandbox kernel makes of text, against the host's C library, and of ticks, against wider arithmetic.
 * kernel/core/{text,clock}.c
 */
#include <string.h>

#include "check.h"
#include "kernel/core/clock.h"
#include "kernel/core/text.h"
#include "random.h"

enum { ROUNDS = 10000 };

static char said[256];
static size_t length;

static void put(char c)
{
	CHECK(length < sizeof(said) - 1);
	said[length++] = c;
	said[length] = '\0';
}

static void format(const char *form, ...)
{
	va_list arguments;

	length = 0;
	va_start(arguments, form);
	text_format(put, form, arguments);
	va_end(arguments);
}

static void test_format(void)
{
	char expected[256];

	for (check_context.round = 0; check_context.round < ROUNDS; check_context.round++) {
		uint64_t a = random_u64() >> below(64), b = random_u64() >> below(64);

		format("%s=%ju, 0x%jx%c%%", "name", a, b, '!');
		snprintf(expected, sizeof(expected), "%s=%ju, 0x%jx%c%%", "name", (uintmax_t)a, (uintmax_t)b, '!');
		CHECK(!strcmp(said, expected));
	}
	format("%ju %jx", UINT64_C(0), UINT64_MAX);
	CHECK(!strcmp(said, "0 ffffffffffffffff"));
}

static void test_numbers(void)
{
	static const struct {
		const char *text, *rest;
		uint64_t value;
		bool number;
	} rows[] = {
		{ "0", "", 0, true },
		{ "007,8", ",8", 7, true },
		{ "18446744073709551615", "", UINT64_MAX, true },
		{ "0xDEADbeefg", "g", 0xdeadbeef, true },
		{ "0x", "0x", 0, false },
		{ "0xg", "0xg", 0, false },
		{ "", "", 0, false },
		{ "x1", "x1", 0, false },
		{ "-1", "-1", 0, false },
		{ "12a", "a", 12, true },
		{ "0xffffffffffffffff", "", UINT64_MAX, true },
		{ "18446744073709551616", "18446744073709551616", 0, false },
		{ "99999999999999999999", "99999999999999999999", 0, false },
		{ "0x10000000000000000", "0x10000000000000000", 0, false },
	};

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const char *cursor = rows[n].text;
		uint64_t value = 99;

		check_context.subject = rows[n].text;
		CHECK_EQ(text_parse_number(&cursor, &value), rows[n].number);
		CHECK(!strcmp(cursor, rows[n].rest));
		CHECK_EQ(value, rows[n].number ? rows[n].value : 99);
	}
	CHECK(text_equal("", "") && text_equal("abc", "abc"));
	CHECK(!text_equal("abc", "ab") && !text_equal("ab", "abc") && !text_equal("abc", "abd"));
}

/* Off by less than a part in 2^20 and one tick, over any span. */
static void test_clock(uint64_t hz)
{
	check_context.subject = "clock";
	clock_init(hz);
	for (check_context.round = 0; check_context.round < ROUNDS; check_context.round++) {
		uint64_t ticks = random_u64() >> (8 + below(50));
		unsigned __int128 ns = (unsigned __int128)ticks * 1000000000 / hz, found = clock_to_ns(ticks);
		unsigned __int128 back = (unsigned __int128)ticks * hz / 1000000000, found_back = clock_from_ns(ticks);

		if (ns >> 63 == 0)
			CHECK(found <= ns && ns - found <= (ns >> 20) + 1);
		if (back >> 63 == 0)
			CHECK(found_back <= back && back - found_back <= (back >> 20) + 1);
	}
}

static void test_spans(void)
{
	check_context.subject = "spans";
	clock_init(1000000000);
	CHECK_EQ(clock_from_us(5), clock_from_ns(5000));
	clock_init(17000000000);
	CHECK_EQ(clock_from_us(UINT64_MAX / 32000), clock_from_ns(UINT64_MAX / 32000 * 1000));
	CHECK(clock_from_us(UINT64_MAX / 32000) > UINT64_MAX / 2);
	CHECK_EQ(clock_from_us(UINT64_MAX / 32000 + 1), UINT64_MAX);
	CHECK_EQ(clock_from_us(UINT64_MAX / 1000 + 1), UINT64_MAX);
	CHECK_EQ(clock_from_us(UINT64_MAX), UINT64_MAX);
}

int main(void)
{
	test_format();
	test_numbers();
	test_clock(62500000);
	test_clock(1000000000);
	test_clock(2793437000);
	test_spans();
	return 0;
}
