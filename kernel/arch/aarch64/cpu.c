/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel/core/cpu.h asks of this processor: exceptions and interrupts as they arrive, attempts, calls of the monitor. */
#include "kernel/core/cpu.h"

#include "abi/guest.h"
#include "frame.h"
#include "kernel/core/fault.h"
#include "kernel/core/user.h"
#include "timer_hw.h"

enum { KIND_SYNCHRONOUS = 4, KIND_USER_SYNCHRONOUS = 8, SPSR_DAIF = 0x3c0, SPSR_EL1H = 5 };

extern const char vectors[], entries[], entries_end[], cpu_attempt_abandon[];
uint64_t timer_hw_arrival;
uint64_t attempt_stack[BH_MAX_SANDBOX_CORES]; /* vectors.S: by slot, where cpu_attempt waits; 0: no attempt under way */

void cpu_exception(struct cpu_frame *frame, uint64_t kind);

/* Arm ARM, "ESR_EL1, Exception Syndrome Register (EL1)", field EC */
enum { EC_FP = 0x07, EC_SVC = 0x15 };

static const char *class_name(uint64_t esr)
{
	switch (esr >> 26) {
	case 0x00:
		return "undefined instruction";
	case EC_FP:
		return "floating point";
	case 0x0e:
		return "illegal execution state";
	case 0x18:
		return "trapped system register";
	case 0x20:
	case 0x21:
		return "instruction abort";
	case 0x22:
		return "misaligned pc";
	case 0x24:
	case 0x25:
		return "data abort";
	case 0x26:
		return "misaligned sp";
	default:
		return "exception";
	}
}

/* What a program may raise and then goes on. */
static bool is_answered(struct cpu_frame *frame, uint64_t kind)
{
	if (kind != KIND_USER_SYNCHRONOUS)
		return false;
	switch (SYSREG_READ(esr_el1) >> 26) {
	case EC_SVC:
		user_call(frame);
		return true;
	case EC_FP:
		return user_take_fp();
	default:
		return false;
	}
}

static bool is_synchronous(uint64_t kind)
{
	return kind == KIND_SYNCHRONOUS || kind == KIND_USER_SYNCHRONOUS;
}

/* A thread's own doing: that of its code, or of its stack, on which an interrupt found no room. */
static bool is_of_thread(const struct cpu_frame *frame, uint64_t kind)
{
	if (kind != KIND_SYNCHRONOUS)
		return false;
	return cpu_frame_interrupts_enabled(frame) || (frame->elr >= (uint64_t)entries && frame->elr < (uint64_t)entries_end);
}

/* Field by field: a structure that is handed on is copied byte by byte, with interrupts masked. */
static void describe(const struct cpu_frame *frame, uint64_t kind, struct fault *fault)
{
	fault->name = is_synchronous(kind) ? class_name(SYSREG_READ(esr_el1)) : "unexpected vector";
	fault->syndrome = SYSREG_READ(esr_el1);
	fault->pc = frame->elr;
	fault->address = SYSREG_READ(far_el1);
	fault->is_sent = false;
	fault->of_thread = is_of_thread(frame, kind);
}

/* An attempt is abandoned at the kernel's own level and in its own state, whichever it went to. */
void cpu_exception(struct cpu_frame *frame, uint64_t kind)
{
	struct fault fault;

	if (is_answered(frame, kind))
		return;
	describe(frame, kind, &fault);
	fault_take(&fault, attempt_stack[cpu_slot()] != 0);
	frame->elr = (uint64_t)cpu_attempt_abandon;
	frame->spsr = (frame->spsr & SPSR_DAIF) | SPSR_EL1H;
}

void cpu_init(void)
{
	SYSREG_WRITE(tpidr_el1, 0);
	SYSREG_WRITE(vbar_el1, vectors);
	arch_isb();
	__asm__ volatile("msr daifclr, #4" ::: "memory"); /* SError: better reported than pending for ever */
}

_Noreturn void cpu_halt(void)
{
	for (;;)
		arch_wfi();
}
