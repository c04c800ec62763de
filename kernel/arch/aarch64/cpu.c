/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/core/cpu.h"

#include "frame.h"
#include "kernel/core/fault.h"
#include "timer_hw.h"

enum { KIND_CURRENT_SYNCHRONOUS = 4, SPSR_DAIF = 0x3c0, SPSR_EL1H = 5 };

extern const char vectors[], cpu_attempt_abandon[];
uint64_t timer_hw_arrival;
uint64_t attempt_stack; /* vectors.S: where cpu_attempt waits; 0: no attempt under way */

void cpu_exception(struct cpu_frame *frame, uint64_t kind);

/* Arm ARM, "ESR_EL1, Exception Syndrome Register (EL1)", field EC */
static const char *class_name(uint64_t esr)
{
	switch (esr >> 26) {
	case 0x00:
		return "undefined instruction";
	case 0x0e:
		return "illegal execution state";
	case 0x18:
		return "trapped system register";
	case 0x21:
		return "instruction abort";
	case 0x22:
		return "misaligned pc";
	case 0x25:
		return "data abort";
	case 0x26:
		return "misaligned sp";
	default:
		return "exception";
	}
}

/* An attempt is abandoned at the kernel's own level and in its own state, whichever it went to. */
void cpu_exception(struct cpu_frame *frame, uint64_t kind)
{
	struct fault fault = {
		.name = kind == KIND_CURRENT_SYNCHRONOUS ? class_name(SYSREG_READ(esr_el1)) : "unexpected vector",
		.syndrome = SYSREG_READ(esr_el1),
		.pc = frame->elr,
		.address = SYSREG_READ(far_el1),
	};

	fault_take(&fault, attempt_stack != 0);
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
