/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD-Vi. Memory that the machine has of it once, and what stands in it. IOMMU: AMD I/O Virtualization Technology (IOMMU) Specification,
 * 48882.
 *
 *   registers ─► device table ── entry of a stream ─┬─ root, domain ──► tables in the pool of its sandbox (pt_amdvi)
 *        │                                          └─ interrupts ────► table of its sandbox: a vector is its own index
 *        └─────► commands, at whose end one stores a number: everything before it is done
 */
#pragma once
#include <assert.h>
#include <stddef.h>

#include "arch/arch.h"
#include "board.h"
#include "hal/iommu/iommu.h"

/* Words of an entry. IOMMU, 2.2.2.1 "Device Table Entry Format". The fourth is 0. */
enum { AMDVI_TRANSLATION, AMDVI_DOMAIN, AMDVI_INTERRUPTS, AMDVI_ENTRY_WORDS = 4 };
/*
 * V and TV, and neither a table nor IR nor IW: nothing is read or written. Without V everything passes, so no entry is ever without.
 * IV with IntCtl 0: no interrupt passes; of a table of 256 entries, which it needs not.
 */
#define AMDVI_CLOSED       UINT64_C(3)
#define AMDVI_NO_INTERRUPT UINT64_C(0x11)
#define AMDVI_REMAP        (UINT64_C(2) << 60) /* IntCtl: fixed and arbitrated interrupts go by their table's entry, no other passes */
#define AMDVI_ONE_EVENT    (UINT64_C(1) << 33) /* SE: after its first fault it leaves none in the log, until the entry is read again */

/* A command's code is in bits 63:60 of its first word. IOMMU, 2.4 "Commands". */
#define AMDVI_COMPLETION_WAIT   (UINT64_C(1) << 60 | 1) /* stores its second word at this address */
#define AMDVI_FENCE             (UINT64_C(1) << 60 | 4) /* the same without a store; what comes after it begins when it has ended: F */
#define AMDVI_INVALIDATE_DEVICE (UINT64_C(2) << 60)     /* its entry */
#define AMDVI_INVALIDATE_PAGES  (UINT64_C(3) << 60)     /* of the domain in bits 47:32 */
#define AMDVI_ALL_PAGES         UINT64_C(0x7ffffffffffff003)
#define AMDVI_SIZED             UINT64_C(1)         /* S: the lowest 0 of the address, from bit 12 on, tells how much */
#define AMDVI_INVALIDATE_TABLE  (UINT64_C(5) << 60) /* of interrupts, of a stream */
#define AMDVI_INVALIDATE_ALL    (UINT64_C(8) << 60)

enum {
	AMDVI_STREAMS = 0x10000,
	AMDVI_STREAMS_SHOWN = 256, /* bus 0: entries that monitors map */
	AMDVI_COMMANDS = 256,
	AMDVI_COMMAND_BYTES = 16,
	AMDVI_HEAD = 0x2000, /* registers: how far commands are read, ... */
	AMDVI_TAIL = 0x2008, /* and written. IOMMU, 3.4.16 "Command and Event Log Pointer Registers" */
	AMDVI_EVENT_HEAD = 0x2010,
	AMDVI_EVENT_TAIL = 0x2018,
	/*
	 * Turns of a wait, some ten milliseconds: an invalidation takes microseconds. Its end is memory's word alone: at the ring's wrap
	 * QEMU's head register is not what the tail is.
	 */
	AMDVI_TURNS = 1 << 18,
};

/* BH_AMDVI_BYTES, aligned. */
struct amdvi_tables {
	uint64_t devices[AMDVI_STREAMS][AMDVI_ENTRY_WORDS];
	/* What monitors change, under the lock. `asked` is the number of the last wait, `done` of the last that has ended. */
	uint64_t commands[AMDVI_COMMANDS][2];
	uint64_t asked, done;
	uint64_t rest_of_frame[510];
	uint64_t events[AMDVI_COMMANDS][2];
	uint64_t unused[13][512];
};
static_assert(sizeof(struct amdvi_tables) == BH_AMDVI_BYTES, "as the tool has placed them");
static_assert(2 * BH_MAX_PCI_FUNCTIONS + 3 < AMDVI_COMMANDS, "a sandbox's commands fit the empty ring");
static_assert(offsetof(struct amdvi_tables, events) == BH_AMDVI_EVENTS, "as others read it");
static_assert(offsetof(struct amdvi_tables, asked) - offsetof(struct amdvi_tables, commands) == BH_PAGE_BYTES, "mapped together");

/* Physical addresses. Start-up writes it before anything of the backend is called, and no monitor does. */
extern struct amdvi_tables *amdvi;

extern const struct iommu amdvi_resident;
extern const struct iommu_boot amdvi_boot;

/*
 * Commands are put one after the other into the empty ring, from where the tail register stands, and then carried out. Require the lock, or
 * start-up.
 */

/* Puts a command. Returns the tail behind it. */
uint32_t amdvi_put(uint32_t tail, uint64_t first, uint64_t second);
/*
 * Hands over what has been put up to `tail`, and waits until it is done. Returns whether it is within a bound; what the IOMMU did for
 * streams before has then arrived in memory, too. IOMMU, 2.4.1 "COMPLETION_WAIT".
 */
bool amdvi_carry_out(uint32_t tail);

/* Whether the last wait has ended. */
static inline HAL_OUTLINE bool amdvi_has_ended(void)
{
	return __atomic_load_n(&amdvi->done, __ATOMIC_ACQUIRE) == amdvi->asked;
}

static inline uint32_t amdvi_where(void)
{
	return (uint32_t)arch_mmio_read64(board.iommu.registers + AMDVI_TAIL);
}

/* Whether all commands have been read. In QEMU the head reads as the ring's length where it is 0. */
static inline bool amdvi_is_read(uint32_t tail)
{
	uint32_t head = (uint32_t)arch_mmio_read64(board.iommu.registers + AMDVI_HEAD);

	return !((head - tail) % sizeof(amdvi->commands));
}

/*
 * Says in *tail where the first command goes. The last wait may not have ended. If the ring is empty, its holder trapped before it was
 * handed over (BH-D346), and another is. If it is not, its holder trapped behind that or has given up: nothing may be put behind what the
 * IOMMU has not read, so its end is waited for. Returns false if it does not come within a bound.
 */
bool amdvi_begin(uint32_t *tail);
