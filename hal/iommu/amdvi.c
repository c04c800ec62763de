/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: BH-I1.dma. Entries of a sandbox's streams, and the commands that make them so. */
#include "hal/iommu/amdvi.h"

#include "arch/arch.h"
#include "board.h"

struct amdvi_tables *amdvi;

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/*
 * An entry is closed until its other words are what they are to be, so that no moment has the root of one sandbox and the domain of
 * another. IOMMU, 2.2.2.2 "Making Device Table Entry Changes"
 */
static void write_entry(uint64_t *entry, const uint64_t *words)
{
	store(&entry[AMDVI_TRANSLATION], AMDVI_CLOSED);
	store(&entry[AMDVI_INTERRUPTS], words[AMDVI_INTERRUPTS]);
	store(&entry[AMDVI_DOMAIN], words[AMDVI_DOMAIN]);
	store(&entry[AMDVI_TRANSLATION], words[AMDVI_TRANSLATION]);
}

uint32_t amdvi_put(uint32_t tail, uint64_t first, uint64_t second)
{
	uint64_t *command = amdvi->commands[tail / AMDVI_COMMAND_BYTES];

	command[0] = first;
	command[1] = second;
	return (tail + AMDVI_COMMAND_BYTES) % sizeof(amdvi->commands);
}

/* Whether the last wait ends within a bound. */
static bool ends(void)
{
	for (uint32_t turns = AMDVI_TURNS; turns; turns--) {
		if (amdvi_has_ended())
			return true;
		arch_relax();
	}
	return false;
}

bool amdvi_carry_out(uint32_t tail)
{
	tail = amdvi_put(tail, AMDVI_COMPLETION_WAIT | (uintptr_t)&amdvi->done, ++amdvi->asked);
	arch_barrier();
	arch_mmio_write64(board.iommu.registers + AMDVI_TAIL, tail);
	return ends();
}

bool amdvi_begin(uint32_t *tail)
{
	bool done;

	*tail = amdvi_where();
	done = !amdvi_has_ended() && amdvi_is_read(*tail) ? amdvi_carry_out(*tail) : ends();
	*tail = amdvi_where();
	return done;
}

/*
 * Nobody takes events out. What is recorded stays in memory until others go over it, and between two changes a stream adds one event of its
 * memory (AMDVI_ONE_EVENT). Messages that are blocked can fill the log nevertheless. Then it stands still for good, and nothing but records
 * is lost: what restarts it is the register that also switches the IOMMU off, which no monitor maps. IOMMU, 2.5 "Event Logging".
 */
static void go_round(void)
{
	arch_mmio_write64(board.iommu.registers + AMDVI_EVENT_HEAD, arch_mmio_read64(board.iommu.registers + AMDVI_EVENT_TAIL));
}

/*
 * Entries before pages, whose translations would otherwise come back by the old entry; commands between two fences may be carried out in
 * any order. The domain is the same in the old entry and the new, but for the one before the first opening, which has domain 0: nothing but
 * refusals can be kept of it, and they lead nowhere.
 */
static bool change(const struct iommu_view *view, uint32_t self, const uint64_t *words)
{
	uint32_t tail;
	bool done;

	hal_lock_take(view->lock, self);
	done = amdvi_begin(&tail);
	for (const uint32_t *stream = view->streams; stream < view->streams + view->count; stream++) {
		write_entry(amdvi->devices[*stream], words);
		if (done) {
			tail = amdvi_put(tail, AMDVI_INVALIDATE_DEVICE | *stream, 0);
			tail = amdvi_put(tail, AMDVI_INVALIDATE_TABLE | *stream, 0);
		}
	}
	if (done) {
		tail = amdvi_put(tail, AMDVI_FENCE, 0);
		done = amdvi_carry_out(amdvi_put(tail, AMDVI_INVALIDATE_PAGES | (uint64_t)view->domain << 32, AMDVI_ALL_PAGES));
	}
	go_round();
	hal_lock_give(view->lock, self);
	return done;
}

static bool amdvi_open(const struct iommu_view *view, uint32_t self)
{
	return change(view, self, view->open);
}

static bool amdvi_close(const struct iommu_view *view, uint32_t self)
{
	const uint64_t closed[] = { AMDVI_CLOSED, view->open[AMDVI_DOMAIN], AMDVI_NO_INTERRUPT };

	return change(view, self, closed);
}

const struct iommu amdvi_resident = { amdvi_open, amdvi_close };
