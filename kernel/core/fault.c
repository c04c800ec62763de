/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the kernel after a fault, with a sentence on the console, unless somebody attempts what faulted (fault.h). */
#include "kernel/core/fault.h"

#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/thread_end.h"

static struct fault last[BH_MAX_SANDBOX_CORES]; /* by slot */

static _Noreturn void stop(void)
{
	cpu_interrupts_disable();
	info_call_monitor(BH_CALL_PARK, 0, 0);
	cpu_halt();
}

void fault_take(const struct fault *fault, bool attempting)
{
	/* In a few accesses of whole registers: interrupts are masked, and memcpy goes byte by byte. */
	__builtin_memcpy_inline(&last[cpu_slot()], fault, sizeof(*fault));
	if (fault->of_thread && thread_can_end())
		thread_end_by_fault(&last[cpu_slot()]);
	if (attempting)
		return;
	console_say("fault %s pc 0x%jx addr 0x%jx syndrome 0x%jx", fault->name, fault->pc, fault->address, fault->syndrome);
	stop();
}

const struct fault *fault_last(void)
{
	return &last[cpu_slot()];
}

_Noreturn void fault_stop(const char *why)
{
	console_say("stopped: %s", why);
	stop();
}
