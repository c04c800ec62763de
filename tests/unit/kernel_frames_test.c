/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.memory. The sandbox kernel's frames against a list of owners: random takes, runs, claims and returns, right and wrong ones, and the
 * same answer and the same owners after each; zeros in what is taken, and nothing else touched. kernel/core/frames.c
 */
#include "kernel/core/frames.h"

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/lock.h"
#include "kernel_ram.h"
#include "random.h"

enum { STEPS = 10000, FRAMES = 900, OWNERS = 5, JUNK = 0x5a };
#define START (KERNEL_RAM + 0x3000) /* aligned to nothing larger than a frame */

static uint8_t model[FRAMES];
static uint64_t seen[2][5]; /* by answer and question: a run that never meets one proves nothing about it */

static uint64_t address_of(unsigned n)
{
	return START + (uint64_t)n * FRAME_BYTES;
}

static uint8_t *bytes_of(unsigned n)
{
	return (uint8_t *)address_of(n);
}

static unsigned model_free(void)
{
	unsigned count = 0;

	for (unsigned n = 0; n < FRAMES; n++)
		count += model[n] == FRAME_FREE;
	return count;
}

static bool model_has(unsigned first, uint64_t count, unsigned owner)
{
	if (first >= FRAMES || count > FRAMES - first)
		return false;
	for (unsigned n = first; n < first + count; n++)
		if (model[n] != owner)
			return false;
	return true;
}

/* FRAMES: none */
static unsigned model_find(uint64_t count, uint64_t alignment)
{
	for (unsigned n = 0; n < FRAMES; n++)
		if ((address_of(n) >> FRAME_SHIFT) % alignment == 0 && model_has(n, count, FRAME_FREE))
			return n;
	return FRAMES;
}

static void model_set(unsigned first, uint64_t count, unsigned owner)
{
	memset(model + first, (int)owner, count);
}

static void check_owners(void)
{
	for (unsigned n = 0; n < FRAMES; n++)
		CHECK_EQ(frames_owner(address_of(n) + below(FRAME_BYTES)), model[n]);
	CHECK_EQ(frames_free(), model_free());
}

/* A frame has its owner's mark all over, so what is written where nothing is taken is seen. */
static void mark(unsigned first, uint64_t count, unsigned owner)
{
	memset(bytes_of(first), (int)(JUNK + owner), count * FRAME_BYTES);
}

static void check_all(unsigned first, uint64_t count, uint8_t value)
{
	for (uint64_t n = 0; n < count; n++)
		for (unsigned byte = 0; byte < FRAME_BYTES; byte += 8)
			CHECK_EQ(*(uint64_t *)(bytes_of(first + (unsigned)n) + byte), value * 0x0101010101010101);
}

static void check_taken(uint64_t address, unsigned expected, uint64_t count, unsigned owner)
{
	CHECK_EQ(address, expected < FRAMES ? address_of(expected) : 0);
	if (expected == FRAMES)
		return;
	check_all(expected, count, 0);
	model_set(expected, count, owner);
	mark(expected, count, owner);
}

/* Mostly what somebody has; now and then a frame more, or another's. */
static bool give_some(unsigned owner)
{
	unsigned first = (unsigned)below(FRAMES), most = 1 + (unsigned)below(12);
	uint64_t count = 0;
	bool good, given;

	while (count < most && model_has(first, count + 1, owner))
		count++;
	if (!count || !below(8))
		count = below(4) ? count + 1 : (uint64_t)random_u64() >> below(64);
	good = count && model_has(first, count, owner);
	given = frames_give(address_of(first) + (below(16) ? 0 : 8), count, owner);
	if (!given)
		return false;
	CHECK(good);
	check_all(first, count, (uint8_t)(JUNK + owner));
	model_set(first, count, FRAME_FREE);
	return true;
}

static bool claim(unsigned owner)
{
	unsigned first = (unsigned)below(FRAMES + 2), count = 1 + (unsigned)below(6);
	uint64_t size = (uint64_t)count * FRAME_BYTES - below(FRAME_BYTES - 1), skip = below(FRAME_BYTES);
	bool good;

	count = (unsigned)((skip + size - 1) / FRAME_BYTES) + 1;
	good = model_has(first, count, FRAME_FREE);
	CHECK_EQ(frames_claim(address_of(first) + skip, size, owner), good);
	if (!good)
		return false;
	model_set(first, count, owner);
	mark(first, count, owner);
	return true;
}

static bool step(unsigned question, unsigned owner)
{
	uint64_t count = 1 + below(below(3) ? 9 : FRAMES / 2), alignment = 1ULL << below(7);
	unsigned expected;

	switch (question) {
	case 0:
		expected = model_find(1, 1);
		check_taken(frames_take(owner), expected, 1, owner);
		return expected < FRAMES;
	case 1:
		expected = model_find(count, alignment);
		check_taken(frames_take_run(count, alignment, owner), expected, count, owner);
		return expected < FRAMES;
	case 2:
		return claim(owner);
	default:
		return give_some(owner);
	}
}

static void begin(void)
{
	unsigned notes = 0;

	kernel_ram_soil();
	CHECK(frames_init(START - 1, START + (uint64_t)FRAMES * FRAME_BYTES + 17));
	while (notes < FRAMES && frames_owner(address_of(notes)) == FRAME_NOTES)
		notes++;
	CHECK(notes);
	memset(model, FRAME_FREE, sizeof(model));
	model_set(0, notes, FRAME_NOTES);
	check_owners();
}

