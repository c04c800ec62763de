/* SPDX-License-Identifier: Apache-2.0 */
/* APM vol. 2, 4.8 "Long-Mode Segment Descriptors", 8.9 "Long-Mode Interrupt Control Transfers", 12.2.5 "64-Bit TSS". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "descriptors.h"
#include "frame.h"
#include "kernel/cpu.h"
#include "segments.h"

enum { GATE_INTERRUPT_PRESENT = 0x8e, TSS_AVAILABLE_PRESENT = 0x89, OWN_STACK = 1, OWN_STACK_BYTES = 4096 };

struct gate {
	uint16_t offset_low;
	uint16_t selector;
	uint8_t ist;
	uint8_t type;
	uint16_t offset_middle;
	uint32_t offset_high;
	uint32_t reserved;
};
_Static_assert(sizeof(struct gate) == 16, "hardware structure");

struct tss {
	uint32_t reserved0;
	uint32_t rsp[3][2];
	uint32_t reserved1[2];
	uint32_t ist[7][2]; /* IST1 is ist[0]; low and high half: the fields are not aligned */
	uint32_t reserved2[2];
	uint16_t reserved3;
	uint16_t io_map;
};
_Static_assert(sizeof(struct tss) == 104 && offsetof(struct tss, ist) == 0x24, "hardware structure");

struct __attribute__((packed)) table_pointer {
	uint16_t limit;
	uint64_t base;
};

static struct tss tss;
static struct gate idt[VECTORS];
static uint64_t gdt[] = {
	[SELECTOR_CODE / 8] = DESCRIPTOR_CODE,
	[SELECTOR_DATA / 8] = DESCRIPTOR_DATA,
	[SELECTOR_TSS / 8 + 1] = 0,
};
static _Alignas(16) uint8_t own_stack[OWN_STACK_BYTES];

uint64_t descriptors_own_stack(void)
{
	return (uint64_t)(own_stack + OWN_STACK_BYTES);
}

void descriptors_set_vector(uint8_t vector, const void *entry, bool on_own_stack)
{
	uint64_t offset = (uint64_t)entry;

	idt[vector] = (struct gate){
		.offset_low = (uint16_t)offset,
		.selector = SELECTOR_CODE,
		.ist = on_own_stack ? OWN_STACK : 0,
		.type = GATE_INTERRUPT_PRESENT,
		.offset_middle = (uint16_t)(offset >> 16),
		.offset_high = (uint32_t)(offset >> 32),
	};
}

static void tss_init(void)
{
	uint64_t base = (uint64_t)&tss;

	tss.ist[OWN_STACK - 1][0] = (uint32_t)descriptors_own_stack();
	tss.ist[OWN_STACK - 1][1] = (uint32_t)(descriptors_own_stack() >> 32);
	tss.io_map = sizeof(tss);
	gdt[SELECTOR_TSS / 8] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 | (uint64_t)TSS_AVAILABLE_PRESENT << 40 |
				(base >> 24 & 0xff) << 56;
	gdt[SELECTOR_TSS / 8 + 1] = base >> 32;
}

static void load(void)
{
	struct table_pointer gdt_pointer = { sizeof(gdt) - 1, (uint64_t)gdt };
	struct table_pointer idt_pointer = { sizeof(idt) - 1, (uint64_t)idt };

	/* CS, SS, DS, ES hold these selectors already: abi/guest.h, start.S. */
	__asm__ volatile("lgdt %0\n\tlidt %1\n\tltr %2" ::"m"(gdt_pointer), "m"(idt_pointer), "r"((uint16_t)SELECTOR_TSS) : "memory");
}

void descriptors_init(void)
{
	for (unsigned n = 0; n < VECTORS; n++)
		descriptors_set_vector((uint8_t)n, vectors[n], n == 8);
	tss_init();
	load();
}
