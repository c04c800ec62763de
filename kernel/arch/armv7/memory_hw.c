/* SPDX-License-Identifier: Apache-2.0 */
/* PL1 stage 1 with the large physical address extension: ARMv7 ARM B3.6 "Long-descriptor translation table format". */
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"

enum { MAIR_DEVICE, MAIR_NORMAL };                                            /* indices into MAIR0 */
#define MAIR0_VALUE (0x04U << (8 * MAIR_DEVICE) | 0xffU << (8 * MAIR_NORMAL)) /* Device; write-back, allocating */

/* B3.6.2 "Memory attributes in the Long-descriptor translation table format descriptors" */
#define ATTR_INDEX(n) ((uint64_t)(n) << 2)
#define AP_USER       (1ULL << 6)
#define AP_READ_ONLY  (1ULL << 7)
#define SH_INNER      (3ULL << 8)
#define AF            (1ULL << 10)
#define XN            (1ULL << 54)
#define NORMAL        (ATTR_INDEX(MAIR_NORMAL) | SH_INNER | AF)

/* 4 GiB of addresses; the upper half is for attacks. */
const uint64_t memory_reach_base = 2ULL << 30;
const uint64_t memory_graft_base = 3ULL << 30;

/* User mode runs the same text: what is refused there alone is an attack, too. */
const uint64_t memory_leaf[MEMORY_TYPES] = {
	[MEMORY_TEXT] = NORMAL | AP_READ_ONLY | AP_USER,
	[MEMORY_RODATA] = NORMAL | AP_READ_ONLY | XN,
	[MEMORY_DATA] = NORMAL | XN,
	[MEMORY_DEVICE] = ATTR_INDEX(MAIR_DEVICE) | AF | XN,
	[MEMORY_ANY] = NORMAL,
};
const uint64_t memory_large = 1;
const uint64_t memory_page = 3;
const uint64_t memory_table = 3;

/* TTBCR: 32 bits of address from TTBR0, whose first table has four entries; tables cached and shared; TTBR1 off */
#define TTBCR_IRGN0_WBWA (1U << 8)
#define TTBCR_ORGN0_WBWA (1U << 10)
#define TTBCR_SH0_INNER  (3U << 12)
#define TTBCR_EAE        (1U << 31)

#define SCTLR_M (1U << 0)
#define SCTLR_C (1U << 2)
#define SCTLR_Z (1U << 11)
#define SCTLR_I (1U << 12)

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
	__asm__ volatile("dsb ishst" ::: "memory");
	SYSREG_WRITE(TLBIALL, 0);
	__asm__ volatile("dsb nsh\n\tisb" ::: "memory");
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
static void forget_cached(const char *start, const char *end)
{
	uint32_t line = 4U << (SYSREG_READ(CTR) >> 16 & 0xf); /* DminLine */

	for (uintptr_t at = (uintptr_t)start & ~(line - 1); at < (uintptr_t)end; at += line)
		SYSREG_WRITE(DCIMVAC, at);
	__asm__ volatile("dsb sy" ::: "memory");
}

void memory_activate(const uint64_t *root)
{
	extern const char rodata_end[], image_end[]; /* kernel.lds */

	forget_cached(rodata_end, image_end);
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
