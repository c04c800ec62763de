/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I8.bounded. arch/words.h: every word of a range and none beside it, whatever part of them the architecture does at once. */
#include "arch/words.h"

#include "check.h"

enum { MOST = 200, BEFORE = 3, ALL = BEFORE + MOST + 3 };
#define MARK UINT64_C(0x5a5a5a5a5a5a5a5a)

static uint64_t memory[ALL], source[MOST];

static uint64_t *marked(void)
{
	for (size_t n = 0; n < ALL; n++)
		memory[n] = MARK;
	return memory + BEFORE;
}

/* `step` apart, in rounds of `round`. */
static void check_words(size_t words, uint64_t first, uint64_t step, size_t round)
{
	check_context.round = words;
	for (size_t n = 0; n < ALL; n++)
		CHECK_EQ(memory[n], n - BEFORE < words ? first + (n - BEFORE) % round * step : MARK);
}

int main(void)
{
	const uint64_t pattern[ARCH_PATTERN_WORDS] = { 7, 8, 9, 10 };

	for (size_t n = 0; n < MOST; n++)
		source[n] = 1000 + n;
	for (size_t words = 0; words <= MOST; words++) {
		words_fill(marked(), words, 42);
		check_words(words, 42, 0, 1);
		words_repeat(marked(), words, pattern);
		check_words(words, 7, 1, ARCH_PATTERN_WORDS);
		words_copy(marked(), source, words);
		check_words(words, 1000, 1, MOST);
	}
	return 0;
}
