/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look random and are the same in every run: splitmix64 (Steele, Lea, Flood 2014). */
#pragma once
#include <stdint.h>

static uint64_t random_state;

static inline uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline uint64_t below(uint64_t bound)
{
	return random_u64() % bound;
}
