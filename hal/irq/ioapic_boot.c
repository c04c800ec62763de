/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: no line reaches any core; then the grants. */
#include "hal/irq/ioapic_registers.h"

static uint32_t pins(void)
{
	return (ioapic_read(IOAPICVER) >> IOAPICVER_ENTRIES_SHIFT & 0xff) + 1;
}

void ioapic_mask_all(void)
{
	for (uint32_t pin = 0, end = pins(); pin < end; pin++)
		ioapic_write(IOREDTBL + 2 * pin, REDIRECTION_MASKED);
}

bool ioapic_grant(struct ioapic_view *view, uint32_t pin, uint32_t slot, uint32_t vector, uint32_t flags)
{
	if (view->count == BH_MAX_LINES || pin >= pins())
		return false;
	view->lines[view->count++] = (struct ioapic_line){
		.wiring = (flags & BH_LINE_LEVEL ? REDIRECTION_LEVEL : 0) | (flags & BH_LINE_ACTIVE_LOW ? REDIRECTION_ACTIVE_LOW : 0),
		.pin = (uint8_t)pin,
		.vector = (uint8_t)vector,
		.slot = (uint8_t)slot,
		.starts_masked = flags & BH_LINE_MASKED,
	};
	if (view->last_pin < pin)
		view->last_pin = pin;
	return true;
}
