/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/core/cpu.h"

#include <stddef.h>

#include "descriptors.h"
#include "frame.h"
#include "kernel/core/fault.h"
#include "kernel/core/irq.h"

enum { EXCEPTIONS = 32 };

extern const char cpu_attempt_abandon[];
uint64_t attempt_stack; /* vectors.S: where cpu_attempt waits; 0: no attempt under way */
bool cpu_has_vmcall;

void cpu_vector(struct cpu_frame *frame);

/* APM vol. 2, 8.2 "Vectors" */
static const char *const exception_names[EXCEPTIONS] = {
	[0] = "#DE",  [1] = "#DB",  [2] = "NMI",  [3] = "#BP",  [4] = "#OF",  [5] = "#BR",  [6] = "#UD",  [7] = "#NM",  [8] = "#DF",
	[10] = "#TS", [11] = "#NP", [12] = "#SS", [13] = "#GP", [14] = "#PF", [16] = "#MF", [17] = "#AC", [18] = "#MC", [19] = "#XF",
};

static void exception(struct cpu_frame *frame)
{
	const char *name = exception_names[frame->vector];
	struct fault fault = { .name = name ? name : "exception", .syndrome = frame->error, .pc = frame->rip };

	if (frame->vector == 14)
		__asm__ volatile("mov %%cr2, %0" : "=r"(fault.address));
	fault_take(&fault, attempt_stack != 0);
	frame->rip = (uint64_t)cpu_attempt_abandon;
}

void cpu_vector(struct cpu_frame *frame)
{
	if (frame->vector < EXCEPTIONS)
		exception(frame);
	else
		irq_serve(frame, (uint32_t)frame->vector);
}

void cpu_init(void)
{
	descriptors_init();
	cpu_has_vmcall = x86_cpuid(0, 0).ecx == 0x6c65746e; /* "ntel" of "GenuineIntel" */
}

_Noreturn void cpu_halt(void)
{
	cpu_interrupts_disable();
	for (;;)
		__asm__ volatile("hlt");
}
