/* SPDX-License-Identifier: Apache-2.0 */
/* EL1 stage 1, 4 KiB granule: Arm ARM, chapter D8 "The AArch64 Virtual Memory System Architecture". */
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"
#include "memory_types.h"

#define MAIR_VALUE (0x04ULL << (8 * MAIR_DEVICE) | 0xffULL << (8 * MAIR_NORMAL)) /* Device-nGnRE; write-back, allocating */

/* TCR_EL1: 39 bits of address from TTBR0, tables cached and shared, TTBR1 off */
#define TCR_T0SZ_39_BITS     (64ULL - 39)
#define TCR_IRGN0_WBWA       (1ULL << 8)
#define TCR_ORGN0_WBWA       (1ULL << 10)
#define TCR_SH0_INNER        (3ULL << 12)
#define TCR_EPD1             (1ULL << 23)
#define TCR_IPS(range)       ((uint64_t)(range) << 32)
#define ID_AA64MMFR0_PARANGE 0xfULL

enum { ASID_SHIFT = 48 }; /* in TTBR0_EL1, and in what TLB maintenance is told */

/* SCTLR_EL1 */
#define SCTLR_RES1 0x30d00800ULL
#define SCTLR_M    (1ULL << 0)
#define SCTLR_C    (1ULL << 2)
#define SCTLR_SA   (1ULL << 3)
#define SCTLR_I    (1ULL << 12)

/* Aligned stores of 64 bits are single-copy atomic: Arm ARM, B2.2.1 "Requirements for single-copy atomicity". */
void memory_write(uint64_t *entry, uint64_t value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

void memory_publish(void)
{
	__asm__ volatile("dsb ishst\n\tisb" ::: "memory");
}

void memory_forget(void)
{
	__asm__ volatile("dsb ishst\n\ttlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
}

/* Arm ARM, D8.17 "TLB maintenance": by address, which takes tables on the way, too; by ASID. */
void memory_forget_page(uint64_t virtual, unsigned asid)
{
	const uint64_t page = virtual << 8 >> 20; /* bits 55:12 */

	if (asid == MEMORY_EVERY_ASID)
		__asm__ volatile("dsb ishst\n\ttlbi vaae1, %0\n\tdsb nsh\n\tisb" ::"r"(page) : "memory");
	else
		__asm__ volatile("dsb ishst\n\ttlbi vae1, %0\n\tdsb nsh\n\tisb" ::"r"(page | (uint64_t)asid << ASID_SHIFT) : "memory");
}

void memory_forget_asid(unsigned asid)
{
	if (asid == MEMORY_EVERY_ASID)
		memory_forget();
	else
		__asm__ volatile("dsb ishst\n\ttlbi aside1, %0\n\tdsb nsh\n\tisb" ::"r"((uint64_t)asid << ASID_SHIFT) : "memory");
}

/* Base and ASID change at once. */
void memory_switch(const uint64_t *root, unsigned asid)
{
	SYSREG_WRITE(ttbr0_el1, (uint64_t)root | (uint64_t)asid << ASID_SHIFT);
	arch_isb();
}

/* Arm ARM, B2.7.4.2 "Synchronization and coherency issues between data and instruction accesses" */
void memory_publish_code(const void *start, uint64_t bytes)
{
	uint64_t line = 4ULL << (SYSREG_READ(ctr_el0) >> 16 & 0xf); /* DminLine */

	for (uint64_t at = (uint64_t)start & ~(line - 1); at < (uint64_t)start + bytes; at += line)
		__asm__ volatile("dc cvau, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb ish\n\tic iallu\n\tdsb nsh\n\tisb" ::: "memory");
}

/* What was written with caches off must not be hidden by lines that they hold from before. */
static void forget_cached(uint64_t start, uint64_t end)
{
	uint64_t line = 4ULL << (SYSREG_READ(ctr_el0) >> 16 & 0xf); /* DminLine */

	for (uint64_t at = start & ~(line - 1); at < end; at += line)
		__asm__ volatile("dc ivac, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}

/* Walks write nothing, as TCR_EL1.HA is clear; what they still bring is forgotten when the core starts (start.S). */
void memory_leave(void)
{
	memory_forget();
}

void memory_map_own(void) {}

void memory_start(const uint64_t *root, uint64_t written_end)
{
	extern const char rodata_end[]; /* kernel.lds */

	forget_cached((uint64_t)rodata_end, written_end);
	SYSREG_WRITE(mair_el1, MAIR_VALUE);
	SYSREG_WRITE(tcr_el1, TCR_T0SZ_39_BITS | TCR_IRGN0_WBWA | TCR_ORGN0_WBWA | TCR_SH0_INNER | TCR_EPD1 |
				      TCR_IPS(SYSREG_READ(id_aa64mmfr0_el1) & ID_AA64MMFR0_PARANGE));
	SYSREG_WRITE(ttbr0_el1, root);
	arch_isb();
	__asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tic iallu\n\tdsb nsh\n\tisb" ::: "memory");
	SYSREG_WRITE(sctlr_el1, SCTLR_RES1 | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I);
	arch_isb();
}
