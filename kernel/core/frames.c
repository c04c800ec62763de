/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bit for each free frame, and above it levels of bits, one for each word that is not 0. The lowest free frame is found by one look at a
 * word of each level.
 *
 *   level 2    [.....11.]                            one word for 64 of level 1
 *   level 1    [..1..1..] [.1......]                 one bit for each word of level 0 that is not 0
 *   level 0    [.11.1...] [...1....] ...             one bit for each frame: free
 *   owner      one byte for each frame
 */
#include "kernel/core/frames.h"

#include <stddef.h>

#include "kernel/core/lock.h"

enum { WORD_SHIFT = 6, WORD_BITS = 1 << WORD_SHIFT, LEVELS = 4 };
_Static_assert((uint64_t)FRAMES_MOST <= 1ULL << (LEVELS * WORD_SHIFT), "the last level has one word");

static struct {
	uint64_t base, count;   /* address of the first frame; frames */
	uint64_t *bits[LEVELS]; /* [0]: free frames; [n]: words of the level below that are not 0 */
	uint8_t *owner;
	uint64_t free;
	struct lock lock;
} frames;

static uint64_t words_for(uint64_t bits)
{
	return (bits + WORD_BITS - 1) >> WORD_SHIFT;
}

/* ---- Bits --------------------------------------------------------------------------------------------------------- */

static bool is_free(uint64_t n)
{
	return frames.bits[0][n >> WORD_SHIFT] >> n % WORD_BITS & 1;
}

static void set_free(uint64_t n)
{
	for (unsigned level = 0; level < LEVELS; level++, n >>= WORD_SHIFT)
		frames.bits[level][n >> WORD_SHIFT] |= 1ULL << n % WORD_BITS;
}

/* A level changes only where the word below has become 0. */
static void set_taken(uint64_t n)
{
	for (unsigned level = 0; level < LEVELS; level++, n >>= WORD_SHIFT) {
		uint64_t *word = &frames.bits[level][n >> WORD_SHIFT];

		*word &= ~(1ULL << n % WORD_BITS);
		if (*word)
			return;
	}
}

/* Requires: some frame is free. */
static uint64_t lowest_free(void)
{
	uint64_t n = 0;

	for (unsigned level = LEVELS; level-- > 0;)
		n = n << WORD_SHIFT | (unsigned)__builtin_ctzll(frames.bits[level][n]);
	return n;
}

/* The first frame from `n` on that is free, or, for `taken`, that is not; frames.count if there is none. */
static uint64_t next(uint64_t n, bool taken)
{
	const uint64_t flip = taken ? ~0ULL : 0;

	while (n < frames.count) {
		uint64_t word = (frames.bits[0][n >> WORD_SHIFT] ^ flip) >> n % WORD_BITS;

		if (word) {
			n += (unsigned)__builtin_ctzll(word);
			break;
		}
		n = (n | (WORD_BITS - 1)) + 1;
	}
	return n < frames.count ? n : frames.count;
}

/* ---- Runs --------------------------------------------------------------------------------------------------------- */

static void take(uint64_t first, uint64_t count, unsigned owner)
{
	for (uint64_t n = first; n < first + count; n++) {
		set_taken(n);
		frames.owner[n] = (uint8_t)owner;
	}
	frames.free -= count;
}

static bool all_have(uint64_t first, uint64_t count, unsigned owner)
{
	for (uint64_t n = first; n < first + count; n++)
		if (frames.owner[n] != owner)
			return false;
	return true;
}

/* The lowest frame that a run begins at; frames.count if none does. Each round ends a run of free frames, or a step of the alignment. */
static uint64_t find_run(uint64_t count, uint64_t alignment)
{
	const uint64_t offset = frames.base >> FRAME_SHIFT;

	for (uint64_t n = next(0, false); n < frames.count;) {
		uint64_t aligned = ((n + offset + alignment - 1) & ~(alignment - 1)) - offset;
		uint64_t end = next(n, true);

		if (aligned < end && end - aligned >= count)
			return aligned;
		n = next(end, false);
	}
	return frames.count;
}

static uint64_t address_of(uint64_t n)
{
	return frames.base + (n << FRAME_SHIFT);
}

/* Whole lines: it is most of what a page table costs. */
static void clear(uint64_t address, uint64_t bytes)
{
	enum { WORDS = 8 };
	uint64_t *const end = (uint64_t *)(uintptr_t)(address + bytes);

	for (uint64_t *word = (uint64_t *)(uintptr_t)address; word < end; word += WORDS)
		for (unsigned n = 0; n < WORDS; n++)
			word[n] = 0;
}

/* Whether [address, address + size) lies in the frames, and then in *first and *count by which. */
static bool span(uint64_t address, uint64_t size, uint64_t *first, uint64_t *count)
{
	uint64_t offset = address - frames.base, bytes = frames.count << FRAME_SHIFT;

	if (!size || address < frames.base || offset >= bytes || size > bytes - offset)
		return false;
	*first = offset >> FRAME_SHIFT;
	*count = ((offset + size - 1) >> FRAME_SHIFT) - *first + 1;
	return true;
}

