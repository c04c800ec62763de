/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel/core/cpu.h asks of this processor: exceptions and interrupts as they arrive, attempts, calls of the monitor. */
#include "kernel/core/cpu.h"

#include <stddef.h>

#include "abi/guest.h"
#include "descriptors.h"
#include "frame.h"
#include "kernel/core/fault.h"
#include "kernel/core/irq.h"
#include "kernel/core/user.h"
#include "kernel/drivers/x2apic.h"
#include "segments.h"

enum { EXCEPTIONS = 32, VECTOR_NM = 7, VECTOR_DF = 8 };

extern const char cpu_attempt_abandon[], entries_end[];
uint64_t attempt_stack[BH_MAX_SANDBOX_CORES]; /* vectors.S: by slot, where cpu_attempt waits; 0: no attempt under way */
bool cpu_has_vmcall;

void cpu_vector(struct cpu_frame *frame);

/* APM vol. 2, 8.2 "Vectors" */
static const char *const exception_names[EXCEPTIONS] = {
	[0] = "#DE",  [1] = "#DB",  [2] = "NMI",  [3] = "#BP",  [4] = "#OF",  [5] = "#BR",  [6] = "#UD",  [7] = "#NM",  [8] = "#DF",
	[10] = "#TS", [11] = "#NP", [12] = "#SS", [13] = "#GP", [14] = "#PF", [16] = "#MF", [17] = "#AC", [18] = "#MC", [19] = "#XF",
};

/* A thread's own doing: that of its code, or of its stack, on which something found no room. */
static bool is_of_thread(const struct cpu_frame *frame)
{
	if (cpu_frame_is_user(frame) || frame->vector == VECTOR_NMI || frame->vector == VECTOR_MC)
		return false;
	return cpu_frame_interrupts_enabled(frame) || (frame->rip >= (uint64_t)vectors && frame->rip < (uint64_t)entries_end);
}

/* An attempt is abandoned in the kernel's own ring, whichever it went to, on its own stack and with its own flags. */
static void exception(struct cpu_frame *frame)
{
	const char *name = exception_names[frame->vector];
	uint64_t *waiting = &attempt_stack[cpu_slot()];
	struct fault fault = { .name = name ? name : "exception", .syndrome = frame->error, .pc = frame->rip };

	fault.is_sent = frame->vector == VECTOR_NMI;
	fault.of_thread = is_of_thread(frame);
	memory_come_back();
	if (frame->vector == VECTOR_PF || frame->vector == VECTOR_DF)
		__asm__ volatile("mov %%cr2, %0" : "=r"(fault.address));
	fault_take(&fault, *waiting != 0);
	frame->rip = (uint64_t)cpu_attempt_abandon;
	frame->cs = SELECTOR_CODE;
	frame->ss = SELECTOR_DATA;
	frame->rsp = *waiting;
	frame->rflags = RFLAGS_FIXED | (frame->rflags & RFLAGS_IF);
}

void cpu_vector(struct cpu_frame *frame)
{
	if (frame->vector >= EXCEPTIONS)
		irq_serve(frame, (uint32_t)frame->vector);
	else if (frame->vector != VECTOR_NM || !cpu_frame_is_user(frame) || !user_take_fp())
		exception(frame);
}

uintptr_t cpu_emergency_stack(void)
{
	return descriptors_emergency_stack();
}

/* It was in service before its frame was written: SDM vol. 3A, 11.8.4 "Interrupt Acceptance for Fixed Interrupts". */
void cpu_serve_lost_interrupt(void)
{
	struct cpu_frame frame = { .cs = SELECTOR_CODE, .ss = SELECTOR_DATA, .rflags = RFLAGS_FIXED };
	uint32_t vector = x2apic_in_service();

	if (vector)
		irq_serve(&frame, vector);
}

static uint64_t write_cr4(uint64_t a, uint64_t b)
{
	x86_write_cr4(a);
	return 0;
}

/*
 * A known value, whatever the register held: programs read no performance counters (PCE), and this kernel executes nothing of theirs
 * (SMEP), where the processor has that. It faults if not: APM vol. 2, 3.1.3 "CR4 Register". CPUID, which says so too, would be an exit.
 */
static void start_cr4(void)
{
	uint64_t nothing;

	if (!cpu_attempt(write_cr4, CR4_PAE | CR4_SMEP, 0, &nothing))
		x86_write_cr4(CR4_PAE);
}

void cpu_init(void)
{
	descriptors_init();
	start_cr4();
	cpu_has_vmcall = x86_cpuid(0, 0).ecx == 0x6c65746e; /* "ntel" of "GenuineIntel" */
}

_Noreturn void cpu_halt(void)
{
	cpu_interrupts_disable();
	for (;;)
		__asm__ volatile("hlt");
}
