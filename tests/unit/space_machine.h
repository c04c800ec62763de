/* SPDX-License-Identifier: Apache-2.0 */
/* A table builder that notes what it is asked to map, for tests of which mappings a machine asks for. */
#pragma once
#include "check.h"
#include "hal/pt/pt.h"

struct mapping {
	uint64_t ia, oa, size;
	unsigned permissions;
	enum hal_memory memory;
};

enum { MAPPINGS_MAX = 16, R = HAL_READ, RW = HAL_READ | HAL_WRITE };

static struct mapping mappings[MAPPINGS_MAX];
static size_t mapping_count;

enum hal_status pt_init(struct pt *pt, const struct pt_format *format, struct hal_arena *arena)
{
	pt->root = hal_arena_take(arena, 1);
	return HAL_OK;
}

enum hal_status pt_map(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory)
{
	CHECK(mapping_count < MAPPINGS_MAX);
	mappings[mapping_count++] = (struct mapping){ ia, oa.v, size, permissions, memory };
	return HAL_OK;
}

/* These, in this order, and none else since the last time. */
static void check_mappings(const char *subject, const struct mapping *expected, size_t count)
{
	check_context.subject = subject;
	for (size_t n = 0; n < count && n < mapping_count; n++) {
		check_context.round = n;
		CHECK_EQ(mappings[n].ia, expected[n].ia);
		CHECK_EQ(mappings[n].oa, expected[n].oa);
		CHECK_EQ(mappings[n].size, expected[n].size);
		CHECK_EQ(mappings[n].permissions, expected[n].permissions);
		CHECK_EQ(mappings[n].memory, expected[n].memory);
	}
	CHECK_EQ(mapping_count, count);
	mapping_count = 0;
}
