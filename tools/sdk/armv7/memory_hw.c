/* SPDX-License-Identifier: Apache-2.0 */
/* MMU and caches, PL1 stage 1 by long descriptors (memory_hw.h). ARMv7 ARM = Arm Architecture Reference Manual, ARMv7-A and R, DDI 0406C.
 */
#include "../arm/memory_hw.h"

/* ARMv7 ARM B4.1 "TTBCR": long descriptors, 32 bits of address from TTBR0 (T0SZ = 0), walks cached and shared; TTBR1 off */
#define TTBCR_IRGN0_WBWA (1U << 8)
#define TTBCR_ORGN0_WBWA (1U << 10)
#define TTBCR_SH0_INNER  (3U << 12)
#define TTBCR_EPD1       (1U << 23)
#define TTBCR_EAE        (1U << 31)
#define TTBCR_VALUE      (TTBCR_EAE | TTBCR_EPD1 | TTBCR_SH0_INNER | TTBCR_ORGN0_WBWA | TTBCR_IRGN0_WBWA)

/* ARMv7 ARM B4.1 "SCTLR": MMU, data caches, branch prediction, instruction caches */
#define SCTLR_M (1U << 0)
#define SCTLR_C (1U << 2)
#define SCTLR_Z (1U << 11)
#define SCTLR_I (1U << 12)

/* ARMv7 ARM B4.2.1 "Cache and branch predictor maintenance operations", DCIMVAC; B4.1 "CTR": bits 19:16, a line's words as a power of two.
 */
void memory_hw_forget_cached(uint64_t start, uint64_t bytes)
{
	uint32_t line;

	__asm__("mrc p15, 0, %0, c0, c0, 1" : "=r"(line)); /* CTR */
	line = 4U << (line >> 16 & 0xf);
	for (uint64_t at = start & ~(uint64_t)(line - 1); at < start + bytes; at += line)
		__asm__ volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"((uint32_t)at) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}

/* Nothing that was translated, fetched or predicted before stays: ARMv7 ARM B3.10 "TLB maintenance requirements", B4.2.1. */
void memory_hw_turn_on(const uint64_t *root)
{
	uint32_t sctlr;

	__asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(sctlr));
	__asm__ volatile("mcr p15, 0, %0, c10, c2, 0" ::"r"(MAIR_VALUE) : "memory");               /* B4.1 "MAIR0, MAIR1" */
	__asm__ volatile("mcr p15, 0, %0, c10, c2, 1" ::"r"(0) : "memory");                        /* MAIR1: no index above 3 is used */
	__asm__ volatile("mcr p15, 0, %0, c2, c0, 2" ::"r"(TTBCR_VALUE) : "memory");               /* B4.1 "TTBCR" */
	__asm__ volatile("mcrr p15, 0, %Q0, %R0, c2" ::"r"((uint64_t)(uintptr_t)root) : "memory"); /* B4.1 "TTBR0": ASID 0 */
	__asm__ volatile("isb" ::: "memory");
	__asm__ volatile("mcr p15, 0, %0, c8, c7, 0" ::"r"(0) : "memory"); /* B3.10.5, TLBIALL */
	__asm__ volatile("mcr p15, 0, %0, c7, c5, 0" ::"r"(0) : "memory"); /* B4.2.1, ICIALLU */
	__asm__ volatile("mcr p15, 0, %0, c7, c5, 6" ::"r"(0) : "memory"); /* B4.2.1, BPIALL */
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
	__asm__ volatile("mcr p15, 0, %0, c1, c0, 0" ::"r"(sctlr | SCTLR_M | SCTLR_C | SCTLR_Z | SCTLR_I) : "memory"); /* B4.1 "SCTLR" */
	__asm__ volatile("isb" ::: "memory");
}
