/* SPDX-License-Identifier: Apache-2.0 */
/* User mode on this processor (kernel/core/user.h): EL0, its floating point and thread pointers. */
#include "kernel/core/user.h"

#include "frame.h"
#include "kernel/core/cpu.h"

enum { CPACR_FPEN = 3 << 20, CNTKCTL_EL0VCTEN = 1 << 1, SPSR_F = 1 << 6 };

/* Undefined where there are no performance monitors, and then nothing is to be closed. */
static uint64_t close_counters(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(pmuserenr_el0, 0);
	return 0;
}

/* Arm ARM, "CNTKCTL_EL1", "PMUSERENR_EL0": a program may read the virtual counter, and reaches no timer and no performance monitor. */
void cpu_user_init(void)
{
	uint64_t nothing;

	SYSREG_WRITE(cntkctl_el1, CNTKCTL_EL0VCTEN);
	cpu_attempt(close_counters, 0, 0, &nothing);
	cpu_fp_enable(false);
}

void cpu_user_reset(struct cpu_user *user, uint64_t tls)
{
	*user = (struct cpu_user){ .tpidr_el0 = tls };
}

/* SPSR_EL1: EL0 with its own stack pointer, FIQ masked as in the kernel. */
void cpu_frame_reset(struct cpu_frame *frame, uint64_t pc, uint64_t sp, uint64_t argument)
{
	*frame = (struct cpu_frame){ .x = { argument }, .elr = pc, .spsr = SPSR_F, .sp_el0 = sp };
}

uint64_t cpu_frame_call(const struct cpu_frame *frame)
{
	return frame->x[8];
}

void cpu_frame_set_result(struct cpu_frame *frame, int64_t result)
{
	frame->x[0] = (uint64_t)result;
}

void cpu_user_save(struct cpu_user *user)
{
	user->tpidr_el0 = SYSREG_READ(tpidr_el0);
	user->tpidrro_el0 = SYSREG_READ(tpidrro_el0);
}

void cpu_user_load(const struct cpu_user *user)
{
	SYSREG_WRITE(tpidr_el0, user->tpidr_el0);
	SYSREG_WRITE(tpidrro_el0, user->tpidrro_el0);
}

/* Arm ARM, "CPACR_EL1": FPEN 0 traps EL0 and EL1, 3 neither. */
void cpu_fp_enable(bool on)
{
	SYSREG_WRITE(cpacr_el1, on ? CPACR_FPEN : 0);
	arch_isb();
}
