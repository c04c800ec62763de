/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/idle.h"

#include "kernel/cpu.h"
#include "kernel/heartbeat.h"
#include "kernel/irq.h"

void idle_until(bool (*done)(void))
{
	for (;;) {
		heartbeat_report();
		irq_report_strays();
		cpu_interrupts_disable();
		if (done())
			break;
		cpu_sleep();
		cpu_interrupts_enable();
	}
	cpu_interrupts_enable();
}
