/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.dma. What PCI functions reach of memory by themselves. A function is known by its stream: bus << 8 | device << 3 | function.
 *
 *   function ── stream ──► entry ─┬─► root of its sandbox ──► RAM of its sandbox     granted, and open
 *                                 └─► abort                                          everything else, on every bus
 *
 * Input addresses are guest-physical. The root is a table of the IOMMU's own with RAM alone (HAL_DMA): registers of devices, of the IOMMU
 * itself, its tables and queues, pages that monitors share, doorbells of interrupts are out of reach. Kicks poison the processors' root,
 * not this one. docs/decisions/partitioning.md has why the processors' tables are not shared.
 *
 * A backend is a row of two: what start-up calls, struct iommu_boot, and what stays, struct iommu. A board names its IOMMU's kind; a
 * board without one has no row, and its sandboxes no functions that master the bus, but the one that is allowed to without.
 */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"
#include "hal/lock.h"
#include "hal/pt/pt.h"

/* What a sandbox has of the IOMMU. Const after start-up, but for entries and queues that it leads to. */
struct iommu_view {
	uint32_t count;  /* streams; 0: the sandbox masters no bus, and nothing else here means anything */
	uint32_t domain; /* tag of its translations, below 0x100: sandbox number + 1 */
	uint32_t core;   /* x86: APIC ID of the core that its functions may interrupt */
	uint32_t streams[BH_MAX_PCI_FUNCTIONS];
	struct hal_lock *lock; /* the machine's queue of commands: one monitor at a time */
	uint64_t open[3];      /* AMD-Vi, VT-d: words of an entry that leads to the root */
	struct pt pt;          /* no root: the sandbox masters no bus */
};

/* ---- Resident, on a core of the sandbox ---- */

struct iommu {
	/*
	 * Change the entries of the view's streams, invalidate what the IOMMU may hold of the old ones and wait until it says that this is
	 * done. Return whether it did within a bound; if not, what the functions can reach is unknown. Take the lock as `self`
	 * (hal/lock.h).
	 */
	bool (*open)(const struct iommu_view *view, uint32_t self);  /* to the view's root */
	bool (*close)(const struct iommu_view *view, uint32_t self); /* to abort */
};
extern const struct iommu *iommu; /* the board's, or NULL */

static inline bool iommu_open(const struct iommu_view *view, uint32_t self)
{
	return !view->count || iommu->open(view, self);
}

static inline bool iommu_close(const struct iommu_view *view, uint32_t self)
{
	return !view->count || iommu->close(view, self);
}

/* For hal_core_begin: gives the lock back. Each command is whole before the queue's end moves, so the next holder can go on (BH-D346). */
static inline void iommu_leave(const struct iommu_view *view, uint32_t self)
{
	if (view->count)
		hal_lock_leave(view->lock, self);
}

/* ---- Start-up ---- */

enum { IOMMU_PARTS = 2 }; /* text and rodata, where an image has several backends: arch/x86_64/monitor.lds */
struct iommu_boot {
	const struct iommu *resident;
	struct hal_part parts[IOMMU_PARTS];
	const struct pt_format *format;
	enum bh_iommu kind;
	/* Checks what the backend needs, and changes nothing. Returns NULL, or what is missing, as hal_probe reports it. */
	const char *(*probe)(void);
	/*
	 * hal_machine_block_dma: fills the tables, whose frames hold anything, switches the IOMMU on and waits until it obeys. Returns NULL
	 * or what it does not do.
	 */
	const char *(*block)(uint64_t tables);
	/* Narrows the format to what the machine's IOMMU does, and takes what else a view needs from the arena. */
	HAL_CHECKED enum hal_status (*create)(struct iommu_view *view, struct hal_arena *arena);
	/* Maps what `open` and `close` of this view touch, one to one. */
	HAL_CHECKED enum hal_status (*map)(struct hal_space *space, const struct iommu_view *view);
	/* Those below are NULL where there is nothing to do. Makes what was written to tables visible to the IOMMU. */
	void (*publish)(void);
	/* PCs. As the functions of these names below. */
	uint32_t (*admit)(const struct iommu_view *view, uint32_t stream);
	uint32_t (*admit_lines)(uint32_t core, uint32_t apic_id);
	/* As iommu_clear_faults. */
	void (*clear_faults)(void);
};
/* Returns the backend of the board's kind, or NULL. An image holds no other. */
const struct iommu_boot *iommu_backend(void);

/* As struct iommu_boot.probe, of the board's IOMMU; NULL on a board without. Chooses the backend. Call once, before all that follows. */
const char *iommu_missing(void);
/*
 * Clears what the IOMMU has recorded of start-up's own try, which is nobody's fault, and lets it record anew. Call after
 * hal_machine_block_dma, when the card is silent.
 */
void iommu_clear_faults(void);
/* Makes the view of a partition that has `masters`: nothing mapped, no stream. Returns HAL_OK, HAL_E_UNSUPPORTED (no IOMMU) or HAL_E_NOMEM.
 */
HAL_CHECKED enum hal_status iommu_create(struct iommu_view *view, struct hal_arena *arena, const struct hal_partition_config *config);
/*
 * hal_partition_map: maps in stage 2 and, with HAL_DMA and where the view has a root, in that as well; in both or in none. HAL_DMA alone
 * maps in the view's root alone, which is then required (HAL_E_PERMISSION). Returns what pt_map does.
 */
HAL_CHECKED enum hal_status iommu_map_both(struct pt *stage2, struct iommu_view *view, gpa_t gpa, hpa_t hpa, uint64_t size,
					   unsigned permissions, enum hal_memory memory);
/* Adds a function's stream, closed. Returns HAL_OK, HAL_E_DENIED (the partition has no `masters`) or HAL_E_RANGE (no room). */
HAL_CHECKED enum hal_status iommu_attach(struct iommu_view *view, uint32_t stream);
/*
 * PCs. Lets messages of an attached stream interrupt the view's core, each vector of its own. Returns the address that its messages must
 * have, in the lower half of the address space, or 0: any does. Call once a stream.
 */
uint32_t iommu_admit(const struct iommu_view *view, uint32_t stream);
/*
 * PCs. Lets lines interrupt machine core `core`, whose APIC has this ID, at each vector that lines may have. Returns the high word of
 * entries of the I/O APIC that go there, to which ioapic.c adds the vector where the IOMMU goes by entries of its own.
 */
uint32_t iommu_admit_lines(uint32_t core, uint32_t apic_id);
/* PCs. Makes tables visible to the IOMMU. Call when everything of a sandbox is mapped and admitted, before its view is opened. */
void iommu_publish(void);
/* Maps what the resident functions touch. */
HAL_CHECKED enum hal_status iommu_map(struct hal_space *space, const struct iommu_view *view);
/* The board's backend's parts of the image, or NULL on a board without an IOMMU. */
const struct hal_part *iommu_parts(void);
