/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox kernel. It is entered as abi/guest.h says, or by the bare emulator with info == NULL, and is the same
 * program in both. The arch/<arch>/start.S of each architecture calls kernel_main on its own stack with interrupts disabled and
 * .bss zeroed; what runs on the sandbox's other cores is smp.c's. One main program runs on each core, and
 * threads beside it where somebody makes them (thread.h).
 */
#include "kernel/core/main.h"

#include "kernel/core/clock.h"
#include "kernel/core/command.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/memory.h"
#include "kernel/core/smp.h"
#include "kernel/core/telemetry.h"
#include "kernel/core/timer.h"
#include "kernel/core/vcpus.h"

_Noreturn void kernel_main(const struct bh_info *given)
{
	/* 1. Know what is ours, and catch our own mistakes. */
	cpu_init();
	info_init(given);

	/* 2. Address space: from here on caches are on and nothing ungranted is mapped. */
	memory_init();

	/* 3. Interrupts, then what raises them; other cores, if there are. */
	irq_init();
	doorbells_init();
	console_init();
	cpu_interrupts_enable();
	clock_init(info_clock_hz());
	timer_init();
	smp_init();
	telemetry_init();
	heartbeat_start(HEARTBEAT_HZ);

	/* 4. Steady state begins: not one exit from here on, unless a command asks for it. */
	console_say("alive");
	info_call_monitor(BH_CALL_READY, 0, 0);

	/* 5. VCPUs with their programs; what we were told to do at once; what we are told to do later. */
	vcpus_start();
	command_run_arguments((const char *)info->arguments);
	for (;;) {
		idle_until(console_has_input);
		command_read_input();
	}
}
