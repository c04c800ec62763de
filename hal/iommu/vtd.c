/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: BH-I1.dma. Context entries of a sandbox's streams, and the commands that make them so. */
#include "hal/iommu/vtd.h"

#include "arch/arch.h"
#include "board.h"

struct vtd_tables *vtd;

/*
 * Of an entry the first word alone changes: its second, the domain, is constant after start-up. Where the IOMMU's reads of tables do not
 * see caches, it finds in memory what is written back: ECAP.C, which does not speak of commands.
 */
static void write_entry(uint64_t *entry, uint64_t first)
{
	__atomic_store_n(&entry[0], first, __ATOMIC_RELEASE);
	arch_cache_flush(entry);
}

HAL_OUTLINE uint32_t vtd_put(uint32_t tail, uint64_t first, uint64_t second)
{
	uint64_t *command = vtd->commands[tail / VTD_COMMAND_BYTES];

	command[0] = first;
	command[1] = second;
	return (tail + VTD_COMMAND_BYTES) % sizeof(vtd->commands);
}

uint32_t vtd_put_wait(uint32_t tail, uint32_t number)
{
	return vtd_put(tail, VTD_WAIT | (uint64_t)number << VTD_COMMAND_STORE_SHIFT, (uintptr_t)&vtd->done);
}

static uint32_t where(uint32_t offset)
{
	return (uint32_t)arch_mmio_read64(board.iommu.registers + offset);
}

HAL_OUTLINE static bool has_ended(void)
{
	struct vtd_tables *tables = vtd;

	return __atomic_load_n(&tables->done, __ATOMIC_ACQUIRE) == tables->asked;
}

static void hand_over(uint32_t tail)
{
	arch_barrier();
	arch_mmio_write64(board.iommu.registers + VTD_TAIL, tail);
}

/*
 * VT-d, 6.5.2.10 "Queued Invalidation: Error Handling". A wait that stores an old number takes the place of the command in error and does
 * no harm. Whoever put that is told at once; the queue goes on.
 */
static void repair(uint32_t tail)
{
	(void)vtd_put_wait(where(VTD_HEAD), vtd->asked - 1);
	arch_mmio_write32(board.iommu.registers + VTD_FAULT_STATUS, VTD_QUEUE_ERROR);
	hand_over(tail);
}

/* Whether the last wait ends within a bound. */
static bool ends(uint32_t tail)
{
	uint32_t turns = VTD_TURNS;

	while (!has_ended()) {
		if (arch_mmio_read32(board.iommu.registers + VTD_FAULT_STATUS) & VTD_QUEUE_ERROR) {
			repair(tail);
			return false;
		}
		if (!turns--)
			return false;
		arch_relax();
	}
	return true;
}

bool vtd_carry_out(uint32_t tail)
{
	tail = vtd_put_wait(tail, ++vtd->asked);
	hand_over(tail);
	return ends(tail);
}

uint32_t vtd_begin(void)
{
	uint32_t tail = where(VTD_TAIL);
	bool is_unasked = !has_ended() && where(VTD_HEAD) == tail;

	return (is_unasked ? vtd_carry_out(tail) : ends(tail)) ? where(VTD_TAIL) : VTD_HANGS;
}

/*
 * Entries before pages, whose translations would otherwise come back by the old entry: the wait between, whose number is the old one, has
 * ended before the pages' command begins. All entries of the domain change, and it is the same in the old entries and the new.
 */
static bool change(const struct iommu_view *view, uint32_t self, uint64_t first)
{
	uint64_t domain = (uint64_t)view->domain << VTD_COMMAND_DOMAIN_SHIFT;
	bool done = false;
	uint32_t tail;

	hal_lock_take(view->lock, self);
	tail = vtd_begin();
	for (const uint32_t *stream = view->streams; stream < view->streams + view->count; stream++)
		write_entry(vtd->contexts[*stream], first);
	if (tail != VTD_HANGS) {
		tail = vtd_put(tail, VTD_INVALIDATE_ENTRIES | domain, 0);
		done = vtd_carry_out(vtd_put(vtd_put_wait(tail, vtd->asked), VTD_INVALIDATE_DOMAIN | domain, 0));
	}
	hal_lock_give(view->lock, self);
	return done;
}

static bool vtd_open(const struct iommu_view *view, uint32_t self)
{
	return change(view, self, view->open[0]);
}

static bool vtd_close(const struct iommu_view *view, uint32_t self)
{
	return change(view, self, 0);
}

const struct iommu vtd_resident = { vtd_open, vtd_close };
