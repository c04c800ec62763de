/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/clock.h"

/* Factors have 30 binary places: a conversion is one multiplication, and clocks up to 17 GHz fit. */
enum { PLACES = 30 };
#define NS_PER_S 1000000000ULL

static uint64_t ns_per_tick;
static uint64_t ticks_per_ns;

static uint64_t multiply(uint64_t value, uint64_t factor)
{
	return (uint64_t)(((unsigned __int128)value * factor) >> PLACES);
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
