/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring 3. Its calls come by SYSCALL: APM vol. 2, 6.1.1 "SYSCALL and SYSRET Instructions". The kernel runs with the program's GS base, and
 * the other one, which SWAPGS brings, is for the entry of calls alone: this core's TSS.
 */
#include "kernel/core/user.h"

#include "descriptors.h"
#include "frame.h"
#include "kernel/core/cpu.h"
#include "segments.h"

enum { CR0_MP = 1 << 1, CR0_EM = 1 << 2, CR0_TS = 1 << 3, CR4_OSFXSR = 1 << 9, CR4_OSXMMEXCPT = 1 << 10 };
enum { MSR_GS_BASE = 0xc0000101, MSR_KERNEL_GS_BASE, MSR_LSTAR = 0xc0000082 };
enum { RFLAGS_CLEARED = 0x257fd5 /* by SYSCALL: all that a program may have set, IF, TF and DF among them */ };
enum { FCW_RESET = 0x37f, MXCSR_RESET = 0x1f80 };

extern const char cpu_call_entry[]; /* vectors.S */

/* SYSRET takes CS 16 and SS 8 above its selector. */
#define STAR ((uint64_t)(SELECTOR_USER_CODE - 16) << 48 | (uint64_t)SELECTOR_CODE << 32)
_Static_assert(SELECTOR_USER_DATA == SELECTOR_USER_CODE - 8 && SELECTOR_DATA == SELECTOR_CODE + 8, "as SYSCALL and SYSRET want them");

void cpu_user_init(void)
{
	__asm__ volatile("mov %0, %%fs\n\tmov %0, %%gs" ::"r"(0)); /* bases are in MSRs; a selector would be changed by an IRET */
	x86_wrmsr(MSR_KERNEL_GS_BASE, descriptors_tss());
	x86_wrmsr(MSR_STAR, STAR);
	x86_wrmsr(MSR_LSTAR, (uint64_t)cpu_call_entry);
	x86_wrmsr(MSR_SFMASK, RFLAGS_CLEARED);
	x86_wrmsr(MSR_EFER, x86_rdmsr(MSR_EFER) | EFER_SCE);
	x86_write_cr4((x86_read_cr4() & ~(uint64_t)CR4_PCE) | CR4_OSFXSR | CR4_OSXMMEXCPT);
	x86_write_cr0((x86_read_cr0() & ~(uint64_t)CR0_EM) | CR0_MP | CR0_NE | CR0_TS);
}

void cpu_user_reset(struct cpu_user *user, uint64_t tls)
{
	*user = (struct cpu_user){ .fp = { .fcw = FCW_RESET, .mxcsr = MXCSR_RESET }, .fs_base = tls };
}

void cpu_frame_reset(struct cpu_frame *frame, uint64_t pc, uint64_t sp, uint64_t argument)
{
	*frame = (struct cpu_frame){
		.rdi = argument,
		.rip = pc,
		.cs = SELECTOR_USER_CODE | 3,
		.rflags = RFLAGS_FIXED | RFLAGS_IF,
		.rsp = sp,
		.ss = SELECTOR_USER_DATA | 3,
	};
}

uint64_t cpu_frame_call(const struct cpu_frame *frame)
{
	return frame->rax;
}

void cpu_frame_set_result(struct cpu_frame *frame, int64_t result)
{
	frame->rax = (uint64_t)result;
}

void cpu_user_save(struct cpu_user *user)
{
	user->fs_base = x86_rdmsr(MSR_FS_BASE);
	user->gs_base = x86_rdmsr(MSR_GS_BASE);
}

void cpu_user_load(const struct cpu_user *user)
{
	x86_wrmsr(MSR_FS_BASE, user->fs_base);
	x86_wrmsr(MSR_GS_BASE, user->gs_base);
}

/* APM vol. 2, 3.1.1 "CR0 Register": what uses x87 or SSE while CR0.TS is set raises #NM. */
void cpu_fp_enable(bool on)
{
	if (on)
		__asm__ volatile("clts" ::: "memory");
	else
		x86_write_cr0(x86_read_cr0() | CR0_TS);
}
