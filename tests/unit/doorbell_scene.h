/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I4.doorbell. What holds of doorbells on all machines (hal/doorbell.h): who may ring, and how soon again. Two cores of one sandbox
 * share them. Whoever includes this says how often has been rung.
 */
#pragma once
#include "abi/table.h"
#include "arch/arch.h"
#include "check.h"
#include "hal/hal.h"

enum { GAP = 100 };

static struct hal_doorbell doorbells[BH_MAX_CHANNELS + 1]; /* the last is none, and would ring */
static struct hal_core doorbell_cores[2];
static uint64_t doorbell_now;
static void (*meanwhile)(void);    /* once, when the clock is read */
static unsigned doorbell_barriers; /* since the clock was read */

static unsigned doorbell_rings(void);

uint64_t arch_counter(void)
{
	void (*does)(void) = meanwhile;

	meanwhile = NULL;
	if (does)
		does();
	doorbell_barriers = 0;
	return doorbell_now;
}

void arch_barrier(void)
{
	doorbell_barriers++;
}

static int64_t ring(uint64_t n)
{
	return hal_doorbell_ring(&doorbell_cores[0], n);
}

static void check_ring(uint64_t n, uint64_t now, int64_t result)
{
	unsigned before = doorbell_rings();

	doorbell_now = now;
	CHECK_EQ(ring(n), result);
	CHECK_EQ(doorbell_rings() - before, result == BH_OK);
}

static void test_numbers(void)
{
	check_context.subject = "numbers of doorbells";
	check_ring(BH_MAX_CHANNELS - 1, GAP, BH_OK);
	check_ring(BH_MAX_CHANNELS, GAP, BH_E_DENIED);
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t number = UINT64_C(1) << bit;

		check_context.round = bit;
		if (number >= BH_MAX_CHANNELS) {
			check_ring(number, GAP, BH_E_DENIED);
			check_ring(number + 1, GAP, BH_E_DENIED);
		}
		check_ring(UINT64_MAX - number, GAP, BH_E_DENIED);
	}
	check_ring(UINT64_MAX, GAP, BH_E_DENIED);
	check_context.round = 0;
}

static void test_grant(void)
{
	check_context.subject = "no grant";
	doorbells[1].gap = 0;
	check_ring(1, 0, BH_E_DENIED);
	check_ring(1, UINT64_MAX, BH_E_DENIED);
	CHECK_EQ(doorbells[1].next, 0);
	check_ring(0, 0, BH_OK);
	check_ring(2, 0, BH_OK); /* each has a gap of its own */
}

static void test_gap(void)
{
	check_context.subject = "gap";
	check_ring(0, 7, BH_OK);
	check_ring(0, 7, BH_E_LATER);
	check_ring(0, 7 + GAP - 1, BH_E_LATER);
	check_ring(0, 7 + GAP, BH_OK); /* who rang too soon waits no longer for it */
	check_ring(0, 7 + 5 * GAP + 3, BH_OK);
	check_ring(0, 7 + 6 * GAP, BH_E_LATER); /* since the last, and rings that were not are not saved up */
	check_ring(0, 7 + 6 * GAP + 3, BH_OK);
	doorbells[0].gap = 1;
	check_ring(0, 7 + 7 * GAP + 3, BH_OK);
	check_ring(0, 7 + 7 * GAP + 3, BH_E_LATER);
	check_ring(0, 7 + 7 * GAP + 4, BH_OK);
}

/* Where the counter begins anew, time goes on. */
static void test_wrap(void)
{
	check_context.subject = "a counter that begins anew";
	doorbells[0].next = UINT64_MAX - 10;
	check_ring(0, UINT64_MAX - 11, BH_E_LATER);
	check_ring(0, UINT64_MAX - 10, BH_OK);
	check_ring(0, UINT64_MAX, BH_E_LATER);
	check_ring(0, 0, BH_E_LATER);
	check_ring(0, GAP - 12, BH_E_LATER);
	check_ring(0, GAP - 11, BH_OK);
}

static void the_other_rings(void)
{
	CHECK_EQ(doorbell_barriers, 1); /* whoever rings from here on rings for what the first has written, too */
	CHECK_EQ(hal_doorbell_ring(&doorbell_cores[1], 0), BH_OK);
	CHECK_EQ(doorbell_rings(), 1);
}

static void test_two_cores(void)
{
	check_context.subject = "two cores at once";
	meanwhile = the_other_rings;
	doorbell_barriers = 0;
	doorbell_now = GAP;
	CHECK_EQ(ring(0), BH_OK);
	CHECK(!meanwhile);
	CHECK_EQ(doorbell_rings(), 1);
	check_ring(0, GAP + 1, BH_E_LATER);
	check_ring(0, 2 * GAP, BH_OK);
}

/* `prepare`: nothing has been rung yet, and all doorbells may be, that which is none, too. */
static void test_all_doorbells(void (*prepare)(void))
{
	void (*const tests[])(void) = { test_numbers, test_grant, test_gap, test_wrap, test_two_cores };

	for (unsigned n = 0; n < sizeof(tests) / sizeof(tests[0]); n++) {
		prepare();
		tests[n]();
	}
}
