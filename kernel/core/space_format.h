/* SPDX-License-Identifier: Apache-2.0 */
/* A format of translation tables, as data: where architectures differ. Tables have 512 entries of 64 bits; leaves 2 MiB or 4 KiB. */
#pragma once
#include <stdint.h>

/* What memory is mapped as. No kind can be both written and executed. */
enum space_kind {
	SPACE_TEXT,        /* the kernel reads, executes */
	SPACE_RODATA,      /* the kernel reads */
	SPACE_DATA,        /* the kernel reads, writes */
	SPACE_DEVICE,      /* the kernel reads, writes: registers */
	SPACE_USER_TEXT,   /* processes read, execute; the kernel reads */
	SPACE_USER_RODATA, /* processes and the kernel read */
	SPACE_USER_DATA,   /* processes and the kernel read, write */
	SPACE_USER_DEVICE, /* processes and the kernel read, write: registers */
	SPACE_KINDS,
};

enum { SPACE_ENTRIES = 512, SPACE_ENTRY_BITS = 9, SPACE_PAGE_SHIFT = 12, SPACE_LARGE_SHIFT = 21 };
#define SPACE_ADDRESS_MASK 0x0000fffffffff000ULL /* of an entry: where it leads */

struct space_format {
	unsigned root_shift; /* an entry of the root translates 1 << root_shift bytes */
	uint64_t grants_end; /* grants are mapped one to one below; from here to user_start is a program's that is linked with the kernel */
	uint64_t user_start; /* the kernel's part ends, processes' begins: a multiple of an entry of the root */
	uint64_t end;        /* of addresses */
	unsigned asids;      /* 1 to asids - 1 are processes'; 0 is the kernel's */
	uint64_t leaf[SPACE_KINDS]; /* attributes of a leaf */
	uint64_t large;             /* added in a leaf of 2 MiB */
	uint64_t page;              /* added in a leaf of 4 KiB */
	uint64_t user_part;         /* added in a leaf from user_start on: it holds for one ASID */
	uint64_t table;             /* an entry that leads to a table */
	uint64_t kind_mask,
		kind_table; /* of an entry that is not 0, above the last level: it leads to a table if (entry & kind_mask) == kind_table */
};

extern const struct space_format space_format; /* arch/<arch>/space_format.c */
