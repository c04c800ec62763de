/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One GDT and one IDT for all cores; a TSS for each, and with it stacks for what may come when the stack of the moment is no good: double
 * faults and NMIs, each with a hole below it. APM vol. 2, 4.8 "Long-Mode Segment
 * Descriptors", 8.9 "Long-Mode Interrupt Control Transfers", 12.2.5 "64-Bit TSS".
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/guest.h"
#include "descriptors.h"
#include "frame.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/smp.h"
#include "kernel/core/space.h"
#include "segments.h"

enum { GATE_INTERRUPT_PRESENT = 0x8e, TSS_AVAILABLE_PRESENT = 0x89, STACK_BYTES = EMERGENCY_STACK_BYTES, VECTOR_DF = 8 };
enum { IST_PROGRAM = 1, IST_DF, IST_NMI, STACKS = IST_NMI }; /* IST_PROGRAM: descriptors_set_vector */

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
_Static_assert(offsetof(struct tss, rsp) == TSS_RSP0 && TSS_RSP2 == TSS_RSP0 + 16, "vectors.S");

struct __attribute__((packed)) table_pointer {
	uint16_t limit;
	uint64_t base;
};

static struct tss tss[BH_MAX_SANDBOX_CORES];
static struct gate idt[VECTORS];
static uint64_t gdt[(SELECTOR_TSS + TSS_DESCRIPTOR_BYTES * BH_MAX_SANDBOX_CORES) / 8] = {
	[SELECTOR_CODE / 8] = DESCRIPTOR_CODE,
	[SELECTOR_DATA / 8] = DESCRIPTOR_DATA,
	[SELECTOR_USER_CODE / 8] = DESCRIPTOR_USER_CODE,
	[SELECTOR_USER_DATA / 8] = DESCRIPTOR_USER_DATA,
};
struct own_stack {
	uint8_t hole[STACK_BYTES];
	uint8_t stack[STACK_BYTES];
};
/* The first core's are here before there are frames. */
static _Alignas(STACK_BYTES) struct own_stack first_stacks[STACKS] __attribute__((section(".noinit")));
static struct own_stack *own_stacks[BH_MAX_SANDBOX_CORES] = { first_stacks };

static uint64_t top_of(unsigned slot, unsigned ist)
{
	return (uint64_t)(&own_stacks[slot][ist - 1] + 1);
}

uint64_t descriptors_own_stack(void)
{
	return top_of(cpu_slot(), IST_PROGRAM);
}

uint64_t emergency_tops[BH_MAX_SANDBOX_CORES]; /* vectors.S: of the stacks for double faults, by slot */

uint64_t descriptors_emergency_stack(void)
{
	return emergency_tops[cpu_slot()];
}

void descriptors_take_stacks(void)
{
	for (unsigned slot = 1; slot < smp_count(); slot++) {
		uint64_t at = frames_take_run(sizeof(first_stacks) / FRAME_BYTES, 1, FRAME_STACK);

		if (!at || space_map(&kernel_space, at, at, sizeof(first_stacks), SPACE_DATA) != SPACE_OK)
			fault_stop("no frames for a core's own stacks");
		own_stacks[slot] = (struct own_stack *)at;
	}
}

void descriptors_make_holes(void)
{
	for (unsigned slot = 0; slot < smp_count(); slot++)
		for (unsigned n = 0; n < STACKS; n++)
			if (space_unmap(&kernel_space, (uint64_t)own_stacks[slot][n].hole, STACK_BYTES) != SPACE_OK)
				fault_stop("no hole below a stack");
}

uint64_t descriptors_tss(void)
{
	return (uint64_t)&tss[cpu_slot()];
}

void descriptors_set_user_entry_stack(uint64_t top)
{
	struct tss *own = &tss[cpu_slot()];

	own->rsp[0][0] = (uint32_t)top;
	own->rsp[0][1] = (uint32_t)(top >> 32);
}

static void set_gate(uint8_t vector, const void *entry, uint8_t ist)
{
	uint64_t offset = (uint64_t)entry;

	idt[vector] = (struct gate){
		.offset_low = (uint16_t)offset,
		.selector = SELECTOR_CODE,
		.ist = ist,
		.type = GATE_INTERRUPT_PRESENT,
		.offset_middle = (uint16_t)(offset >> 16),
		.offset_high = (uint32_t)(offset >> 32),
	};
}

void descriptors_set_vector(uint8_t vector, const void *entry, bool on_own_stack)
{
	set_gate(vector, entry, on_own_stack ? IST_PROGRAM : 0);
}

/* The processor marks a TSS busy when it loads it, and loads no busy one: a core that starts again finds its own made anew. */
static void tss_init(unsigned slot)
{
	uint64_t base = (uint64_t)&tss[slot];
	uint64_t *descriptor = &gdt[(SELECTOR_TSS + TSS_DESCRIPTOR_BYTES * slot) / 8];

	for (unsigned ist = 1; ist <= STACKS; ist++) {
		tss[slot].ist[ist - 1][0] = (uint32_t)top_of(slot, ist);
		tss[slot].ist[ist - 1][1] = (uint32_t)(top_of(slot, ist) >> 32);
	}
	emergency_tops[slot] = top_of(slot, IST_DF);
	tss[slot].io_map = sizeof(tss[slot]);
	descriptor[0] = (sizeof(tss[slot]) - 1) | (base & 0xffffff) << 16 | (uint64_t)TSS_AVAILABLE_PRESENT << 40 |
			(base >> 24 & 0xff) << 56;
	descriptor[1] = base >> 32;
}

/* CS, SS, DS, ES hold the selectors of this GDT already: abi/guest.h, start.S, secondary.S. */
void descriptors_load(unsigned slot)
{
	struct table_pointer gdt_pointer = { sizeof(gdt) - 1, (uint64_t)gdt };
	struct table_pointer idt_pointer = { sizeof(idt) - 1, (uint64_t)idt };
	uint16_t selector = (uint16_t)(SELECTOR_TSS + TSS_DESCRIPTOR_BYTES * slot);

	tss_init(slot);
	__asm__ volatile("lgdt %0\n\tlidt %1\n\tltr %2" ::"m"(gdt_pointer), "m"(idt_pointer), "r"(selector) : "memory");
}

void descriptors_init(void)
{
	for (unsigned n = 0; n < VECTORS; n++)
		set_gate((uint8_t)n, vectors[n], 0);
	set_gate(VECTOR_DF, vectors[VECTOR_DF], IST_DF);
	set_gate(VECTOR_NMI, vectors[VECTOR_NMI], IST_NMI);
	descriptors_load(0);
}
