/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the partition table and of the boot module, and what has to be known of the machine for it. Called once, by main_boot.c. No
 * file of this room touches hardware, so tests and a fuzzer run the same ones on the host.
 */
#pragma once
#include "abi/table.h"
#include "arch/arch.h"
#include "arch/board.h"
#include "hal/hal.h"

/* What this build of the monitor knows of its machine without any table. */
struct table_limits {
	const struct board *board;
	uint64_t image_start, image_end; /* the monitor's, which no table may give away */
};
/* The first invariant the table breaks, as an English clause, or NULL. Pure: reads nothing but its arguments. */
const char *table_refuse(const struct bh_table *table, const struct table_limits *limits);

/*
 * The same for what the loader brought with the image, under a table that was not refused: how many modules, and where. Does not read the
 * module. If it is not refused, module_spread() writes nothing but what the table gives to payload.
 */
const char *table_refuse_modules(const struct bh_table *table, const struct table_limits *limits, const struct arch_modules *modules);

/* The same for what the module has brought. Reads the table and the module's pieces at their targets. */
const char *table_refuse_spread(const struct bh_table *table);
