/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ticks of the counter and nanoseconds (clock.h). */
#include "kernel/core/clock.h"

/* Factors have 30 binary places: a conversion is a multiplication, and clocks up to 17 GHz fit. */
enum { PLACES = 30 };
#define NS_PER_S   1000000000ULL
#define NS_PER_US  1000ULL
#define LONGEST_US (UINT64_MAX / NS_PER_US / 32) /* 18 years: no clock that fits has more ticks than 64 bits then */

static uint64_t ns_per_tick;
static uint64_t ticks_per_ns;

/* The product has 128 bits, for which not every machine has a type: halves are multiplied as at school. */
static uint64_t multiply(uint64_t value, uint64_t factor)
{
	uint64_t value_high = value >> 32, value_low = (uint32_t)value;
	uint64_t factor_high = factor >> 32, factor_low = (uint32_t)factor;
	uint64_t middle = value_high * factor_low + value_low * factor_high;

	return (value_high * factor_high << (64 - PLACES)) + (middle << (32 - PLACES)) + (value_low * factor_low >> PLACES);
}

void clock_init(uint64_t hz)
{
	ns_per_tick = (NS_PER_S << PLACES) / hz;
	ticks_per_ns = (hz << PLACES) / NS_PER_S;
}

uint64_t clock_to_ns(uint64_t ticks)
{
	return multiply(ticks, ns_per_tick);
}

uint64_t clock_from_ns(uint64_t ns)
{
	return multiply(ns, ticks_per_ns);
}

uint64_t clock_from_us(uint64_t us)
{
	return us <= LONGEST_US ? clock_from_ns(us * NS_PER_US) : UINT64_MAX;
}
