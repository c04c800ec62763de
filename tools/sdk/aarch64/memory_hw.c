/* SPDX-License-Identifier: Apache-2.0 */
/* MMU and caches, EL1 stage 1 (memory_hw.h). ARM ARM = Arm Architecture Reference Manual for A-profile, DDI 0487. */
#include "../arm/memory_hw.h"

#include "reach.h"

/* ARM ARM D24.2 "TCR_EL1": 39 bits of address from TTBR0, walks cached and shared, 4 KiB granule (TG0 = 0), TTBR1 off */
#define TCR_T0SZ_39_BITS (64ULL - 39)
#define TCR_IRGN0_WBWA   (1ULL << 8)
#define TCR_ORGN0_WBWA   (1ULL << 10)
#define TCR_SH0_INNER    (3ULL << 12)
#define TCR_EPD1         (1ULL << 23)
#define TCR_IPS_SHIFT    32
#define TCR_VALUE        (TCR_T0SZ_39_BITS | TCR_IRGN0_WBWA | TCR_ORGN0_WBWA | TCR_SH0_INNER | TCR_EPD1)
_Static_assert(REACH_END == 1ULL << 39, "T0SZ");

/* ARM ARM D24.2 "ID_AA64MMFR0_EL1" */
#define ID_AA64MMFR0_PARANGE 0xfULL

/* ARM ARM D24.2 "SCTLR_EL1" */
#define SCTLR_M (1ULL << 0)
#define SCTLR_C (1ULL << 2)
#define SCTLR_I (1ULL << 12)

/* ARM ARM D7.5 "Caches"; D24.2 "CTR_EL0": bits 19:16 say how many words a line has, as a power of two. */
void memory_hw_forget_cached(uint64_t start, uint64_t bytes)
{
	uint64_t line;

	__asm__("mrs %0, ctr_el0" : "=r"(line));
	line = 4ULL << (line >> 16 & 0xf);
	for (uint64_t at = start & ~(line - 1); at < start + bytes; at += line)
		__asm__ volatile("dc ivac, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}

/* Nothing that was translated or fetched before stays: ARM ARM D8.17 "TLB maintenance", D7.5 "Caches". */
void memory_hw_turn_on(const uint64_t *root)
{
	uint64_t range, sctlr;

	__asm__("mrs %0, id_aa64mmfr0_el1" : "=r"(range));
	__asm__ volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
	__asm__ volatile("msr mair_el1, %0" ::"r"((uint64_t)MAIR_VALUE) : "memory"); /* D24.2 "MAIR_EL1" */
	__asm__ volatile("msr tcr_el1, %0" ::"r"(TCR_VALUE | (range & ID_AA64MMFR0_PARANGE) << TCR_IPS_SHIFT)
			 : "memory");                                 /* D24.2 "TCR_EL1" */
	__asm__ volatile("msr ttbr0_el1, %0" ::"r"(root) : "memory"); /* D24.2 "TTBR0_EL1": ASID 0 */
	__asm__ volatile("isb\n\ttlbi vmalle1\n\tdsb nsh\n\tic iallu\n\tdsb nsh\n\tisb" ::: "memory");
	__asm__ volatile("msr sctlr_el1, %0\n\tisb" ::"r"(sctlr | SCTLR_M | SCTLR_C | SCTLR_I) : "memory"); /* D24.2 "SCTLR_EL1" */
}
