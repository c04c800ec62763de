/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the partition table and of the boot module, and what has to be known of the machine for it. Called once, by main_boot.c. No
 * file of this room touches hardware, so tests and a fuzzer run the same ones on the host.
 */
#pragma once
#include "abi/table.h"
#include "arch/arch.h"
#include "hal/hal.h"

/* What this build of the monitor knows of its machine without any table. */
struct table_span {
	uint64_t start, bytes;
};
struct table_spans {
	const struct table_span *at;
	uint32_t count;
};
#define TABLE_SPANS(array) { (array), sizeof(array) / sizeof((array)[0]) }

/* Where the base addresses of PCI functions may lie. */
struct table_pci {
	uint32_t functions; /* identifiers below this exist */
	struct table_span window, ports;
	uint64_t ports_at; /* address of port 0 where ports are memory; else 0 */
};

struct table_limits {
	const char *platform;
	uint64_t ram_base, ram_bytes;
	uint64_t image_start, image_end;    /* RAM that no table may give away: the monitor's ... */
	struct table_spans reserved;        /* ... and firmware's, or start-up's own */
	uint64_t banked_base, banked_bytes; /* the one device every sandbox may map; 0 bytes: none */
	struct table_spans forbidden;       /* device registers that are no sandbox's */
	struct table_spans forbidden_ports; /* I/O ports that are no sandbox's */
	struct table_pci pci;
	uint64_t core_id_mask, core_id_greatest; /* hardware numbers of cores: bits they may have, and the last of them */
	struct table_spans forbidden_lines;      /* interrupt lines that are no sandbox's */
	uint32_t first_vector;                   /* what lies below is no device's */
	uint32_t first_level_vector;             /* below, a level-triggered line may have a vector that another guest chooses */
};
/* The first invariant the table breaks, as an English clause, or NULL. Pure: reads nothing but its arguments. */
const char *table_refuse(const struct bh_table *table, const struct table_limits *limits);

/* The same for what the loader brought with the image, under a table that was not refused. Reads nothing but its arguments and the module.
 */
const char *table_refuse_modules(const struct bh_table *table, const struct table_limits *limits, const struct arch_modules *modules);
