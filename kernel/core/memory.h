/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own page tables: everything one to one, nothing writable and executable, and only what was granted. The
 * root has an entry a GiB, as many as there are addresses; leaves of 2 MiB and 4 KiB. Architectures differ in bits alone.
 *
 *   0                       memory_reach_base                              memory_graft_base
 *   | grants, one to one    | a program's: anything, with every right      | a program's: one GiB |
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum memory_type {
	MEMORY_TEXT,   /* read, execute */
	MEMORY_RODATA, /* read */
	MEMORY_DATA,   /* read, write */
	MEMORY_DEVICE, /* read, write, registers */
	MEMORY_ANY,    /* read, write, execute: nothing of the kernel */
	MEMORY_TYPES,
};

/* Maps the image and the grants, and turns translation on. */
void memory_init(void);

/* ---- For a program that maps what was not granted, because it wants to be stopped by the monitor and not here ------- */

#define MEMORY_ADDRESS_MASK 0x0000fffffffff000ULL /* of an entry: where it leads */
enum { MEMORY_ENTRIES = 512, MEMORY_ROOT_SHIFT = 30, MEMORY_PAGE_SHIFT = 12 };

/*
 * Maps the pages that hold [physical, physical + size), at the same distance from `virtual`. What is mapped there already stays as it is.
 * Returns false if there are no more tables.
 */
bool memory_map(uint64_t virtual, uint64_t physical, uint64_t size, enum memory_type type);

/* The first table, with an entry a GiB. */
uint64_t *memory_root(void);

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
