/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: BH-I1.device, BH-I3.forms. The filter in front of the I/O APIC; ioapic.h has the picture. */
#include "hal/x86/apic/ioapic_registers.h"

#include "arch/arch.h"
#include "hal/iommu/pc.h"
#include "hal/x86/apic/apic.h"
#include "hal/lock.h"
#include "hal/x86/core.h"
#include "hal/x86/decode.h"

void ioapic_write(uint32_t index, uint32_t value)
{
	arch_mmio_write32(board.pc.ioapic + IOREGSEL, index);
	arch_mmio_write32(board.pc.ioapic + IOWIN, value);
}

uint32_t ioapic_read(uint32_t index)
{
	arch_mmio_write32(board.pc.ioapic + IOREGSEL, index);
	return arch_mmio_read32(board.pc.ioapic + IOWIN);
}

/* The low word; of a line that others ring, what they go by instead: its vector, 0 if it is masked. */
HAL_OUTLINE static void set(const struct ioapic_view *view, const struct ioapic_line *line, uint32_t entry)
{
	if (line->rung)
		__atomic_store_n(&view->told[line->index]->vector, entry & REDIRECTION_MASKED ? 0 : entry & REDIRECTION_VECTOR,
				 __ATOMIC_RELEASE);
	else
		ioapic_write(line->index, entry);
}

/* The high word, likewise. */
static void set_target(const struct hal_partition *partition, const struct ioapic_line *line, unsigned slot, uint32_t entry)
{
	if (line->rung)
		partition->ioapic.told[line->index]->core = partition->apic_id[slot];
	else
		ioapic_write(line->index + 1u,
			     partition->line_target[slot] | iommu_line_index(entry & REDIRECTION_VECTOR, entry & REDIRECTION_LEVEL));
}

/*
 * The machine's entry for what stands in the line's; masked, it keeps its destination. A masked entry may be made edge-triggered, which
 * clears what a lost end of interrupt has left; with a vector that is not the line's it has none, so that another sandbox's end of
 * interrupt does not reach it. false: the sandbox may not have that.
 */
static bool program(const struct hal_core *core, const struct ioapic_line *line)
{
	const struct hal_partition *partition = core->partition;
	uint32_t low = line->entry[0], vector = low & REDIRECTION_VECTOR, entry, targets;

	if ((uint8_t)(vector - line->first_vector) > line->more_vectors)
		vector = 0;
	entry = line->wiring | vector | (low & REDIRECTION_MASKED);
	if (low & REDIRECTION_MASKED)
		entry &= low | ~(uint32_t)REDIRECTION_LEVEL;
	else {
		if (apic_mode_of(low) > APIC_LOWEST || !vector)
			return false;
		targets = apic_named(partition, line->entry[1] >> DESTINATION_SHIFT, low & ICR_LOGICAL);
		if (targets & APIC_FOREIGN || !targets)
			return false;
		set_target(partition, line, (unsigned)__builtin_ctz(targets), entry);
	}
	set(&partition->ioapic, line, entry);
	return true;
}

void ioapic_reset(struct hal_partition *partition, uint32_t self)
{
	struct ioapic_line *lines = partition->ioapic.lines;

	hal_lock_take(partition->ioapic.lock, self);
	for (uint32_t n = 0; n < partition->ioapic.count; n++) {
		lines[n].entry[0] = REDIRECTION_MASKED | lines[n].wiring | lines[n].vector;
		lines[n].entry[1] = partition->apic_id[lines[n].slot] << DESTINATION_SHIFT;
		lines[n].touched = lines[n].starts_masked;
		set(&partition->ioapic, &lines[n], REDIRECTION_MASKED);
	}
	hal_lock_give(partition->ioapic.lock, self);
}

void ioapic_open(const struct hal_core *core)
{
	struct ioapic_view *view = &core->partition->ioapic;

	hal_lock_take(view->lock, core->self);
	for (struct ioapic_line *line = view->lines; line < view->lines + view->count; line++)
		if (!line->touched && line->slot == core->slot) {
			line->entry[0] &= ~(uint32_t)REDIRECTION_MASKED;
			program(core, line);
		}
	hal_lock_give(view->lock, core->self);
}

/* A line of nobody's, or of another sandbox, is masked and idle. What the machine knows of the state of one's own, it is asked. */
static uint32_t read_entry(const struct ioapic_line *line, uint32_t index)
{
	enum { STATE = REDIRECTION_STATUS | REDIRECTION_REMOTE_IRR };

	if (index & 1)
		return line ? line->entry[1] : 0;
	if (!line)
		return REDIRECTION_MASKED;
	return (line->entry[0] & ~(uint32_t)STATE) | (line->rung ? 0 : ioapic_read(line->index) & STATE);
}

static bool write_entry(const struct hal_core *core, struct ioapic_line *line, uint32_t index, uint32_t value)
{
	uint32_t *word = &line->entry[index & 1], old = *word;

	*word = value;
	if (!program(core, line)) {
		*word = old;
		return false;
	}
	line->touched = true;
	return true;
}

/* The line whose entry the index names, or NULL. */
static struct ioapic_line *line_of(struct ioapic_view *view)
{
	for (struct ioapic_line *line = view->lines; line < view->lines + view->count; line++)
		if ((line->shown ^ view->index) <= 1)
			return line;
	return NULL;
}

static bool access_window(const struct hal_core *core, const struct hal_exit *exit, uint32_t *value)
{
	struct ioapic_view *view = &core->partition->ioapic;
	struct ioapic_line *line = line_of(view);

	if (exit->access == BH_ACCESS_WRITE)
		return !line || write_entry(core, line, view->index, (uint32_t)exit->value);
	if (view->index >= IOREDTBL)
		*value = read_entry(line, view->index);
	else if (view->index == IOAPICVER)
		*value = IOAPICVER_82093AA | view->last_pin << IOAPICVER_ENTRIES_SHIFT;
	return true;
}

/*
 * The cores of a sandbox share index and entries, as they would the machine's; so both are theirs under the lock only. Without lines there
 * is the index alone, of which no value leads anywhere.
 */
enum hal_action ioapic_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	struct ioapic_view *view = &core->partition->ioapic;
	uint32_t offset = (uint32_t)(exit->gpa - board.pc.ioapic);
	uint32_t value = 0;
	bool granted = true;

	if (exit->width != 4 || offset & 3)
		return HAL_FAULT;
	hal_lock_take(view->lock, core->self);
	if (offset == IOWIN)
		granted = access_window(core, exit, &value);
	else if (offset == IOREGSEL) {
		value = view->index;
		if (exit->access == BH_ACCESS_WRITE)
			view->index = (uint8_t)exit->value;
	}
	hal_lock_give(view->lock, core->self);
	if (exit->access == BH_ACCESS_READ)
		*x86_register(core, exit->target) = value; /* of four bytes, it clears what is above them: APM vol. 1, 3.1.2 */
	return granted ? HAL_SKIP : HAL_FAULT;
}
