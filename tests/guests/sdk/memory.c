/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bulkhead_memory_on lets through and what not, which a handler of its own tells (sdk_memory_cpu.h). With `bootargs` "off" it does
 * without: nothing of its own stands before what nobody granted.
 */
#include <bulkhead.h>

#include "sdk_memory_cpu.h"

enum { NOT_GRANTED = 0x10000000 };

static void say(struct bh_log *log, const char *what, uint64_t value)
{
	bulkhead_print(log, what);
	bulkhead_print_hex(log, value);
	bulkhead_print(log, "\n");
}

static void try_all(const struct bh_info *info, struct bh_log *log)
{
	const struct bh_grant *stats = bulkhead_grant(info, BH_GRANT_STATS, NULL);

	cpu_catch();
	say(log, "read of nobody's: ", cpu_try_read(NOT_GRANTED));
	say(log, "write of the information page: ", cpu_try_write((uintptr_t)info));
	say(log, "write of statistics: ", cpu_try_write((uintptr_t)stats->gpa));
	say(log, "write of the log: ", cpu_try_write((uintptr_t)&log->beat_period_ns));
}

void bulkhead_main(const struct bh_info *info)
{
	struct bh_log *log = bulkhead_log_open(info);

	if (info->arguments[1] == 'n') {
		say(log, "status: ", bulkhead_memory_on(info));
		say(log, "again: ", bulkhead_memory_on(info));
	}
	bulkhead_call(BH_CALL_READY, 0);
	say(log, "control: ", cpu_memory_control());
	try_all(info, log);
}
