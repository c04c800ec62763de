/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A level-triggered line as its owner may use it, raised by QEMU's edu device, which asserts it until it is told not to. A round is two
 * interrupts: the first leaves the line asserted and moves it to the sandbox's next core, so that its end brings the second one there,
 * which acknowledges. QEMU, "EDU device", "MMIO area spec"; Intel 82093AA data sheet, 3.2.4 "IOREDTBL[23:0]".
 */
#include "level_line.h"

#include <stdatomic.h>

#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "probe/mapping.h"

enum { EDU_RAISE = 0x60, EDU_ACKNOWLEDGE = 0x64, RAISED = 1 };
enum { IOAPIC_BASE = 0xfec00000, IOWIN = 0x10, IOREDTBL = 0x10, REMOTE_IRR = 1 << 14, MASKED = 1 << 16, DESTINATION_SHIFT = 24 };
enum { MSR_X2APIC_ID = 0x802, PATIENCE = 200000, WHILE_MASKED = 2000 };

/* Written by the main program before the line is raised, and by the interrupts that follow one another. */
static struct {
	uint64_t device, ioapic;
	uint32_t entry, slot; /* register of its low word; of the core it goes to */
	_Atomic uint32_t taken;
	uint32_t arrived, in_service; /* of these: at that core; with the entry's remote IRR set */
} line;

/* By a MOV of its own: the filter understands no instruction that computes with what it reads. */
static uint32_t read_entry(void)
{
	uint32_t value;

	arch_mmio_write32(line.ioapic, line.entry);
	value = arch_mmio_read32(line.ioapic + IOWIN);
	__asm__ volatile("" : "+r"(value));
	return value;
}

static void write_entry(uint32_t word, uint32_t value)
{
	arch_mmio_write32(line.ioapic, line.entry + word);
	arch_mmio_write32(line.ioapic + IOWIN, value);
}

static void serve(struct cpu_frame *frame)
{
	line.arrived += x86_rdmsr(MSR_X2APIC_ID) == info->hardware_id[line.slot];
	line.in_service += (read_entry() & REMOTE_IRR) != 0;
	if (atomic_load(&line.taken) & 1)
		arch_mmio_write32(line.device + EDU_ACKNOWLEDGE, RAISED);
	else {
		line.slot = (line.slot + 1) % info->core_count;
		write_entry(1, (uint32_t)info->hardware_id[line.slot] << DESTINATION_SHIFT);
	}
	atomic_fetch_add(&line.taken, 1);
}

static void find_line(uint64_t device)
{
	line.device = device;
	line.ioapic = mapping_reach(IOAPIC_BASE, BH_PAGE_BYTES);
	for (uint32_t n = 0; n < info->grant_count; n++)
		if (info->grants[n].kind && info->grants[n].line != BH_LINE_NONE) {
			line.entry = IOREDTBL + 2 * info->grants[n].line;
			irq_attach_device(&info->grants[n], serve);
		}
}

static uint32_t wait(uint32_t taken, uint32_t patience)
{
	while (patience-- && atomic_load(&line.taken) < taken)
		arch_relax();
	return atomic_load(&line.taken);
}

/* Masked, a line that is raised waits. What came all the same. */
static uint32_t raise_while_masked(void)
{
	uint32_t open = read_entry(), early;

	write_entry(0, open | MASKED);
	arch_mmio_write32(line.device + EDU_RAISE, RAISED);
	early = wait(1, WHILE_MASKED);
	write_entry(0, open & ~(uint32_t)(MASKED | REMOTE_IRR));
	return early;
}

uint64_t attack_level_leave(uint64_t a, uint64_t b)
{
	find_line(a);
	write_entry(0, read_entry() | MASKED);
	arch_mmio_write32(line.device + EDU_RAISE, RAISED);
	return 0;
}

uint64_t attack_level_rounds(uint64_t a, uint64_t b)
{
	uint64_t early;

	find_line(a);
	arch_mmio_write32(line.device + EDU_ACKNOWLEDGE, RAISED);
	early = raise_while_masked();
	for (uint32_t round = 1; wait(2 * round, PATIENCE) == 2 * round && round < b; round++)
		arch_mmio_write32(line.device + EDU_RAISE, RAISED);
	return early << 32 | line.in_service << 16 | line.arrived;
}