static void test_random(void)
{
	begin();
	for (check_context.round = 0; check_context.round < STEPS; check_context.round++) {
		/* For long it is more likely to take, and then to give: full and empty are met. */
		bool giving = check_context.round / 500 % 2;
		unsigned question = below(5) < (giving ? 4 : 2) ? 3 : (unsigned)below(3);

		seen[step(question, FRAME_OTHERS + (unsigned)below(OWNERS))][question]++;
		CHECK(fake_cpu.enabled);
		if (check_context.round % 50 == 0)
			check_owners();
	}
	check_owners();
	for (unsigned question = 0; question < 4; question++)
		for (unsigned answer = 0; answer < 2; answer++)
			CHECK(seen[answer][question] > 20 || (question == 0 && !answer));
}

/* ---- Single cases ------------------------------------------------------------------------------------------------- */

static void test_every_frame_once(void)
{
	unsigned count = 0;

	begin();
	for (uint64_t frame; (frame = frames_take(FRAME_OTHERS)); count++)
		CHECK(frame == address_of(FRAMES - model_free() + count));
	CHECK_EQ(count, model_free());
	CHECK_EQ(frames_free(), 0);
	CHECK(!frames_take_run(1, 1, FRAME_OTHERS));
}

static void test_refused(void)
{
	uint64_t frame, end, free;

	begin();
	frame = frames_take(FRAME_OTHERS);
	free = frames_free();
	CHECK(!frames_give(frame, 1, FRAME_OTHERS + 1));
	CHECK(!frames_give(frame, 2, FRAME_OTHERS));
	CHECK(!frames_give(frame, 0, FRAME_OTHERS));
	CHECK(!frames_give(frame + 8, 1, FRAME_OTHERS));
	CHECK(!frames_give(START - FRAME_BYTES, 1, FRAME_OTHERS));
	CHECK(!frames_give(frame, 1ULL << 60, FRAME_OTHERS));
	CHECK(!frames_give(frame + FRAME_BYTES, 1, FRAME_FREE));
	CHECK(!frames_take(FRAME_FREE));
	CHECK(!frames_take(FRAME_OWNERS));
	CHECK(!frames_take_run(0, 1, FRAME_OTHERS));
	CHECK(!frames_take_run(1, 0, FRAME_OTHERS));
	CHECK(!frames_take_run(1, 3, FRAME_OTHERS));
	CHECK(!frames_take_run(free + 1, 1, FRAME_OTHERS));
	CHECK(!frames_claim(frame, 1, FRAME_OTHERS));
	CHECK(!frames_claim(frame + FRAME_BYTES, 0, FRAME_OTHERS));
	CHECK(!frames_claim(address_of(FRAMES - 1), FRAME_BYTES + 1, FRAME_OTHERS));
	CHECK(!frames_claim(frame + FRAME_BYTES, -(uint64_t)FRAME_BYTES, FRAME_OTHERS));
	CHECK_EQ(frames_free(), free);
	CHECK(frames_give(frame, 1, FRAME_OTHERS));
	CHECK(!frames_give(frame, 1, FRAME_OTHERS)); /* twice */
	CHECK_EQ(frames_free(), free + 1);
	CHECK_EQ(frames_owner(START - 1), FRAME_OWNERS);
	CHECK_EQ(frames_owner(address_of(FRAMES)), FRAME_OWNERS);
	CHECK_EQ(frames_rest(&end), frame);
	CHECK_EQ(end, address_of(FRAMES));
	CHECK(frames_claim(address_of(FRAMES - 1), 1, FRAME_OTHERS));
	CHECK_EQ(frames_rest(&end), end);
	CHECK(frames_give(address_of(FRAMES - 1), 1, FRAME_OTHERS));
	CHECK(frames_claim(address_of(700), 1, FRAME_OTHERS));
	CHECK_EQ(frames_rest(&end), address_of(701));
}

/* Where the notes do not fit nothing is handed out; nor is the last, partial frame. */
static void test_sizes(void)
{
	kernel_ram_soil();
	CHECK(!frames_init(START, START));
	CHECK(!frames_take(FRAME_OTHERS));
	CHECK(!frames_init(START + 1, START + FRAME_BYTES));
	CHECK(!frames_init(START, START + FRAME_BYTES - 1));
	CHECK(!frames_init(START, START + ((uint64_t)FRAMES_MOST + 1) * FRAME_BYTES));
	CHECK_EQ(frames_free(), 0);
	CHECK_EQ(frames_owner(START), FRAME_OWNERS);
	CHECK(frames_init(START, START + FRAME_BYTES));
	CHECK_EQ(frames_free(), 0);
	CHECK(!frames_take(FRAME_OTHERS));
	for (unsigned count = 2; count < 200; count++) {
		check_context.round = count;
		kernel_ram_soil();
		CHECK(frames_init(START, address_of(count) + FRAME_BYTES - 1));
		CHECK_EQ(frames_free(), count - 1);
		for (unsigned n = 1; n < count; n++)
			CHECK_EQ(frames_take(FRAME_OTHERS), address_of(n));
		CHECK(!frames_take(FRAME_OTHERS));
		CHECK_EQ(*bytes_of(count), 0xa5);
	}
}

int main(void)
{
	for (unsigned locked = 0; locked < 2; locked++) {
		check_context.subject = locked ? "with locks" : "before locks";
		test_random();
		test_every_frame_once();
		test_refused();
		test_sizes();
		lock_begin();
	}
	return 0;
}
