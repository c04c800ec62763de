/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: calls the firmware, by SMC, or by HVC in a kernel's mode (firmware.h). */
#include "arch/arm/firmware.h"

#include "arch/arch.h"

intptr_t firmware_call(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c)
{
	register uint32_t r0 __asm__("r0") = function;
	register uint32_t r1 __asm__("r1") = a;
	register uint32_t r2 __asm__("r2") = b;
	register uint32_t r3 __asm__("r3") = c;

	if (arch_exception_level() == 1)
		__asm__ volatile("hvc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : : "memory");
	else
		__asm__ volatile("smc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : : "memory");
	return (intptr_t)r0;
}
