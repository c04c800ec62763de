/* SPDX-License-Identifier: Apache-2.0 */
/* User mode on this processor (kernel/core/user.h): USR, its floating point and thread pointers. */
#include "kernel/core/user.h"

#include "frame.h"
#include "kernel/core/cpu.h"

enum { CPACR_CP10_CP11 = 0xf << 20, CNTKCTL_PL0VCTEN = 1 << 1 };

/* Undefined where there are no performance monitors, and then nothing is to be closed. */
static uint64_t close_counters(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(PMUSERENR, 0);
	return 0;
}

/*
 * ARMv7 ARM B4.1.26 "CNTKCTL": a program may read the virtual counter, and reaches no timer and no performance monitor. Coprocessors 10 and
 * 11 are always let through: what turns them off and on is FPEXC.EN.
 */
void cpu_user_init(void)
{
	uint64_t nothing;

	SYSREG_WRITE(CNTKCTL, CNTKCTL_PL0VCTEN);
	cpu_attempt(close_counters, 0, 0, &nothing);
	SYSREG_WRITE(CPACR, SYSREG_READ(CPACR) | CPACR_CP10_CP11);
	arch_isb();
	cpu_fp_enable(false);
}

void cpu_user_reset(struct cpu_user *user, uint64_t tls)
{
	*user = (struct cpu_user){ .tpidruro = (uint32_t)tls };
}

/* Thumb state if bit 0 of `pc` is set; FIQ masked as in the kernel. */
void cpu_frame_reset(struct cpu_frame *frame, uint64_t pc, uint64_t sp, uint64_t argument)
{
	*frame = (struct cpu_frame){
		.user_sp = (uint32_t)sp,
		.r = { (uint32_t)argument },
		.pc = (uint32_t)pc & ~1U,
		.cpsr = MODE_USR | CPSR_F | (pc & 1 ? CPSR_T : 0),
	};
}

uint64_t cpu_frame_call(const struct cpu_frame *frame)
{
	return frame->r[7];
}

void cpu_frame_set_result(struct cpu_frame *frame, int64_t result)
{
	frame->r[0] = (uint32_t)result;
}

void cpu_user_save(struct cpu_user *user)
{
	user->tpidrurw = SYSREG_READ(TPIDRURW);
	user->tpidruro = SYSREG_READ(TPIDRURO);
}

void cpu_user_load(const struct cpu_user *user)
{
	SYSREG_WRITE(TPIDRURW, user->tpidrurw);
	SYSREG_WRITE(TPIDRURO, user->tpidruro);
}
