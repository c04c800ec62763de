/* SPDX-License-Identifier: Apache-2.0 */
/* What the smallest guests need of this processor: a call of the monitor, and sleep. */
#pragma once
#include <stdint.h>

/* Intel's processors have one instruction for it, AMD's another; CPUID tells the maker's name: "ntel" of "GenuineIntel". */
static inline void tiny_call_monitor(uint64_t function)
{
	uint32_t leaf = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(leaf), "=b"(b), "+c"(c), "=d"(d));
	if (c == 0x6c65746e)
		__asm__ volatile("vmcall" : "+a"(function)::"memory");
	else
		__asm__ volatile("vmmcall" : "+a"(function)::"memory");
}

static inline void tiny_sleep(void)
{
	__asm__ volatile("hlt");
}
