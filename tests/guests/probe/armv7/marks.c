/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv7 ARM B4.1 by register name; A2.6 "Advanced SIMD and Floating-point Extensions" of ID_MMFR are there on every core with Hyp mode. */
#include "probe/marks.h"

#include "abi/guest.h"
#include "sysreg.h"

enum { CPACR_CP10_CP11 = 0xf << 20, FPEXC_EN = 1 << 30, MARKS = 5 };

static void read(uint32_t value[MARKS])
{
	__asm__ volatile("mrc p15, 0, %0, c13, c0, 2" : "=r"(value[0])); /* TPIDRURW */
	__asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(value[1])); /* TPIDRURO */
	value[2] = SYSREG_READ(DFAR);
	__asm__ volatile(".fpu vfpv3\n\tvmov %0, s0\n\tvmov %1, s31" : "=r"(value[3]), "=r"(value[4]));
}

static uint32_t mark(unsigned n)
{
	return (uint32_t)((n + 1) * MARK_MIX);
}

void marks_set(void)
{
	SYSREG_WRITE(CPACR, SYSREG_READ(CPACR) | CPACR_CP10_CP11);
	arch_isb();
	__asm__ volatile("mcr p15, 0, %0, c13, c0, 2" ::"r"(mark(0)));
	__asm__ volatile("mcr p15, 0, %0, c13, c0, 3" ::"r"(mark(1)));
	SYSREG_WRITE(DFAR, mark(2));
	__asm__ volatile(".fpu vfpv3\n\tvmsr fpexc, %2\n\tvmov s0, %0\n\tvmov s31, %1" ::"r"(mark(3)), "r"(mark(4)), "r"(FPEXC_EN));
	arch_isb();
}

uint64_t marks_lost(void)
{
	uint32_t value[MARKS];
	uint64_t lost = 0;

	read(value);
	for (unsigned n = 0; n < MARKS; n++)
		lost += value[n] != mark(n);
	return lost;
}

/* r7 or r11 may be the frame's. */
void marks_call(uint64_t function)
{
	register uint32_t r0 __asm__("r0") = (uint32_t)function & ~(uint32_t)BH_CALL_64;

	__asm__ volatile("push {r7, r11}\n\t"
			 ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14\n\t"
			 "mov r\\n, #0\n\t"
			 ".endr\n\t"
			 "cmp r1, r1\n\t"
			 "hvc #0\n\t"
			 "pop {r7, r11}"
			 : "+r"(r0)
			 :
			 : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
}
