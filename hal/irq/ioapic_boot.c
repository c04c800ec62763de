/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/irq/ioapic.h"

#include "abi/table.h"
#include "arch/arch.h"
#include "board.h"

enum { IOREGSEL = 0x00, IOWIN = 0x10, IOAPICVER = 1, IOREDTBL = 0x10 };
enum { REDIRECTION_ACTIVE_LOW = 1 << 13, REDIRECTION_LEVEL = 1 << 15, REDIRECTION_MASKED = 1 << 16, DESTINATION_SHIFT = 24 };

static void ioapic_write(uint32_t index, uint32_t value)
{
	arch_mmio_write32(board.ioapic + IOREGSEL, index);
	arch_mmio_write32(board.ioapic + IOWIN, value);
}

uint32_t ioapic_line_count(void)
{
	arch_mmio_write32(board.ioapic + IOREGSEL, IOAPICVER);
	return (arch_mmio_read32(board.ioapic + IOWIN) >> 16 & 0xff) + 1;
}

void ioapic_mask_all(void)
{
	uint32_t lines = ioapic_line_count();

	for (uint32_t line = 0; line < lines; line++)
		ioapic_write(IOREDTBL + 2 * line, REDIRECTION_MASKED);
}

/* Fixed, physical. The destination first: the low word unmasks. */
void ioapic_route(uint32_t line, uint32_t apic_id, uint8_t vector, uint32_t flags)
{
	uint32_t mode = (flags & BH_LINE_LEVEL ? REDIRECTION_LEVEL : 0) | (flags & BH_LINE_ACTIVE_LOW ? REDIRECTION_ACTIVE_LOW : 0);

	ioapic_write(IOREDTBL + 2 * line + 1, apic_id << DESTINATION_SHIFT);
	ioapic_write(IOREDTBL + 2 * line, mode | vector);
}
