/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VT-d in legacy mode. Memory that the machine has of it once, and what stands in it. VT-d: Intel Virtualization Technology for Directed
 * I/O Architecture Specification, D51397.
 *
 *   registers ─┬─► root: an entry a bus ──► contexts of bus 0: an entry a stream ── root, domain ──► tables of its sandbox (pt_vtd)
 *              ├─► interrupts, constant after start-up: blocks of 256 entries, a vector each
 *              │      core n, edge-triggered lines: block 2n; level-triggered: 2n + 1; function m: block VTD_FUNCTIONS + m
 *              └─► commands, of which one stores a number: everything before it is done
 *
 * An entry of zeros is not present and lets nothing pass.
 */
#pragma once
#include <assert.h>
#include <stddef.h>

#include "hal/iommu/iommu.h"

/* VT-d, 9.1 "Root Entry", 9.3 "Context Entry": their first words. */
#define VTD_PRESENT UINT64_C(1)
/* The second word of a context entry, besides AW. */
enum { VTD_DOMAIN_SHIFT = 8 };

/* A command's code is in bits 3:0 of its first word, its granularity in 5:4. VT-d, 6.5.2 "Queued Invalidation Interface". */
#define VTD_INVALIDATE_CONTEXTS UINT64_C(0x11)
#define VTD_INVALIDATE_ENTRIES  UINT64_C(0x21) /* of contexts, of the domain in bits 31:16 */
#define VTD_INVALIDATE_PAGES    UINT64_C(0xd2) /* all; what was asked of memory before is waited for: DR, DW */
#define VTD_INVALIDATE_DOMAIN   UINT64_C(0xe2) /* of the domain in bits 31:16; likewise */
#define VTD_INVALIDATE_RANGE \
	UINT64_C(0xf2) /* of the domain; second word: address and, in bits 5:0, how many of its bits, from 12 on, do not count */
#define VTD_INVALIDATE_INTERRUPTS UINT64_C(0x04)
#define VTD_WAIT                  UINT64_C(0x65) /* stores bits 63:32 at its second word; nothing behind it begins before: SW, FN */
enum { VTD_COMMAND_DOMAIN_SHIFT = 16, VTD_COMMAND_STORE_SHIFT = 32 };

enum {
	VTD_STREAMS = 256, /* of bus 0, the only one that has contexts */
	VTD_COMMANDS = 256,
	VTD_COMMAND_BYTES = 16,
	VTD_BLOCK = 256,                  /* entries of interrupts */
	VTD_FUNCTIONS = 2 * BH_MAX_CORES, /* blocks of lines come before those of functions */
	VTD_LINE_INDEX_SHIFT = 17,        /* of an index in the high word of an entry of the I/O APIC */
	VTD_BLOCKS = 128,                 /* a power of two, as the register wants it */
	VTD_FAULT_STATUS = 0x34,          /* registers: VT-d, 11.4 "Register Descriptions" */
	VTD_HEAD = 0x80,                  /* how far commands are read, ... */
	VTD_TAIL = 0x88,                  /* and written */
	VTD_QUEUE_ERROR = 1 << 4,         /* of the fault status, IQE: the queue stands at a command that there is not */
	/* Turns of a wait, of which each reads a register: some ten milliseconds. An invalidation takes microseconds. */
	VTD_TURNS = 1 << 14,
};
static_assert(VTD_FUNCTIONS + BH_MAX_PCI_FUNCTIONS <= VTD_BLOCKS, "a block each");

/* BH_VTD_BYTES, aligned. */
struct vtd_tables {
	uint64_t root[VTD_STREAMS][2];
	/* What monitors change, under the lock, and map. `asked` is the number of the last wait, `done` of the last that has ended. */
	uint64_t contexts[VTD_STREAMS][2];
	uint64_t commands[VTD_COMMANDS][2];
	uint32_t asked, done;
	uint64_t rest_of_frame[511];
	uint64_t unused[12][512];
	uint64_t interrupts[VTD_BLOCKS][VTD_BLOCK][2];
};
static_assert(sizeof(struct vtd_tables) == BH_VTD_BYTES, "as the tool has placed them");
static_assert(offsetof(struct vtd_tables, asked) - offsetof(struct vtd_tables, contexts) == UINT64_C(2) * BH_PAGE_BYTES, "mapped together");

/* Physical addresses. Start-up writes it before anything of the backend is called, and no monitor does. */
extern struct vtd_tables *vtd;

extern const struct iommu vtd_resident;
extern const struct iommu_boot vtd_boot;

/*
 * Commands are put one after the other into the empty queue, from where the tail register stands, and then carried out. Require the lock,
 * or start-up.
 */

#define VTD_HANGS UINT32_MAX
/*
 * Returns where the first command goes. The last wait may not have ended. If the queue is empty, its holder trapped before it was
 * handed over (BH-D346), and another is. If it is not, its holder trapped behind that or has given up: nothing may be put behind what the
 * IOMMU has not read, so its end is waited for. Returns VTD_HANGS if it does not come within a bound.
 */
uint32_t vtd_begin(void);
/* Puts a command. Returns the tail behind it. */
uint32_t vtd_put(uint32_t tail, uint64_t first, uint64_t second);
/* Puts a wait that stores `number`. Returns the tail behind it. */
uint32_t vtd_put_wait(uint32_t tail, uint32_t number);
/*
 * Hands over what has been put up to `tail`, and waits until it is done. Returns whether all of it is within a bound. A command in error is
 * replaced, so that the queue goes on; then the answer is no.
 */
bool vtd_carry_out(uint32_t tail);
