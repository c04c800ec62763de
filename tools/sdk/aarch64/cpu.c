/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's part that depends on the processor: entry, call, clock, sleep (bulkhead.h). */
#include "../entry.h"

BACKTRACES_END _Noreturn void _start(const struct bh_info *info);

void _start(const struct bh_info *info)
{
	enter(info);
}

/* Arm DEN 0028, 2.6 "SMC64/HVC64 argument passing": x1-x17 may change in general; this monitor keeps them. */
int64_t bulkhead_call(enum bh_call function, uint64_t argument)
{
	register uint64_t x0 __asm__("x0") = (uint32_t)function;
	register uint64_t x1 __asm__("x1") = argument;

	__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1)::"memory");
	return (int64_t)x0;
}

uint64_t bulkhead_clock(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}

uint64_t bulkhead_clock_hz(const struct bh_info *info)
{
	uint64_t hertz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
	return info->clock_hz ? info->clock_hz : hertz;
}

void bulkhead_sleep(void)
{
	__asm__ volatile("wfi" ::: "memory");
}
