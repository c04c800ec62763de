/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up of the monitors: on the boot core, with everything mapped one to one, until each core is in its sandbox. Everything in this room
 * is dropped then, which is why its files end in _boot.c. Only the architecture's entry code may call it from outside.
 */
#pragma once
#include "monitor/monitor.h"

/* Called by the architecture's entry code: once on the boot core, then on every core hal_core_start started. */
_Noreturn void monitor_boot(void);
_Noreturn void monitor_core_boot(uint32_t core_number);

/* Prints `text` on the boot console. Requires: the boot core, in start-up, before any sandbox owns the console. */
void monitor_say(const char *text);

/* Says what starts, with version, platform, partition file and sandboxes, and leaves the console to its owner. Start-up only. */
void monitor_banner(const struct bh_table *table);

/* Says "bulkhead: WHAT: WHY" on the boot console and ends the machine with status 1. Start-up only. */
_Noreturn void monitor_refuse(const char *what, const char *why);

/*
 * Moves each piece of the boot module at `module` to its target, which may overlap the module itself.
 * Requires: the table has passed its checks.
 */
void module_spread(const struct bh_table *table, uint64_t module);

/* The common time base: its frequency, and its value when start-up was entered. */
struct boot_clock {
	uint64_t hz;
	uint64_t entered;
};

/* A sandbox under construction. */
struct build {
	const struct bh_sandbox *sandbox;
	struct hal_arena arena;
	struct hal_partition *partition;
	struct hal_core *cores[BH_MAX_SANDBOX_CORES];
	struct hal_space *space;
	void *stack_tops[BH_MAX_SANDBOX_CORES];
	uint64_t copy, copy_end; /* HPA of the private copy of the resident image */
	struct boot_snapshot *snapshot;
	struct hal_gate gates[BH_MAX_CHANNELS]; /* by the number of the channel in the table */
};
/* Copies the monitor, builds stage 2, filters and cores of table->sandboxes[index]. Refuses on failure. */
void build_partition(const struct bh_table *table, uint32_t index, const struct boot_clock *clock, struct build *build);
/*
 * Copies what sandboxes[index] needs for a restart, if it may have one. Refuses on failure.
 * Requires: everything that start-up writes into the sandbox's memory has been written.
 */
void snapshot_keep(const struct bh_table *table, uint32_t index, struct build *build);
/* Maps the boot snapshot, if there is one, and the RAM that a restart fills into the private monitor. Refuses on failure. */
void snapshot_map(struct build *build);
/* Empties all channels and writes their pages. Before any sandbox runs. */
void channels_prepare(const struct bh_table *table);
/* Closes what sandboxes[index] opens itself. Refuses on failure. Requires: its regions are mapped, and it is not sealed. */
void channels_gate(const struct bh_table *table, uint32_t index, struct build *build);
/* Tells a private monitor of the ends that sandboxes[index] has, by which gates it reaches them, and how it rings the others. */
void channels_grant(const struct bh_table *table, uint32_t index, uint64_t clock_hz, const struct hal_gate *gates, struct monitor *private);
/* The end of a channel that is rung by `line`. Requires: the table has passed its checks, and the line has BH_LINE_RUNG. */
struct bh_channel_end *channels_rung(const struct bh_table *table, const struct bh_line *line);
/* Refuses unless status is HAL_OK. */
void build_must(enum hal_status status, const char *what);
/*
 * Marks core `slot` as one whose monitor has trapped, so that its sandbox is parked whatever restarts it has left. Requires: called on that
 * core, after hal_core_disarm has failed, before hal_core_launch. Waits up to a second until the sandbox's first core has begun.
 */
void build_condemn(const struct build *build, uint32_t slot);
/* Builds the private monitor's own address space; after build_partition of all sandboxes. Refuses on failure. */
void build_space(const struct bh_table *table, struct build *builds, uint32_t index);
