/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/irq/ioapic.h"

#include <stdbool.h>

#include "abi/table.h"
#include "arch/arch.h"
#include "board.h"

enum { IOREGSEL = 0x00, IOWIN = 0x10, IOAPICVER = 1, IOREDTBL = 0x10 };
enum {
	REDIRECTION_VECTOR = 0xff,
	REDIRECTION_ACTIVE_LOW = 1 << 13,
	REDIRECTION_LEVEL = 1 << 15,
	REDIRECTION_MASKED = 1 << 16,
	DESTINATION_SHIFT = 24
};

static void ioapic_write(uint32_t index, uint32_t value)
{
	arch_mmio_write32(board.ioapic + IOREGSEL, index);
	arch_mmio_write32(board.ioapic + IOWIN, value);
}

static uint32_t ioapic_read(uint32_t index)
{
	arch_mmio_write32(board.ioapic + IOREGSEL, index);
	return arch_mmio_read32(board.ioapic + IOWIN);
}

uint32_t ioapic_line_count(void)
{
	return (ioapic_read(IOAPICVER) >> 16 & 0xff) + 1;
}

void ioapic_mask_all(void)
{
	uint32_t lines = ioapic_line_count();

	for (uint32_t line = 0; line < lines; line++)
		ioapic_write(IOREDTBL + 2 * line, REDIRECTION_MASKED);
}

/* Fixed, physical. */
void ioapic_route(uint32_t line, uint32_t apic_id, uint8_t vector, uint32_t flags)
{
	uint32_t mode = (flags & BH_LINE_LEVEL ? REDIRECTION_LEVEL : 0) | (flags & BH_LINE_ACTIVE_LOW ? REDIRECTION_ACTIVE_LOW : 0);

	ioapic_write(IOREDTBL + 2 * line + 1, apic_id << DESTINATION_SHIFT);
	ioapic_write(IOREDTBL + 2 * line, REDIRECTION_MASKED | mode | vector);
}

/* Lines that were not granted have no vector. */
static void open_line(uint32_t line, uint32_t apic_id)
{
	uint32_t entry = ioapic_read(IOREDTBL + 2 * line);

	if (entry & REDIRECTION_VECTOR && ioapic_read(IOREDTBL + 2 * line + 1) >> DESTINATION_SHIFT == apic_id)
		ioapic_write(IOREDTBL + 2 * line, entry & ~(uint32_t)REDIRECTION_MASKED);
}

/* The index register and its window are a pair: one core at a time. */
void ioapic_open(uint32_t apic_id)
{
	static bool busy;

	while (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
		arch_relax();
	for (uint32_t line = 0, lines = ioapic_line_count(); line < lines; line++)
		open_line(line, apic_id);
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}
