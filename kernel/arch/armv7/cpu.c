/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel/core/cpu.h asks of this processor: exceptions and interrupts as they arrive, attempts, calls of the monitor. */
#include "kernel/core/cpu.h"

#include "frame.h"
#include "kernel/core/fault.h"
#include "kernel/core/user.h"
#include "timer_hw.h"

extern const char vectors[], entries[], entries_end[], cpu_attempt_abandon[];
uint64_t timer_hw_arrival;
uintptr_t attempt_stack[BH_MAX_SANDBOX_CORES]; /* vectors.S: by slot, where cpu_attempt waits; 0: no attempt under way */

void cpu_exception(struct cpu_frame *frame, uint32_t vector);

static const char *vector_name(uint32_t vector)
{
	switch (vector) {
	case VECTOR_UNDEFINED:
		return "undefined instruction";
	case VECTOR_SUPERVISOR:
		return "supervisor call";
	case VECTOR_PREFETCH:
		return "prefetch abort";
	case VECTOR_DATA:
		return "data abort";
	default:
		return "unexpected vector";
	}
}

/* A thread's own doing: that of its code, or of its stack, on which something found no room. */
static bool is_of_thread(const struct cpu_frame *frame)
{
	if (cpu_frame_is_user(frame))
		return false;
	return cpu_frame_interrupts_enabled(frame) || (frame->pc >= (uintptr_t)entries && frame->pc < (uintptr_t)entries_end);
}

/* ARMv7 ARM B3.13 "Exception reporting in a VMSA implementation": only aborts have a syndrome. */
static void describe(const struct cpu_frame *frame, uint32_t vector, struct fault *fault)
{
	fault->name = vector_name(vector);
	fault->pc = frame->pc;
	fault->syndrome = fault->address = 0;
	fault->is_sent = false;
	fault->of_thread = (vector == VECTOR_UNDEFINED || vector == VECTOR_PREFETCH || vector == VECTOR_DATA) && is_of_thread(frame);
	if (vector == VECTOR_PREFETCH) {
		fault->syndrome = SYSREG_READ(IFSR);
		fault->address = SYSREG_READ(IFAR);
	}
	if (vector == VECTOR_DATA) {
		fault->syndrome = SYSREG_READ(DFSR);
		fault->address = SYSREG_READ(DFAR);
	}
}

/*
 * What a program may raise and then goes on. Whether an undefined instruction is one of floating point shows when that is on: if it is
 * undefined again, it is not.
 */
static bool is_answered(struct cpu_frame *frame, uint32_t vector)
{
	if (!cpu_frame_is_user(frame))
		return false;
	if (vector == VECTOR_SUPERVISOR)
		user_call(frame);
	return vector == VECTOR_SUPERVISOR || (vector == VECTOR_UNDEFINED && user_take_fp());
}

/* An attempt is abandoned in the kernel's own mode and instruction set, whichever it went to. */
void cpu_exception(struct cpu_frame *frame, uint32_t vector)
{
	struct fault fault;

	if (is_answered(frame, vector))
		return;
	describe(frame, vector, &fault);
	fault_take(&fault, attempt_stack[cpu_slot()] != 0);
	frame->pc = (uintptr_t)cpu_attempt_abandon;
	frame->cpsr = (frame->cpsr & (CPSR_I | CPSR_F)) | MODE_SVC;
}

void cpu_init(void)
{
	SYSREG_WRITE(TPIDRPRW, 0);
	__asm__ volatile("cps #0x17\n\tmov sp, %0\n\tcps #0x13" ::"r"(cpu_emergency_stack())); /* ABT mode's, and back to SVC mode */
	SYSREG_WRITE(VBAR, (uintptr_t)vectors);
	arch_isb();
	__asm__ volatile("cpsie a" ::: "memory"); /* asynchronous aborts: better reported than pending for ever */
}

_Noreturn void cpu_halt(void)
{
	for (;;)
		arch_wfi();
}
