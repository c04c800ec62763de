/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: fills the interrupt descriptor table, once, on the boot core; every core loads it. */
#include "gates.h"

#include "x86.h"

enum { SELECTOR_CODE64 = 0x08, GATE_INTERRUPT_PRESENT = 0x8e, FIRST_INTERRUPT = 16, VECTOR_SPURIOUS = 0xff };

void x86_gates_init(void); /* called by entry_boot.S */

enum { TRAP_BYTES = 4 };
extern const char x86_traps[], x86_ignore[];

static struct x86_gate gate_to(void (*handler)(void))
{
	uintptr_t offset = (uintptr_t)handler;

	return (struct x86_gate){
		.offset_15_0 = (uint16_t)offset,
		.offset_31_16 = (uint16_t)(offset >> 16),
		.offset_63_32 = (uint32_t)(offset >> 32),
		.selector = SELECTOR_CODE64,
		.type = GATE_INTERRUPT_PRESENT,
	};
}

void x86_gate_set(unsigned vector, void (*handler)(void))
{
	x86_idt[vector] = gate_to(handler);
}

/* From 16 on a vector may be an interrupt's, too (SDM vol. 3A, 11.5.2 "Valid Interrupt Vectors"); a monitor has no exceptions there but
 * #MC. */
static bool is_trap(unsigned vector)
{
	return vector < FIRST_INTERRUPT || vector == VECTOR_MC;
}

void x86_gates_init(void)
{
	for (unsigned vector = 0; vector < X86_GATES; vector++) {
		const char *handler = is_trap(vector) ? x86_traps + (size_t)vector * TRAP_BYTES : x86_ignore;

		x86_gate_set(vector, (void (*)(void))(uintptr_t)handler);
	}
}

static void load(const struct x86_gate *gates)
{
	const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) idtr = { (uint16_t)(X86_GATES * sizeof(*gates) - 1), (uintptr_t)gates };

	__asm__ volatile("lidt %0" : : "m"(idtr));
}

void x86_idt_load(void)
{
	load(x86_idt);
}

/*
 * On a table of its own, so that no private one ever points at start-up code; it is made at the first sleep, when the other has all its
 * gates. STI takes effect after the next instruction, so the wake-up cannot slip in before HLT. APM vol. 3, "STI".
 */
void x86_sleep(void (*tick)(void))
{
	static struct x86_gate gates[X86_GATES];
	static bool made;

	for (unsigned vector = 0; vector < X86_TRAPS && !made; vector++)
		gates[vector] = x86_idt[vector];
	made = true;
	gates[X86_VECTOR_TICK] = gate_to(tick);
	gates[VECTOR_SPURIOUS] = x86_idt[VECTOR_SPURIOUS];
	load(gates);
	__asm__ volatile("sti; hlt; cli" : : : "memory");
	x86_idt_load();
}
