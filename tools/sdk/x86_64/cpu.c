/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's part that depends on the processor: entry, call, clock, sleep (bulkhead.h). */
#include "../entry.h"

enum { MAKER_ECX_INTEL = 0x6c65746e /* "ntel" of "GenuineIntel" */ };

BACKTRACES_END _Noreturn void _start(const struct bh_info *info);

/* The stack begins at a multiple of 16, as before a call; a function expects what it is after one. */
__attribute__((force_align_arg_pointer)) void _start(const struct bh_info *info)
{
	enter(info);
}

static uint32_t maker(void)
{
	uint32_t leaf = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(leaf), "=b"(b), "+c"(c), "=d"(d));
	return c;
}

/* Each maker's processors have an instruction of their own for it; the other's is undefined. CPUID exits, so its answer is kept. */
int64_t bulkhead_call(enum bh_call function, uint64_t argument)
{
	static uint32_t known;
	uint64_t result = (uint32_t)function;

	if (!known)
		known = maker();
	if (known == MAKER_ECX_INTEL)
		__asm__ volatile("vmcall" : "+a"(result) : "b"(argument) : "memory");
	else
		__asm__ volatile("vmmcall" : "+a"(result) : "b"(argument) : "memory");
	return (int64_t)result;
}

uint64_t bulkhead_clock(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

uint64_t bulkhead_clock_hz(const struct bh_info *info)
{
	return info->clock_hz;
}

void bulkhead_sleep(void)
{
	__asm__ volatile("sti\n\thlt\n\tcli" ::: "memory");
}
