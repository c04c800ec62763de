/* SPDX-License-Identifier: Apache-2.0 */
/* Starts further cores: SDM vol. 3, 9.4.4 "MP Initialization Example". A monitor wants no delays, and the bare machine repeats. */
#include <stdatomic.h>
#include <stddef.h>

#include "descriptors.h"
#include "kernel/core/cpu.h"
#include "kernel/core/smp.h"
#include "kernel/core/space.h"
#include "kernel/drivers/x2apic.h"

/* A page of the first MiB, free on every machine this kernel runs on. */
enum { TRAMPOLINE = 0x8000, PAGE_SHIFT = 12, STARTUPS = 10, STARTUP_NS = 10000000 };

/* secondary.S reads the first two. */
struct secondary_request {
	uint64_t root, stack_top;
	void (*entry)(void);
	uint64_t cr4;
	unsigned slot;
	_Atomic bool taken;
};
_Static_assert(offsetof(struct secondary_request, stack_top) == 8, "secondary.S");

struct secondary_request secondary_request;
extern const char trampoline[], trampoline_end[];

_Noreturn void secondary_main(void);

/* The request may be the next core's as soon as it is taken. */
_Noreturn void secondary_main(void)
{
	void (*entry)(void) = secondary_request.entry;

	descriptors_load(secondary_request.slot);
	x86_write_cr4(secondary_request.cr4);
	atomic_store_explicit(&secondary_request.taken, true, memory_order_release);
	entry();
	cpu_halt();
}

static void lay_trampoline(void)
{
	char *page = (char *)TRAMPOLINE;

	for (const char *byte = trampoline; byte < trampoline_end; byte++)
		*page++ = *byte;
}

static bool is_taken_in_time(void)
{
	uint64_t start = arch_counter(), patience = smp_patience(STARTUP_NS);

	while (!atomic_load_explicit(&secondary_request.taken, memory_order_acquire))
		if (arch_counter() - start > patience)
			return false;
		else
			arch_relax();
	return true;
}

/* INIT stops the core, whatever it does. */
bool cpu_start_core(unsigned slot, void *stack_top, void (*entry)(void))
{
	if ((uint64_t)stack_top > BOOT_MAPPED) /* memory_leave */
		return false;
	lay_trampoline();
	secondary_request = (struct secondary_request){
		.root = (uint64_t)kernel_space.root,
		.stack_top = (uint64_t)stack_top,
		.entry = entry,
		.cr4 = x86_read_cr4() & (CR4_PAE | CR4_SMEP),
		.slot = slot,
	};
	x2apic_command(slot, X2APIC_INIT);
	for (unsigned n = 0; n < STARTUPS; n++) {
		x2apic_command(slot, X2APIC_STARTUP | TRAMPOLINE >> PAGE_SHIFT);
		if (is_taken_in_time())
			return true;
	}
	return false;
}

/* Until another core's INIT. */
_Noreturn void cpu_stop_core(void)
{
	cpu_halt();
}
