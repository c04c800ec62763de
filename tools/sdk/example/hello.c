/* SPDX-License-Identifier: Apache-2.0 */
/* A guest in C: says what it was given, then beats a hundred times and ends. */
#include <bulkhead.h>

enum { BEATS = 100, PERIOD_NS = 1000000, NS_A_SECOND = 1000000000 };

static void list(struct bh_log *log, const struct bh_info *info)
{
	for (uint32_t n = 0; n < info->grant_count; n++) {
		const struct bh_grant *grant = &info->grants[n];

		if (grant->kind == BH_GRANT_RAM || grant->kind == BH_GRANT_DEVICE || grant->kind == BH_GRANT_PORTS) {
			bulkhead_print(log, (const char *)grant->name);
			bulkhead_print(log, " at ");
			bulkhead_print_hex(log, grant->gpa);
			bulkhead_print(log, "\n");
		}
	}
}

/* Waits by looking at the clock, which keeps the core busy: real work has a timer interrupt. */
static void wait_until(uint64_t ticks)
{
	while ((int64_t)(bulkhead_clock() - ticks) < 0)
		;
}

void bulkhead_main(const struct bh_info *info)
{
	struct bh_log *log = bulkhead_log_open(info);
	uint64_t period = bulkhead_clock_hz(info) / (NS_A_SECOND / PERIOD_NS);
	uint64_t due = bulkhead_clock();

	bulkhead_print(log, "hello from ");
	bulkhead_print(log, (const char *)info->name);
	bulkhead_print(log, "\n");
	list(log, info);
	bulkhead_call(BH_CALL_READY, 0);
	for (int beat = 0; beat < BEATS; beat++) {
		wait_until(due += period);
		bulkhead_beat(log, PERIOD_NS);
	}
	bulkhead_print(log, "that was all\n");
}
