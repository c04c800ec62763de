/* SPDX-License-Identifier: Apache-2.0 */
/* The whole test framework: a claim that fails says where, what and in which round, and ends the program. */
#pragma once
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What the test is busy with, for the message: set by loops over formats and seeds. */
static struct {
	const char *subject;
	uint64_t round;
} check_context = { "", 0 };

static inline void check_true(const char *file, int line, const char *claim, int holds)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: %s, round %" PRIu64 ": not so: %s\n", file, line, check_context.subject, check_context.round, claim);
	exit(1);
}

static inline void check_equal(const char *file, int line, const char *claim, uint64_t actual, uint64_t expected)
{
	if (actual == expected)
		return;
	fprintf(stderr, "%s:%d: %s, round %" PRIu64 ": %s is %#" PRIx64 ", expected %#" PRIx64 "\n", file, line, check_context.subject,
		check_context.round, claim, actual, expected);
	exit(1);
}

#define CHECK(claim)               check_true(__FILE__, __LINE__, #claim, !!(claim))
#define CHECK_EQ(actual, expected) check_equal(__FILE__, __LINE__, #actual, (uint64_t)(actual), (uint64_t)(expected))
