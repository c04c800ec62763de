/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: fills the interrupt descriptor table, once, on the boot core; every core loads it. */
#include "gates.h"

enum { SELECTOR_CODE64 = 0x08, GATE_INTERRUPT_PRESENT = 0x8e };

void x86_gates_init(void); /* called by entry_boot.S */
void x86_stop(void);

void x86_gate_set(unsigned vector, void (*handler)(void))
{
	uintptr_t offset = (uintptr_t)handler;

	x86_idt[vector] = (struct x86_gate){
		.offset_15_0 = (uint16_t)offset,
		.offset_31_16 = (uint16_t)(offset >> 16),
		.offset_63_32 = (uint32_t)(offset >> 32),
		.selector = SELECTOR_CODE64,
		.type = GATE_INTERRUPT_PRESENT,
	};
}

void x86_gates_init(void)
{
	for (unsigned vector = 0; vector < X86_GATES; vector++)
		x86_gate_set(vector, x86_stop);
}

void x86_idt_load(void)
{
	const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) idtr = { sizeof(x86_idt) - 1, (uintptr_t)x86_idt };

	__asm__ volatile("lidt %0" : : "m"(idtr));
}
