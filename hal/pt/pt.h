/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translation tables (BH-I1.memory): one builder, and one const description for each format the hardware walks.
 *
 *   level     3            2            1           0          a level has 512 slots of 8 bytes
 *          +------+     +------+     +------+    +------+
 *   root ->| slot |---->| slot |---->| slot |--->| slot |---> 4 KiB page       slot = hole | table | leaf
 *          +------+     +---+--+     +---+--+    +------+
 *       512 GiB each        +-> 1 GiB    +-> 2 MiB block
 *
 * Formats of fewer levels start at a lower level. A root has a slot for each value of the input address's uppermost bits: it is shorter
 * than a frame, or several frames side by side, where ia_bits says so. Start-up code only, on the boot core: the tables of a sandbox are
 * made before it runs and sealed. Frames come from the sandbox's arena, which lies one to one in start-up's address space, so a table's
 * address is its physical address.
 */
#pragma once
#include "hal/hal.h"

enum { PT_LEAF_4K = 1 << 0, PT_LEAF_2M = 1 << 1, PT_LEAF_1G = 1 << 2 };

/* MAIR_EL2 (HMAIR1:HMAIR0) that pt_el2 and pt_hyp index: 0 = Normal write-back, 1 = Device-nGnRE. */
#define PT_HOST_MAIR UINT64_C(0x04ff)

struct pt_format {
	const char *name;
	uint64_t control;       /* what the walker's register must hold: formats_*_boot.c names it for each format */
	uint64_t address;       /* bits of an entry that hold an output address or a table's, ... */
	uint8_t address_shift;  /* address = (entry & `address`) << address_shift */
	uint8_t ia_bits;        /* width of input addresses: guest-physical, or virtual in the monitor's own tables; sizes the root */
	uint8_t oa_bits;        /* width of output addresses that fit an entry under `control` */
	uint8_t levels;         /* of tables; the last is level 0, whose leaves are 4 KiB */
	uint8_t leaf_levels;    /* PT_LEAF_*: levels that can hold a leaf */
	uint8_t permissions;    /* bit p: the set p (enum hal_permission, or-ed) can be expressed */
	uint64_t present;       /* an entry with none of these bits is a hole */
	uint64_t kind;          /* above level 0, an entry equal to `table` in these bits is a table, else a leaf */
	uint64_t table;         /* entry that points to a table, without its address ... */
	uint64_t table_level;   /* ... and without the level of that table, counted from 1, times this */
	uint64_t page;          /* fixed part of a leaf of level 0 */
	uint64_t block;         /* fixed part of a larger leaf */
	uint64_t permission[8]; /* of a leaf, by permission set */
	uint64_t memory[HAL_MEMORY_TYPES]; /* of a leaf, by memory type */
};

/* Stage 2. */
extern const struct pt_format pt_ept;    /* Intel EPT, control = EPTP */
extern const struct pt_format pt_npt;    /* AMD nested paging, control = N_CR3 */
extern const struct pt_format pt_stage2; /* VMSAv8-64 stage 2, control = VTCR_EL2 */
extern const struct pt_format pt_lpae;   /* ARMv7 LPAE stage 2, control = VTCR */
/* IOMMUs', of reads and writes. */
extern const struct pt_format pt_amdvi; /* AMD-Vi host tables, control = the first word of a device-table entry */
extern const struct pt_format pt_vtd;   /* VT-d second-level tables, control = the second word of a context entry */
/* Stage 1, for monitors. Writable and executable at once cannot be expressed. */
extern const struct pt_format pt_long; /* x86-64 long mode, control = CR3; needs EFER.NXE and CR0.WP */
extern const struct pt_format pt_el2;  /* VMSAv8-64 EL2, control = TCR_EL2 */
extern const struct pt_format pt_hyp;  /* ARMv7 LPAE PL2, control = HTCR */

struct pt {
	const struct pt_format *format;
	struct hal_arena *arena; /* where table frames come from; only start-up functions follow it */
	uint64_t *root;          /* its frames are aligned to their size */
	uint64_t table_bytes;    /* frames in use for tables, the root included */
	/* What the machine allows of what the format offers. pt_init grants all; narrow before the first map. */
	uint8_t oa_bits;
	uint8_t leaf_levels;
	uint8_t executable_leaf_levels; /* EPT: PT_LEAF_4K alone where the CPU has the page-size-change machine check */
};

/* An empty table. HAL_E_NOMEM: no frame for the root; *pt is then unusable. */
HAL_CHECKED enum hal_status pt_init(struct pt *pt, const struct pt_format *format, struct hal_arena *arena);

/*
 * Maps [ia, ia+size) to [oa, oa+size) with the largest leaves that fit and that no table already divides. Three steps:
 * check, reserve every table, write the leaves; so a failure changes no translation. What it leaves are
 * empty tables (HAL_E_NOMEM). A new table is zeroed and fenced before it is linked. No TLB maintenance is needed.
 *   HAL_E_RANGE       not multiples of 4 KiB, empty, or outside ia_bits or oa_bits
 *   HAL_E_PERMISSION  the format has no such set, or executable device memory
 *   HAL_E_OVERLAP     part of the range is mapped
 *   HAL_E_NOMEM       the arena has too few frames
 */
HAL_CHECKED enum hal_status pt_map(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory);
/* The same in two parts, for a range that two tables shall map or none: all that can fail, which translates nothing; then the leaves.
 * pt_commit requires: pt_prepare of the same arguments has returned HAL_OK, and nothing was mapped there since. */
HAL_CHECKED enum hal_status pt_prepare(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory);
void pt_commit(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory);

/*
 * Makes every table that leaves of `level` at [ia, ia+size) need, so that each of their places is a hole of its own. Translates nothing.
 * Returns HAL_OK, HAL_E_RANGE, HAL_E_PERMISSION (the machine has no such leaves, or not for code), HAL_E_OVERLAP (something is mapped
 * there, or a table divides a place) or HAL_E_NOMEM.
 */
HAL_CHECKED enum hal_status pt_reserve(struct pt *pt, uint64_t ia, uint64_t size, unsigned level);

/*
 * Turns the leaves of [ia, ia+size) into holes; tables stay. The caller invalidates TLBs. HAL_E_RANGE as above;
 * HAL_E_OVERLAP: the range cuts a leaf or has a hole; nothing is changed then.
 */
HAL_CHECKED enum hal_status pt_unmap(struct pt *pt, uint64_t ia, uint64_t size);

/* Makes a gate of [ia, ia+size) and closes it: hal_partition_gate has the contract. */
HAL_CHECKED enum hal_status pt_gate(const struct pt *pt, uint64_t ia, uint64_t size, struct hal_gate *out);
/* Resident. One store: a walker sees a hole, or what was there at the start. The caller invalidates TLBs. */
static inline void pt_gate_turn(const struct hal_gate *gate, bool open)
{
	__atomic_store_n(gate->entry, open ? gate->open : 0, __ATOMIC_RELAXED);
}

/* What ia translates to: out->hpa is ia's own translation, out->size that of the leaf. false: a hole, *out untouched. */
bool pt_query(const struct pt *pt, uint64_t ia, struct hal_leaf *out);
