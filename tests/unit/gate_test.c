/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.request. Parts of stage 2 that come and go in one store, for every stage-2 format: closed, no page of it is mapped and everything
 * else is as it was; open, all is as it was before. And what is refused. hal/pt/gate_boot.c
 */
#include <string.h>

#include "abi/table.h"
#include "check.h"
#include "frames.h"
#include "geometries.h"
#include "hal/pt/pt.h"

enum { FRAMES = 1100 };
#define KiB4  UINT64_C(0x1000)
#define MiB2  UINT64_C(0x200000)
#define GiB   UINT64_C(0x40000000)
#define SMALL UINT64_C(0x4ca00000)
#define LARGE (2 * GiB)

static const struct pt_format *const formats[] = { &pt_ept, &pt_npt, &pt_stage2, &pt_lpae, &geometry_sv39x4 };

static struct hal_arena arena;
static struct pt pt;

static void map(uint64_t ia, uint64_t oa, uint64_t size, unsigned permissions)
{
	CHECK_EQ(pt_map(&pt, ia, (hpa_t){ oa }, size, permissions, HAL_MEMORY_RAM), HAL_OK);
}

static void prepare(const struct pt_format *format)
{
	arena = frames_arena(FRAMES);
	check_context.subject = format->name;
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_OK);
	map(SMALL - MiB2, 0x10000000, MiB2, HAL_READ | HAL_WRITE); /* its neighbours */
	map(SMALL + MiB2, 0x10200000, MiB2, HAL_READ | HAL_WRITE);
}

/* Whether each page of the range leads to where it did, or none does. */
static bool leads(uint64_t ia, uint64_t oa, uint64_t size, bool open)
{
	struct hal_leaf leaf;

	for (uint64_t at = 0; at < size; at += KiB4)
		if (pt_query(&pt, ia + at, &leaf) != open || (open && leaf.hpa.v != oa + at))
			return false;
	return true;
}

static void check_turned(uint64_t ia, uint64_t oa, uint64_t size)
{
	struct hal_gate gate = { NULL, 0 };

	CHECK(leads(ia, oa, size, true));
	CHECK_EQ(pt_gate(&pt, ia, size, &gate), HAL_OK);
	for (unsigned round = 0; round < 3; round++) {
		CHECK_EQ(*gate.entry, 0);
		CHECK(leads(ia, oa, size, false));
		CHECK(leads(SMALL - MiB2, 0x10000000, MiB2, true) && leads(SMALL + MiB2, 0x10200000, MiB2, true));
		pt_gate_turn(&gate, true);
		CHECK(leads(ia, oa, size, true));
		pt_gate_turn(&gate, true); /* it is */
		CHECK(leads(ia, oa, size, true));
		pt_gate_turn(&gate, false);
	}
}

/* Pages of two permissions, as an end of a channel has them; a block; and what takes more than one of them. */
static void test_turned(const struct pt_format *format)
{
	prepare(format);
	map(SMALL, 0x20003000, KiB4, HAL_READ | HAL_WRITE);
	map(SMALL + KiB4, 0x20004000, 2 * KiB4, HAL_READ);
	check_turned(SMALL, 0x20003000, 3 * KiB4);
	prepare(format);
	map(SMALL, 0x20200000, MiB2, HAL_READ);
	check_turned(SMALL, 0x20200000, MiB2);
	prepare(format);
	map(LARGE, 0x30001000, MiB2 + KiB4, HAL_READ);
	check_turned(LARGE, 0x30001000, MiB2 + KiB4);
	prepare(format);
	map(LARGE, 0x30000000, GiB - MiB2, HAL_READ);
	map(LARGE + GiB - MiB2, 0x30000000 + GiB - MiB2, MiB2, HAL_READ | HAL_WRITE);
	check_turned(LARGE, 0x30000000, GiB);
}

static void check_refused(uint64_t ia, uint64_t size, enum hal_status expected)
{
	struct hal_gate gate = { NULL, 7 };

	CHECK_EQ(pt_gate(&pt, ia, size, &gate), expected);
	CHECK(!gate.entry && gate.open == 7);
	CHECK(leads(SMALL, 0x20000000, 3 * KiB4, true));
}

static void test_refused(const struct pt_format *format)
{
	prepare(format);
	map(SMALL, 0x20000000, 3 * KiB4, HAL_READ);
	map(LARGE, 0x30000000, KiB4, HAL_READ);
	check_refused(SMALL, 0, HAL_E_RANGE);
	check_refused(SMALL + KiB4, KiB4, HAL_E_RANGE); /* begins no stretch */
	check_refused(SMALL, MiB2 + KiB4, HAL_E_RANGE); /* nor a large one, which it would take */
	check_refused(LARGE, GiB + KiB4, HAL_E_RANGE);  /* none is so large */
	check_refused(UINT64_C(1) << format->ia_bits, KiB4, HAL_E_RANGE);
	check_refused(SMALL, 2 * KiB4, HAL_E_OVERLAP);            /* something else is there, too */
	check_refused(SMALL, 4 * KiB4, HAL_E_OVERLAP);            /* not all of it is mapped */
	check_refused(SMALL + 2 * MiB2, 3 * KiB4, HAL_E_OVERLAP); /* nothing is */
	check_refused(LARGE, 2 * MiB2, HAL_E_OVERLAP);
	check_refused(LARGE + GiB, KiB4, HAL_E_OVERLAP); /* no table */
}

static void check_others(uint64_t ia, uint64_t size)
{
	struct hal_gate gate = { NULL, 7 };

	CHECK_EQ(pt_gate(&pt, ia, size, &gate), HAL_E_OVERLAP);
	CHECK(!gate.entry && gate.open == 7);
}

/* What else is in a large stretch, at its end; two parts that lie apart; what can be executed; and a block that reaches beyond. */
static void test_others(const struct pt_format *format)
{
	prepare(format);
	map(LARGE, 0x30001000, MiB2 + KiB4, HAL_READ);
	map(LARGE + GiB - KiB4, 0x50000000, KiB4, HAL_READ);
	check_others(LARGE, MiB2 + KiB4);
	prepare(format);
	map(SMALL, 0x20000000, KiB4, HAL_READ | HAL_WRITE);
	map(SMALL + KiB4, 0x20002000, KiB4, HAL_READ);
	check_others(SMALL, 2 * KiB4);
	prepare(format);
	map(SMALL, 0x20000000, KiB4, HAL_READ | HAL_WRITE);
	map(SMALL + KiB4, 0x20001000, KiB4, HAL_READ | HAL_WRITE | HAL_EXECUTE);
	check_others(SMALL, 2 * KiB4);
	prepare(format);
	map(SMALL, 0x20000000, MiB2, HAL_READ);
	check_others(SMALL, 3 * KiB4);
}

/* A block of 1 GiB, of which the gate would be a part. */
static void test_within(const struct pt_format *format)
{
	struct hal_gate gate = { NULL, 0 };

	prepare(format);
	map(LARGE, 3 * GiB, GiB, HAL_READ);
	CHECK_EQ(pt_gate(&pt, LARGE, MiB2, &gate), HAL_E_OVERLAP);
	CHECK_EQ(pt_gate(&pt, LARGE, GiB, &gate), HAL_OK);
	CHECK(leads(LARGE, 3 * GiB, GiB, false));
}

int main(void)
{
	for (size_t n = 0; n < sizeof(formats) / sizeof(formats[0]); n++) {
		test_turned(formats[n]);
		test_refused(formats[n]);
		test_others(formats[n]);
		test_within(formats[n]);
	}
	return 0;
}
