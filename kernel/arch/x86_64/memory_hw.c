/* SPDX-License-Identifier: Apache-2.0 */
/* Long-mode paging: APM vol. 2, 5.3 "Long-Mode Page Translation". */
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"

#define PRESENT       (1ULL << 0)
#define WRITE         (1ULL << 1)
#define WRITE_THROUGH (1ULL << 3)
#define CACHE_DISABLE (1ULL << 4)
#define ACCESSED      (1ULL << 5)
#define DIRTY         (1ULL << 6)
#define LARGE         (1ULL << 7)
#define NO_EXECUTE    (1ULL << 63)

const uint64_t memory_reach_base = 256ULL << 30;
const uint64_t memory_graft_base = 511ULL << 30;
/* Accessed and dirty from the start: the walker has nothing to write. */
const uint64_t memory_leaf[MEMORY_TYPES] = {
	[MEMORY_TEXT] = PRESENT | ACCESSED,
	[MEMORY_RODATA] = PRESENT | ACCESSED | NO_EXECUTE,
	[MEMORY_DATA] = PRESENT | WRITE | ACCESSED | DIRTY | NO_EXECUTE,
	[MEMORY_DEVICE] = PRESENT | WRITE | ACCESSED | DIRTY | NO_EXECUTE | WRITE_THROUGH | CACHE_DISABLE,
	[MEMORY_ANY] = PRESENT | WRITE | ACCESSED | DIRTY,
};
const uint64_t memory_large = LARGE;
const uint64_t memory_page = 0;
const uint64_t memory_table = PRESENT | WRITE | ACCESSED;

#define CR0_WP (1ULL << 16)

static _Alignas(4096) uint64_t pml4[512]; /* memory.c's root is its first entry */

bool memory_is_leaf(uint64_t entry)
{
	return entry & LARGE;
}

/* Entries that were not present are not cached: APM vol. 2, 5.5.3 "TLB Management". */
void memory_publish(void) {}

void memory_forget(void)
{
	uint64_t cr3;

	__asm__ volatile("mov %%cr3, %0\n\tmov %0, %%cr3" : "=r"(cr3)::"memory");
}

/*
 * Written at another address than it is run at: that takes a serializing instruction, as MOV to CR3 is one. SDM vol. 3, 9.1.3 "Handling
 * Self- and Cross-Modifying Code".
 */
void memory_publish_code(const void *start, uint64_t bytes)
{
	memory_forget();
}

void memory_activate(const uint64_t *root)
{
	uint64_t cr0;

	pml4[0] = (uint64_t)root | memory_table;
	x86_wrmsr(MSR_EFER, x86_rdmsr(MSR_EFER) | EFER_NXE);
	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("mov %0, %%cr0" ::"r"(cr0 | CR0_WP));
	__asm__ volatile("mov %0, %%cr3" ::"r"(pml4) : "memory");
}
