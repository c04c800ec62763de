/* SPDX-License-Identifier: Apache-2.0 */
/* How a sandbox begins again, and kicks one that may have; its statistics page tells which life this is. */
#include "probe/lives.h"

#include <stdatomic.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/timer.h"

void run_restarted(const struct command_line *line)
{
	console_say("restarted in %ju ticks", info_statistics()->restart_ticks);
}

void run_first(const struct command_line *line)
{
	if (!info_statistics()->restarts)
		command_run_arguments(line->text);
}

static _Atomic bool is_time;

static void ring(struct timer_event *event, struct cpu_frame *frame)
{
	atomic_store_explicit(&is_time, true, memory_order_relaxed);
}

static bool time_has_come(void)
{
	return atomic_load_explicit(&is_time, memory_order_relaxed);
}

void run_watch(const struct command_line *line)
{
	static struct timer_event event = { .fire = ring };

	for (uint64_t n = 0; n < line->operand[2]; n++) {
		atomic_store_explicit(&is_time, false, memory_order_relaxed);
		timer_add(&event, arch_counter() + clock_from_ns(line->operand[1] * 1000));
		idle_until(time_has_come);
		if (info_call_monitor(BH_CALL_KICK, line->operand[0], 0) != BH_OK)
			console_say("watch: no answer");
	}
	console_say("watched");
}
