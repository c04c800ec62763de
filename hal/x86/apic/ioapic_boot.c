/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: no line reaches any core; then the grants. */
#include "hal/x86/apic/ioapic_registers.h"

static uint32_t pins(void)
{
	return (ioapic_read(IOAPICVER) >> IOAPICVER_ENTRIES_SHIFT & 0xff) + 1;
}

void ioapic_mask_all(void)
{
	for (uint32_t pin = 0, end = pins(); pin < end; pin++)
		ioapic_write(IOREDTBL + 2 * pin, REDIRECTION_MASKED);
}

/* The last vector that an open entry of such a line may have, if its first is `first`. */
static uint32_t last_vector(uint32_t first, uint32_t flags)
{
	if (!(flags & BH_LINE_LEVEL))
		return REDIRECTION_VECTOR;
	return flags & BH_LINE_MASKED ? BH_FIRST_LEVEL_VECTOR - 1 : first;
}

/*
 * One after the other, so that a kernel that writes every entry has few to write; but Linux gives devices of ACPI's namespace neither
 * interrupt 0 nor 2, which PCs of old had for the timer and the second controller (`valid_IRQ`).
 */
static uint32_t next_pin(const struct ioapic_view *view)
{
	return view->count ? view->count + 2 : 1;
}

static bool grant(struct ioapic_view *view, uint32_t pin, uint32_t slot, uint32_t vector, uint32_t flags, struct hal_kick_mailbox *boxes)
{
	bool chosen = (flags & (BH_LINE_LEVEL | BH_LINE_MASKED)) != BH_LINE_LEVEL;
	uint32_t shown = flags & BH_LINE_MASKED ? next_pin(view) : pin;
	uint32_t first = chosen ? IOAPIC_FIRST_VECTOR : vector;

	if (view->count == IOAPIC_LINES)
		return false;
	view->lock = hal_lock_of(boxes, HAL_LOCK_IOAPIC);
	view->lines[view->count++] = (struct ioapic_line){
		.wiring = (flags & BH_LINE_LEVEL ? REDIRECTION_LEVEL : 0) | (flags & BH_LINE_ACTIVE_LOW ? REDIRECTION_ACTIVE_LOW : 0),
		.index = (uint8_t)(IOREDTBL + 2 * pin),
		.shown = (uint8_t)(IOREDTBL + 2 * shown),
		.vector = (uint8_t)vector,
		.first_vector = (uint8_t)first,
		.more_vectors = (uint8_t)(last_vector(first, flags) - first),
		.slot = (uint8_t)slot,
		.starts_masked = flags & BH_LINE_MASKED,
	};
	if (view->last_pin < shown)
		view->last_pin = shown;
	return true;
}

bool ioapic_grant(struct ioapic_view *view, uint32_t pin, uint32_t slot, uint32_t vector, uint32_t flags, struct hal_kick_mailbox *boxes)
{
	return pin < pins() && grant(view, pin, slot, vector, flags, boxes);
}

bool ioapic_grant_rung(struct ioapic_view *view, uint32_t pin, uint32_t slot, uint32_t vector, uint32_t flags,
		       struct hal_kick_mailbox *boxes, struct bh_channel_end *told)
{
	if (view->told_count == BH_MAX_CHANNELS || pin < BH_FIRST_RUNG_LINE || pin > BH_LAST_RUNG_LINE || flags & BH_LINE_LEVEL ||
	    !grant(view, pin, slot, vector, flags, boxes))
		return false;
	view->lines[view->count - 1].rung = true;
	view->lines[view->count - 1].index = (uint8_t)view->told_count;
	view->told[view->told_count++] = told;
	return true;
}
