/* SPDX-License-Identifier: Apache-2.0 */
/* Tries the numbers of a sweep in order and prints neighbours that were granted as one range. The numbers are arch/'s. */
#include "probe/sweep.h"

#include <stddef.h>

#include "kernel/core/console.h"
#include "kernel/core/text.h"

/* Neighbours that were granted, not yet printed. */
struct run {
	uint64_t first, last, count;
};

static const struct sweep *find(const char *kind)
{
	for (const struct sweep *sweep = arch_sweeps; sweep->kind; sweep++)
		if (text_equal(kind, sweep->kind))
			return sweep;
	return NULL;
}

static bool is_left_out(const struct sweep *sweep, uint64_t number)
{
	for (const uint64_t *one = sweep->left_out; *one != SWEEP_END; one++)
		if (*one == number)
			return true;
	return false;
}

static void print(const struct sweep *sweep, struct run *run)
{
	if (run->count)
		console_say("sweep %s 0x%jx-0x%jx", sweep->kind, run->first, run->last);
	run->count = 0;
}

/* How many were granted. */
static uint64_t sweep_range(const struct sweep *sweep, const struct sweep_range *range)
{
	struct run run = { 0 };
	uint64_t granted = 0;

	for (uint64_t number = range->first; number <= range->last; number += range->step) {
		if (is_left_out(sweep, number) || !sweep->granted(number)) {
			print(sweep, &run);
			continue;
		}
		if (run.count && range->step != 1)
			print(sweep, &run);
		if (!run.count++)
			run.first = number;
		run.last = number;
		granted++;
	}
	print(sweep, &run);
	return granted;
}

bool sweep_run(const char *kind)
{
	const struct sweep *sweep = find(kind);
	uint64_t granted = 0, tried = 0;

	if (!sweep)
		return false;
	for (const struct sweep_range *range = sweep->ranges; range->step; range++) {
		granted += sweep_range(sweep, range);
		tried += (range->last - range->first) / range->step + 1;
	}
	console_say("sweep %s: %ju of %ju", kind, granted, tried);
	return true;
}
