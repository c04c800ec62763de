/* SPDX-License-Identifier: Apache-2.0 */
/* EL1 stage 1, 4 KiB granule: Arm ARM, chapter D8 "The AArch64 Virtual Memory System Architecture". */
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"

enum { MAIR_DEVICE, MAIR_NORMAL };                                               /* indices into MAIR_EL1 */
#define MAIR_VALUE (0x04ULL << (8 * MAIR_DEVICE) | 0xffULL << (8 * MAIR_NORMAL)) /* Device-nGnRE; write-back, allocating */

/* "Block descriptor and Page descriptor attributes" of stage 1 */
#define ATTR_INDEX(n) ((uint64_t)(n) << 2)
#define AP_READ_ONLY  (1ULL << 7)
#define SH_INNER      (3ULL << 8)
#define AF            (1ULL << 10)
#define PXN           (1ULL << 53)
#define UXN           (1ULL << 54)
#define NORMAL        (ATTR_INDEX(MAIR_NORMAL) | SH_INNER | AF | UXN)

const uint64_t memory_reach_base = 256ULL << 30;
const uint64_t memory_graft_base = 511ULL << 30;
const uint64_t memory_leaf[MEMORY_TYPES] = {
	[MEMORY_TEXT] = NORMAL | AP_READ_ONLY,
	[MEMORY_RODATA] = NORMAL | AP_READ_ONLY | PXN,
	[MEMORY_DATA] = NORMAL | PXN,
	[MEMORY_DEVICE] = ATTR_INDEX(MAIR_DEVICE) | AF | UXN | PXN,
	[MEMORY_ANY] = NORMAL,
};
const uint64_t memory_large = 1;
const uint64_t memory_page = 3;
const uint64_t memory_table = 3;

/* TCR_EL1: 39 bits of address from TTBR0, tables cached and shared, TTBR1 off */
#define TCR_T0SZ_39_BITS     (64ULL - 39)
#define TCR_IRGN0_WBWA       (1ULL << 8)
#define TCR_ORGN0_WBWA       (1ULL << 10)
#define TCR_SH0_INNER        (3ULL << 12)
#define TCR_EPD1             (1ULL << 23)
#define TCR_IPS(range)       ((uint64_t)(range) << 32)
#define ID_AA64MMFR0_PARANGE 0xfULL

/* SCTLR_EL1 */
#define SCTLR_RES1 0x30d00800ULL
#define SCTLR_M    (1ULL << 0)
#define SCTLR_C    (1ULL << 2)
#define SCTLR_SA   (1ULL << 3)
#define SCTLR_I    (1ULL << 12)

bool memory_is_leaf(uint64_t entry)
{
	return !(entry & 2);
}

void memory_publish(void)
{
	__asm__ volatile("dsb ishst\n\tisb" ::: "memory");
}

void memory_forget(void)
{
	__asm__ volatile("dsb ishst\n\ttlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
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
static void forget_cached(const char *start, const char *end)
{
	uint64_t line = 4ULL << (SYSREG_READ(ctr_el0) >> 16 & 0xf); /* DminLine */

	for (uint64_t at = (uint64_t)start & ~(line - 1); at < (uint64_t)end; at += line)
		__asm__ volatile("dc ivac, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}

void memory_activate(const uint64_t *root)
{
	extern const char rodata_end[], image_end[]; /* kernel.lds */

	forget_cached(rodata_end, image_end);
	SYSREG_WRITE(mair_el1, MAIR_VALUE);
	SYSREG_WRITE(tcr_el1, TCR_T0SZ_39_BITS | TCR_IRGN0_WBWA | TCR_ORGN0_WBWA | TCR_SH0_INNER | TCR_EPD1 |
				      TCR_IPS(SYSREG_READ(id_aa64mmfr0_el1) & ID_AA64MMFR0_PARANGE));
	SYSREG_WRITE(ttbr0_el1, root);
	arch_isb();
	__asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tic iallu\n\tdsb nsh\n\tisb" ::: "memory");
	SYSREG_WRITE(sctlr_el1, SCTLR_RES1 | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I);
	arch_isb();
}
