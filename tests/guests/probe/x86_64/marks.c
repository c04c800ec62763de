/* SPDX-License-Identifier: Apache-2.0 */
/* APM vol. 2, 6.1 "Fast System Call and Return", 4.5.3 "Segment Registers in 64-Bit Mode", 13.1 "Software-Debug Resources", 11.3 "SSE". */
#include "probe/marks.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "x86.h"

enum { CR4_OSFXSR = 1 << 9, XMMS = 3 };
#define LOWER_HALF 0x00007fffffffffffULL /* canonical addresses */

static const struct {
	uint32_t msr;
	uint64_t bits;
} marked[] = {
	{ MSR_STAR, ~0ULL },
	{ MSR_STAR + 1, LOWER_HALF },
	{ MSR_FS_BASE, LOWER_HALF },
	{ MSR_FS_BASE + 1, LOWER_HALF },
	{ MSR_FS_BASE + 2, LOWER_HALF },
};
enum { MSRS = sizeof(marked) / sizeof(marked[0]) };

static uint64_t mark(size_t n)
{
	return (n + 1) * MARK_MIX;
}

void marks_set(void)
{
	uint64_t cr4;

	for (size_t n = 0; n < MSRS; n++)
		x86_wrmsr(marked[n].msr, mark(n) & marked[n].bits);
	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("mov %0, %%cr4" ::"r"(cr4 | CR4_OSFXSR));
	__asm__ volatile("movq %0, %%xmm0\n\tmovq %1, %%xmm7\n\tmovq %2, %%xmm15" ::"r"(mark(MSRS)), "r"(mark(MSRS + 1)),
			 "r"(mark(MSRS + 2)));
	__asm__ volatile("mov %0, %%dr0\n\tmov %0, %%dr3" ::"r"(MARK_MIX));
}

uint64_t marks_lost(void)
{
	uint64_t lost = 0, vector[XMMS], address[2];

	for (size_t n = 0; n < MSRS; n++)
		lost += x86_rdmsr(marked[n].msr) != (mark(n) & marked[n].bits);
	__asm__ volatile("movq %%xmm0, %0\n\tmovq %%xmm7, %1\n\tmovq %%xmm15, %2" : "=r"(vector[0]), "=r"(vector[1]), "=r"(vector[2]));
	for (size_t n = 0; n < XMMS; n++)
		lost += vector[n] != mark(MSRS + n);
	__asm__ volatile("mov %%dr0, %0\n\tmov %%dr3, %1" : "=r"(address[0]), "=r"(address[1]));
	return lost + (address[0] != MARK_MIX) + (address[1] != MARK_MIX);
}

#define CALL_WITH_ZEROS(call)                                                            \
	"push %%rbp\n\t"                                                                 \
	".irp n, rbx, rcx, rdx, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, rbp\n\t" \
	"mov $0, %%\\n\n\t"                                                              \
	".endr\n\t"                                                                      \
	"cmp %%rbx, %%rbx\n\t" call "\n\t"                                               \
	"pop %%rbp"

void marks_call(uint64_t function)
{
	if (cpu_has_vmcall)
		__asm__ volatile(CALL_WITH_ZEROS("vmcall")
				 : "+a"(function)::"rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
				   "cc", "memory");
	else
		__asm__ volatile(CALL_WITH_ZEROS("vmmcall")
				 : "+a"(function)::"rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
				   "cc", "memory");
}
