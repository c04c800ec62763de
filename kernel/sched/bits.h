/* SPDX-License-Identifier: Apache-2.0 */
/* A set of small numbers, of which the first is found at once: a bit for each, and one for each word of 64 that is not empty. */
#pragma once
#include <stdint.h>

enum { BITS_WORD = 64, BITS_MOST = BITS_WORD * BITS_WORD };
#define BITS_WORDS(most) (((most) + BITS_WORD - 1) / BITS_WORD)

/* Numbers below BITS_MOST; `words` has BITS_WORDS of them, all zero at first. */
struct bits {
	uint64_t filled;
	uint64_t *words;
};

static inline void bits_add(struct bits *bits, unsigned number)
{
	bits->words[number / BITS_WORD] |= 1ULL << number % BITS_WORD;
	bits->filled |= 1ULL << number / BITS_WORD;
}

static inline void bits_remove(struct bits *bits, unsigned number)
{
	uint64_t *word = &bits->words[number / BITS_WORD];

	*word &= ~(1ULL << number % BITS_WORD);
	if (!*word)
		bits->filled &= ~(1ULL << number / BITS_WORD);
}

/* Requires: the set is not empty (`filled`). */
static inline unsigned bits_first(const struct bits *bits)
{
	unsigned word = (unsigned)__builtin_ctzll(bits->filled);

	return word * BITS_WORD + (unsigned)__builtin_ctzll(bits->words[word]);
}
