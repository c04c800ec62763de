/* SPDX-License-Identifier: Apache-2.0 */
/* What the smallest guests need of this processor: a call of the monitor, and sleep. */
#pragma once
#include <stdint.h>

static inline void tiny_call_monitor(uint64_t function)
{
	register uint64_t x0 __asm__("x0") = function;

	__asm__ volatile("hvc #0" : "+r"(x0)::"memory");
}

static inline void tiny_sleep(void)
{
	__asm__ volatile("wfi");
}
