/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor below one sandbox. Policy only: which exits are answered how. It knows no register, vendor or table format.
 *
 *   boot/ (start-up, dropped)                               resident (one private copy per sandbox)
 *   main_boot ─► table_boot      refuse what is wrong       run ─► exits ─► hal
 *            ├─► module_boot     payload to its places        └──► restart ─► hal
 *            ├─► partition_boot  build partition, copy
 *            └─► snapshot_boot   keep what a restart needs
 *
 * `monitor` is the whole mutable state of a private copy besides what hal keeps in the arena. Start-up fills it through
 * the copy's frames; resident code sees it at its link address. Cores of a sandbox share it, so it is const after launch
 * except for `phase`, which one core claims, what restart.c says of itself, and the statistics page, where each core writes its own
 * row and the one that calls READY a copy of all.
 */
#pragma once
#include "abi/table.h"
#include "arch/arch.h"
#include "hal/hal.h"

/*
 *             fault within max_restarts, or a request             fault, end of work
 *   RUNS ──────────────────────────────────────► RESTARTS    RUNS, RESTARTS ──────► ENDED
 *     ▲                                             │
 *     └───────────── its first core ────────────────┘
 */
enum { PHASE_MASK = 3, NEXT_LIFE = 4 };
enum phase { PHASE_RUNS, PHASE_RESTARTS, PHASE_ENDED /* parked or switched off, all cores of it */ };

/* What a restart makes of the sandbox's memory: spans of zeros, and in them pieces of the boot snapshot. One frame of the arena. */
struct boot_snapshot {
	uint64_t copy; /* HPA, mapped one to one as the spans are */
	uint32_t span_count, piece_count;
	struct {
		uint64_t start, bytes;
	} spans[BH_MAX_REGIONS];
	struct bh_piece pieces[BH_MAX_PIECES];
};

/* The heartbeat as it was seen last. */
struct watch {
	uint64_t timeout; /* arch counter ticks; 0: nobody watches */
	uint64_t beats, since;
};

struct monitor {
	struct bh_stats *stats;
	struct bh_crash *crash;
	struct hal_core *cores[BH_MAX_SANDBOX_CORES];
	uint32_t core_numbers[BH_MAX_SANDBOX_CORES];
	uint32_t core_count;
	uint32_t may_kick;                    /* bit n: sandbox n */
	uint64_t kick_timeout;                /* arch counter ticks; twice as long is a restart's first core patient with the others */
	const struct boot_snapshot *snapshot; /* NULL: never restarts */
	const struct bh_log *log;
	struct watch watch;                     /* the first core's */
	uint32_t phase;                         /* enum phase in the lowest bits, above them the number of the life */
	uint32_t entered;                       /* bit n: core n has been in monitor_run */
	uint32_t stopped[BH_MAX_SANDBOX_CORES]; /* the phase for whose end core n waits; of the first core nothing */
	uint32_t restarts_left;                 /* after faults; whoever claims the restart writes it */
};
extern struct monitor monitor;

/* ---- resident ---- */

/* Runs the sandbox on this core for good. Entered once, by hal_core_launch, on the private stack and tables. */
void monitor_run(struct hal_core *core);

/* Answers one exit within the sandbox's grant. Bounded. */
enum hal_action monitor_answer(struct hal_core *core, unsigned slot, const struct hal_exit *exit);

/* Acknowledges and counts the kicks that are pending for this core. Returns how many there were. */
uint32_t monitor_take_kicks(struct hal_core *core, unsigned slot);

/*
 * Does this core's part of a restart. The restart may still be going on when this returns: the caller reads the phase again.
 * Requires: the core has read `phase`, one that RESTARTS, from monitor.phase.
 */
void restart_take_part(struct hal_core *core, unsigned slot, uint32_t phase);
/* Returns whether the guest has missed a heartbeat. Requires: the first core, after a kick. */
bool restart_heartbeat_missed(void);
/* Ends the sandbox for good: its state is BH_STATE_PARKED or BH_STATE_OFF from now on. If it is parked, sends the notice allowed to it. */
void monitor_end(const struct hal_core *core, uint32_t state);
/* Changes the phase from `found` to `to`. Returns false, and changes nothing, if another core has changed it first. */
bool monitor_change_phase(uint32_t found, uint32_t to);

/* ---- start-up ---- */

/* Called by the architecture's entry code: once on the boot core, then on every core hal_core_start started. */
_Noreturn void monitor_boot(void);
_Noreturn void monitor_core_boot(uint32_t core_number);

/* Prints `text` on the boot console. Requires: the boot core, in start-up, before any sandbox owns the console. */
void monitor_say(const char *text);

/* Says what starts, with version, platform, partition file and sandboxes, and leaves the console to its owner. Start-up only. */
void monitor_banner(const struct bh_table *table);

/* Says "bulkhead: WHAT: WHY" on the boot console and ends the machine with status 1. Start-up only. */
_Noreturn void monitor_refuse(const char *what, const char *why);

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

/* Takes each piece of the boot module at `module` to its target, which may lie over the module itself. The table has not been refused. */
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
/* Refuses unless status is HAL_OK. */
void build_must(enum hal_status status, const char *what);
/*
 * Marks core `slot` as one whose monitor has trapped, so that its sandbox is parked whatever restarts it has left. Requires: called on that
 * core, after hal_core_disarm has failed, before hal_core_launch. Waits up to a second until the sandbox's first core has begun.
 */
void build_condemn(const struct build *build, uint32_t slot);
/* Builds the private monitor's own address space; after build_partition of all sandboxes. Refuses on failure. */
void build_space(const struct bh_table *table, struct build *builds, uint32_t index);
