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

HAL_OUTLINE static bool has_ended(void)
{
	return __atomic_load_n(&amdvi->done, __ATOMIC_ACQUIRE) == amdvi->asked;
}

bool amdvi_carry_out(uint32_t tail)
{
	tail = amdvi_put(tail, AMDVI_COMPLETION_WAIT | (uintptr_t)&amdvi->done, ++amdvi->asked);
	arch_barrier();
	arch_mmio_write64(board.iommu.registers + AMDVI_TAIL, tail);
	for (uint32_t turns = AMDVI_TURNS; turns; turns--) {
		if (has_ended())
			return true;
		arch_relax();
	}
	return false;
}

static uint32_t where(void)
{
	return (uint32_t)arch_mmio_read64(board.iommu.registers + AMDVI_TAIL);
}

/* Whether all commands have been read. In QEMU the head reads as the ring's length where it is 0. */
static bool is_read(uint32_t tail)
{
	uint32_t head = (uint32_t)arch_mmio_read64(board.iommu.registers + AMDVI_HEAD);

	return !((head - tail) % sizeof(amdvi->commands));
}

/*
 * Entries before pages, whose translations would otherwise come back by the old entry. The domain is the same in the old entry and the new.
 * The last wait may not have ended: if the ring is empty, its holder trapped before it was handed over (BH-D346), and another is. If it is
 * not, the IOMMU hangs, and nothing is put behind what it has not read.
 */
static bool change(const struct iommu_view *view, uint32_t self, const uint64_t *words)
{
	uint32_t tail;
	bool done;

	hal_lock_take(view->lock, self);
	done = has_ended() || (is_read(where()) && amdvi_carry_out(where()));
	tail = where();
	for (const uint32_t *stream = view->streams; stream < view->streams + view->count; stream++) {
		write_entry(amdvi->devices[*stream], words);
		if (done) {
			tail = amdvi_put(tail, AMDVI_INVALIDATE_DEVICE | *stream, 0);
			tail = amdvi_put(tail, AMDVI_INVALIDATE_TABLE | *stream, 0);
		}
	}
	if (done)
		done = amdvi_carry_out(amdvi_put(tail, AMDVI_INVALIDATE_PAGES | (uint64_t)view->domain << 32, AMDVI_ALL_PAGES));
	hal_lock_give(view->lock, self);
	return done;
}

static bool amdvi_open(const struct iommu_view *view, uint32_t self)
{
	return change(view, self, view->open);
}

static bool amdvi_close(const struct iommu_view *view, uint32_t self)
{
	static const uint64_t closed[] = { AMDVI_CLOSED, 0, AMDVI_NO_INTERRUPT };

	return change(view, self, closed);
}

const struct iommu amdvi_resident = { amdvi_open, amdvi_close };
