/* SPDX-License-Identifier: Apache-2.0 */
/* A processor for the kernel's own files on the host: what they asked of it is written down (fake_cpu.h). */
#include "fake_cpu.h"

#include "check.h"
#include "kernel/core/cpu.h"

struct fake_cpu fake_cpu = { .enabled = true };

void cpu_interrupts_enable(void)
{
	fake_cpu.enabled = true;
}

bool cpu_interrupts_disable(void)
{
	bool enabled = fake_cpu.enabled;

	fake_cpu.enabled = false;
	return enabled;
}

void cpu_interrupts_restore(bool enabled)
{
	CHECK(!fake_cpu.enabled);
	fake_cpu.enabled = enabled;
}

void cpu_sleep(void)
{
	CHECK(!fake_cpu.enabled);
	CHECK(fake_cpu.sleep);
	fake_cpu.sleep();
}

unsigned cpu_slot(void)
{
	return fake_cpu.slot;
}
