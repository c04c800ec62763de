/* SPDX-License-Identifier: Apache-2.0 */
/* Divides, and looks whether each quotient and its rest are right (divide.h). */
#include "probe/divide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/console.h"

static const uint64_t edges[] = {
	1,
	2,
	3,
	9,
	10,
	1000000,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	1ull << 32,
	(1ull << 32) + 1,
	0x123456789,
	1ull << 62,
	INT64_MAX,
	1ull << 63,
	UINT64_MAX - 1,
	UINT64_MAX,
	0,
};
enum { EDGES = sizeof(edges) / sizeof(edges[0]) };

/* The compiler knows neither, and the product wraps nowhere if the quotient is right: it is no more than the dividend then. */
static bool is_right(volatile uint64_t dividend, volatile uint64_t divisor)
{
	const uint64_t quotient = dividend / divisor, rest = dividend % divisor;

	return rest < divisor && quotient <= dividend && quotient * divisor == dividend - rest && rest <= dividend;
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void run_divide(const struct command_line *line)
{
	uint64_t state = 88172645463325252u, right = 0, all = 0;

	for (size_t n = 0; n < (size_t)EDGES * (EDGES - 1); n++, all++)
		right += is_right(edges[n % EDGES], edges[n / EDGES]);
	for (uint64_t n = 0; n < line->operand[0]; n++, all++) {
		const uint64_t widths = next(&state), dividend = next(&state) >> (widths & 63),
			       divisor = next(&state) >> (widths >> 6 & 63);

		right += is_right(dividend, divisor ? divisor : 1);
	}
	console_say("divide %ju of %ju right", right, all);
}
