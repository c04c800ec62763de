/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own page tables: everything one to one, nothing writable and executable, and only what was granted. The
 * root has an entry a GiB, as many as there are addresses; leaves of 2 MiB and 4 KiB. Architectures differ in bits alone.
 *
 *   0                       memory_reach_base                              memory_graft_base
 *   | grants, one to one    | memory_reach: anything, with every right     | memory_graft: one GiB |
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum memory_type {
	MEMORY_TEXT,   /* read, execute */
	MEMORY_RODATA, /* read */
	MEMORY_DATA,   /* read, write */
	MEMORY_DEVICE, /* read, write, registers */
	MEMORY_ANY,    /* read, write, execute: memory_reach */
	MEMORY_TYPES,
};

/* Maps the image and the grants, and turns translation on. */
void memory_init(void);

/* For attacks, which want to be stopped by the monitor and not here. */

/*
 * Maps the pages of [physical, physical+size) once more, with every right, behind what was reached before. The virtual
 * address; 0: out of tables or reach.
 */
uint64_t memory_reach(uint64_t physical, uint64_t size);

/*
 * Maps the page of `physical` and the one behind it, with every right, in the place of what was aimed at before. The virtual address.
 */
uint64_t memory_aim(uint64_t physical);

/* The entry by which the page at `virtual` is mapped, and what it would be if it led to `physical`. For pages that were reached. */
uint64_t *memory_entry(uint64_t virtual);
uint64_t memory_entry_to(uint64_t physical);

/*
 * Maps a page three times: with every right at the address that is returned, as a device's registers in the page behind, and in a leaf of
 * 1 GiB at memory_graft_base.
 */
uint64_t memory_alias(uint64_t physical);

/* Makes the frame at `table` a page table of the kernel; returns the first virtual address that it translates. */
uint64_t memory_graft(uint64_t table);

/* ---- arch/<arch>/memory_hw.c -------------------------------------------------------------------------------------- */

extern const uint64_t memory_reach_base, memory_graft_base; /* whole GiB */
extern const uint64_t memory_leaf[MEMORY_TYPES];            /* attributes of a leaf */
extern const uint64_t memory_large;                         /* added in a leaf of 2 MiB */
extern const uint64_t memory_page;                          /* added in a leaf of 4 KiB */
extern const uint64_t memory_table;                         /* a table entry */

/* Is this entry of a level above the last a leaf? */
bool memory_is_leaf(uint64_t entry);
/* Puts the tables to use. */
void memory_activate(const uint64_t *root);
/* Makes new entries visible to the table walker. */
void memory_publish(void);
/* Makes the table walker forget entries that were changed. */
void memory_forget(void);
/* Makes instructions that were just written visible to the processor's other view of them, at whatever address. */
void memory_publish_code(const void *start, uint64_t bytes);
