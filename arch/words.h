/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up only: memory filled and copied in words of 8 bytes, a stretch of them a turn, as that is most of what start-up does. The
 * architecture does as many of them at once as it can (arch_words_*), from the first one on. Resident code has its own small loops.
 * `words` counts words; ranges that are copied are disjoint.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

enum { WORD_BYTES = sizeof(uint64_t), WORDS_A_TURN = 16 };

/* Fills with the pattern, again and again. */
static inline void words_repeat(uint64_t *start, size_t words, const uint64_t *pattern)
{
	for (size_t n = arch_words_repeat(start, words, pattern); n < words; n++)
		start[n] = pattern[n % ARCH_PATTERN_WORDS];
}

static inline void words_fill(uint64_t *start, size_t words, uint64_t value)
{
	const uint64_t pattern[ARCH_PATTERN_WORDS] = { value, value, value, value };
	uint64_t *end = start + words;

	start += arch_words_repeat(start, words, pattern);
	for (; (size_t)(end - start) >= WORDS_A_TURN; start += WORDS_A_TURN)
#pragma clang loop unroll(full)
		for (unsigned n = 0; n < WORDS_A_TURN; n++)
			start[n] = value;
	while (start < end)
		*start++ = value;
}

static inline void words_copy(uint64_t *restrict target, const uint64_t *restrict source, size_t words)
{
	const uint64_t *end = source + words;
	size_t done = arch_words_copy(target, source, words);

	for (target += done, source += done; (size_t)(end - source) >= WORDS_A_TURN; source += WORDS_A_TURN, target += WORDS_A_TURN)
#pragma clang loop unroll(full)
		for (unsigned n = 0; n < WORDS_A_TURN; n++)
			target[n] = source[n];
	while (source < end)
		*target++ = *source++;
}
