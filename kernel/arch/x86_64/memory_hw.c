/* SPDX-License-Identifier: Apache-2.0 */
/* Long-mode paging: APM vol. 2, 5.3 "Long-Mode Page Translation". */
#include "descriptors.h"
#include "kernel/core/cpu.h"
#include "kernel/core/memory.h"
#include "kernel/core/space.h"

#define CR0_WP (1ULL << 16)

/* Aligned stores of 64 bits are atomic: APM vol. 2, 7.3.2 "Access Atomicity". */
void memory_write(uint64_t *entry, uint64_t value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

/*
 * Entries that were not present are not cached: APM vol. 2, 5.5.3 "TLB Management". Stores are seen in their order, if the compiler keeps
 * it: 7.2 "Multiprocessor Memory Access Ordering".
 */
void memory_publish(void)
{
	__asm__ volatile("" ::: "memory");
}

void memory_forget(void)
{
	uint64_t cr3;

	__asm__ volatile("mov %%cr3, %0\n\tmov %0, %%cr3" : "=r"(cr3)::"memory");
}

/* Tables on the way are forgotten, too: APM vol. 3, "INVLPG". */
void memory_forget_page(uint64_t virtual, unsigned asid)
{
	__asm__ volatile("invlpg (%0)" ::"r"(virtual) : "memory");
}

/* No entry is global and none has an identifier. */
void memory_forget_asid(unsigned asid)
{
	memory_forget();
}

/*
 * Written at another address than it is run at: that takes a serializing instruction, as MOV to CR3 is one. SDM vol. 3, 9.1.3 "Handling
 * Self- and Cross-Modifying Code".
 */
void memory_publish_code(const void *start, uint64_t bytes)
{
	memory_forget();
}

void memory_switch(const uint64_t *root, unsigned asid)
{
	__asm__ volatile("mov %0, %%cr3" ::"r"(root) : "memory");
}

/*
 * A walk sets accessed bits, in a table that is a table no longer if it speculates by what it holds: so the core goes on by start-up's
 * tables, which nobody changes. APM vol. 2, 5.4.2 "Notes on Accessed and Dirty Bits".
 */
extern const uint64_t boot_pml4[]; /* start.S */

void memory_leave(void)
{
	memory_switch(boot_pml4, 0);
}

void memory_come_back(void)
{
	uint64_t root;

	__asm__ volatile("mov %%cr3, %0" : "=r"(root));
	if (root == (uint64_t)boot_pml4 && kernel_space.root)
		memory_switch(kernel_space.root, 0);
}

void memory_map_own(void)
{
	descriptors_take_stacks();
}

void memory_start(const uint64_t *root, uint64_t written_end)
{
	uint64_t cr0;

	descriptors_make_holes();
	x86_wrmsr(MSR_EFER, x86_rdmsr(MSR_EFER) | EFER_NXE);
	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("mov %0, %%cr0" ::"r"(cr0 | CR0_WP));
	memory_switch(root, 0);
}