static bool is_owner(unsigned owner)
{
	return owner != FRAME_FREE && owner < FRAME_OWNERS;
}

/* ---- Interface ---------------------------------------------------------------------------------------------------- */

/* Lays the notes at `at`, which take less than they are about. Returns where they end. */
static uint64_t lay_notes(uint64_t at)
{
	uint64_t bits = frames.count;

	for (unsigned level = 0; level < LEVELS; level++) {
		frames.bits[level] = (uint64_t *)(uintptr_t)at;
		bits = words_for(bits);
		at += bits * sizeof(uint64_t);
	}
	frames.owner = (uint8_t *)(uintptr_t)at;
	return at + words_for(frames.count) * WORD_BITS; /* whole words */
}

/* A level whose words are full but the last. */
static void fill(uint64_t *word, uint64_t bits)
{
	for (; bits >= WORD_BITS; bits -= WORD_BITS)
		*word++ = ~0ULL;
	if (bits)
		*word = (1ULL << bits) - 1;
}

bool frames_init(uint64_t start, uint64_t end)
{
	uint64_t base = (start + FRAME_BYTES - 1) & -(uint64_t)FRAME_BYTES, notes_end;

	frames.base = base;
	frames.count = 0;
	frames.free = 0;
	if (base > end || end - base < FRAME_BYTES || (end - base) >> FRAME_SHIFT > FRAMES_MOST)
		return false;
	frames.count = (end - base) >> FRAME_SHIFT;
	notes_end = lay_notes(base);
	clear(base, (notes_end - base + FRAME_BYTES - 1) & -(uint64_t)FRAME_BYTES);
	for (uint64_t level = 0, bits = frames.count; level < LEVELS; level++, bits = words_for(bits))
		fill(frames.bits[level], bits);
	frames.free = frames.count;
	take(0, (notes_end - base + FRAME_BYTES - 1) >> FRAME_SHIFT, FRAME_NOTES);
	return true;
}

uint64_t frames_take(unsigned owner)
{
	bool enabled = lock_take(&frames.lock);
	uint64_t address = 0;

	if (is_owner(owner) && frames.free) {
		uint64_t n = lowest_free();

		take(n, 1, owner);
		address = address_of(n);
	}
	lock_give(&frames.lock, enabled);
	if (address)
		clear(address, FRAME_BYTES);
	return address;
}

uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner)
{
	bool enabled = lock_take(&frames.lock);
	uint64_t address = 0;

	if (is_owner(owner) && count && count <= frames.free && alignment && !(alignment & (alignment - 1))) {
		uint64_t n = find_run(count, alignment);

		if (n < frames.count) {
			take(n, count, owner);
			address = address_of(n);
		}
	}
	lock_give(&frames.lock, enabled);
	if (address)
		clear(address, count << FRAME_SHIFT);
	return address;
}

bool frames_claim(uint64_t address, uint64_t size, unsigned owner)
{
	bool enabled = lock_take(&frames.lock);
	uint64_t first, count;
	bool good = is_owner(owner) && span(address, size, &first, &count) && next(first, true) >= first + count;

	if (good)
		take(first, count, owner);
	lock_give(&frames.lock, enabled);
	return good;
}

bool frames_give(uint64_t address, uint64_t count, unsigned owner)
{
	bool enabled = lock_take(&frames.lock);
	uint64_t first, covered;
	bool good = is_owner(owner) && address % FRAME_BYTES == 0 && count <= frames.count &&
		    span(address, count << FRAME_SHIFT, &first, &covered) && all_have(first, count, owner);

	if (good) {
		for (uint64_t n = first; n < first + count; n++) {
			set_free(n);
			frames.owner[n] = FRAME_FREE;
		}
		frames.free += count;
	}
	lock_give(&frames.lock, enabled);
	return good;
}

unsigned frames_owner(uint64_t address)
{
	uint64_t first, count;

	return span(address, 1, &first, &count) ? frames.owner[first] : FRAME_OWNERS;
}

uint64_t frames_free(void)
{
	bool enabled = lock_take(&frames.lock);
	uint64_t count = frames.free;

	lock_give(&frames.lock, enabled);
	return count;
}

uint64_t frames_rest(uint64_t *end)
{
	bool enabled = lock_take(&frames.lock);
	uint64_t n = frames.count;

	while (n && is_free(n - 1))
		n = frames.bits[0][(n - 1) >> WORD_SHIFT] == ~0ULL ? (n - 1) & -(uint64_t)WORD_BITS : n - 1;
	lock_give(&frames.lock, enabled);
	*end = address_of(frames.count);
	return address_of(n);
}
