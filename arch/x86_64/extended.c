/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: puts all state that XSAVE manages as it is after reset, for a new life of a guest core. */
#include "arch/x86_64/x86.h"

enum { CPUID_XSAVE = 1 << 26, LEAF_EXTENDED = 0xd };
enum { AREA_WORDS = 576 / sizeof(uint32_t) /* legacy region and header */, MXCSR = 24 / sizeof(uint32_t), MXCSR_RESET = 0x1f80 };

void x86_clear_extended(void)
{
	_Alignas(64) uint32_t area[AREA_WORDS];
	uint64_t cr4 = x86_read_cr4();

	if (!(x86_cpuid(1, 0).ecx & CPUID_XSAVE))
		return;
	for (unsigned n = 0; n < AREA_WORDS; n++)
		area[n] = n == MXCSR ? MXCSR_RESET : 0;
	x86_write_cr4(cr4 | CR4_OSXSAVE);
	x86_xsetbv(0, x86_cpuid(LEAF_EXTENDED, 0).eax);
	__asm__ volatile("xrstor %0" : : "m"(area), "a"(UINT32_MAX), "d"(UINT32_MAX));
	x86_xsetbv(0, XCR0_X87);
	x86_write_cr4(cr4);
}
