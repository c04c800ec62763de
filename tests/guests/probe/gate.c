/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until the host tool lets this sandbox go on (struct bh_log, gate). */
#include "probe/gate.h"

#include <stdbool.h>

#include "kernel/core/console.h"
#include "kernel/core/idle.h"
#include "kernel/core/smp.h"

/* A core that a busy host has kept from starting in time is on by then, too. */
static bool is_open(void)
{
	for (unsigned slot = 0; slot < smp_count(); slot++)
		if (!smp_ask(slot).on)
			return false;
	return console_log() && __atomic_load_n(&console_log()->gate, __ATOMIC_ACQUIRE) != 0;
}

/* The heartbeat wakes it. */
void run_gate(const struct command_line *line)
{
	idle_until(is_open);
	console_say("gate");
}
