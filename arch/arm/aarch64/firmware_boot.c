/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: calls the firmware, by SMC, or by HVC at EL1 (firmware.h). */
#include "arch/arm/firmware.h"

#include "arch/arch.h"

#define CLOBBERED "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory"

intptr_t firmware_call(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c)
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = c;

	if (arch_exception_level() == 1)
		__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : CLOBBERED);
	else
		__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : CLOBBERED);
	return (intptr_t)x0;
}
