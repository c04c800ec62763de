/* SPDX-License-Identifier: Apache-2.0 */
/* PL1 stage 1 with the large physical address extension: ARMv7 ARM B3.6 "Long-descriptor translation table format". */
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"
#include "memory_types.h"

#define MAIR0_VALUE (0x04U << (8 * MAIR_DEVICE) | 0xffU << (8 * MAIR_NORMAL)) /* Device; write-back, allocating */

/* TTBCR: 32 bits of address from TTBR0, whose first table has four entries; tables cached and shared; TTBR1 off */
#define TTBCR_IRGN0_WBWA (1U << 8)
#define TTBCR_ORGN0_WBWA (1U << 10)
#define TTBCR_SH0_INNER  (3U << 12)
#define TTBCR_EAE        (1U << 31)

enum { TTBR_ASID_SHIFT = 48 };

#define SCTLR_M (1U << 0)
#define SCTLR_C (1U << 2)
#define SCTLR_Z (1U << 11)
#define SCTLR_I (1U << 12)

/*
 * STRD to an aligned address is single-copy atomic for walks: ARMv7 ARM A3.5.3 "Atomicity in the ARM architecture". What a compiler makes
 * of an atomic store is a loop of exclusives, which need not end before caches are on.
 */
void memory_write(uint64_t *entry, uint64_t value)
{
	__asm__ volatile("strd %Q1, %R1, %0" : "=m"(*entry) : "r"(value));
}

void memory_publish(void)
{
	__asm__ volatile("dsb ishst\n\tisb" ::: "memory");
}

void memory_forget(void)
{
	__asm__ volatile("dsb ishst" ::: "memory");
	SYSREG_WRITE(TLBIALL, 0);
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
}

/* ARMv7 ARM B3.10 "TLB maintenance requirements": by address, which takes tables on the way, too; by ASID. */
void memory_forget_page(uint64_t virtual, unsigned asid)
{
	const uint32_t page = (uint32_t)virtual & ~0xfffU;

	__asm__ volatile("dsb ishst" ::: "memory");
	if (asid == MEMORY_EVERY_ASID)
		SYSREG_WRITE(TLBIMVAA, page);
	else
		SYSREG_WRITE(TLBIMVA, page | asid);
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
}

void memory_forget_asid(unsigned asid)
{
	if (asid == MEMORY_EVERY_ASID) {
		memory_forget();
		return;
	}
	__asm__ volatile("dsb ishst" ::: "memory");
	SYSREG_WRITE(TLBIASID, asid);
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
}

/* Base and ASID change at once. */
void memory_switch(const uint64_t *root, unsigned asid)
{
	SYSREG_WRITE64(TTBR0, (uintptr_t)root | (uint64_t)asid << TTBR_ASID_SHIFT);
	arch_isb();
}

/* ARMv7 ARM A3.5.4 "Concurrent modification and execution of instructions" */
void memory_publish_code(const void *start, uint64_t bytes)
{
	uint32_t line = 4U << (SYSREG_READ(CTR) >> 16 & 0xf); /* DminLine */

	for (uintptr_t at = (uintptr_t)start & ~(line - 1); at < (uintptr_t)start + bytes; at += line)
		SYSREG_WRITE(DCCMVAU, at);
	__asm__ volatile("dsb ish" ::: "memory");
	SYSREG_WRITE(ICIALLU, 0);
	SYSREG_WRITE(BPIALL, 0);
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
}

/* What was written with caches off must not be hidden by lines that they hold from before. */
static void forget_cached(uintptr_t start, uintptr_t end)
{
	uint32_t line = 4U << (SYSREG_READ(CTR) >> 16 & 0xf); /* DminLine */

	for (uintptr_t at = start & ~(line - 1); at < end; at += line)
		SYSREG_WRITE(DCIMVAC, at);
	__asm__ volatile("dsb sy" ::: "memory");
}

/* Walks write nothing; what they still bring is forgotten when the core starts (start.S). */
void memory_leave(void)
{
	memory_forget();
}

void memory_map_own(void) {}

void memory_start(const uint64_t *root, uint64_t written_end)
{
	extern const char rodata_end[]; /* kernel.lds */

	forget_cached((uintptr_t)rodata_end, (uintptr_t)written_end);
	SYSREG_WRITE(MAIR0, MAIR0_VALUE);
	SYSREG_WRITE(TTBCR, TTBCR_EAE | TTBCR_SH0_INNER | TTBCR_ORGN0_WBWA | TTBCR_IRGN0_WBWA);
	SYSREG_WRITE64(TTBR0, (uintptr_t)root);
	arch_isb();
	SYSREG_WRITE(TLBIALL, 0);
	SYSREG_WRITE(ICIALLU, 0);
	SYSREG_WRITE(BPIALL, 0);
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
	SYSREG_WRITE(SCTLR, SYSREG_READ(SCTLR) | SCTLR_M | SCTLR_C | SCTLR_Z | SCTLR_I);
	arch_isb();
}
