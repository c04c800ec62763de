/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's part that depends on the processor: entry, call, clock, sleep (bulkhead.h). */
#include "../entry.h"

BACKTRACES_END _Noreturn void _start(const struct bh_info *info);

void _start(const struct bh_info *info)
{
	enter(info);
}

/* 32-bit calls, whose results are sign-extended: abi/guest.h. */
int64_t bulkhead_call(enum bh_call function, uint64_t argument)
{
	register uint32_t r0 __asm__("r0") = (uint32_t)function & ~(uint32_t)BH_CALL_64;
	register uint32_t r1 __asm__("r1") = (uint32_t)argument;

	__asm__ volatile("hvc #0" : "+r"(r0), "+r"(r1)::"memory");
	return (int32_t)r0;
}

uint64_t bulkhead_clock(void)
{
	uint32_t low, high;

	__asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high)::"memory"); /* CNTVCT */
	return (uint64_t)high << 32 | low;
}

uint64_t bulkhead_clock_hz(const struct bh_info *info)
{
	uint32_t hertz;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(hertz)); /* CNTFRQ */
	return info->clock_hz ? info->clock_hz : hertz;
}

void bulkhead_sleep(void)
{
	__asm__ volatile("wfi" ::: "memory");
}
