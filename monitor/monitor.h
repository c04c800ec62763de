/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor below one sandbox. Policy only: which exits are answered how. It knows no register, vendor or table format.
 *
 *   boot/ (start-up, dropped)                               resident (one private copy per sandbox)
 *   main_boot ─► table/          refuse what is wrong       run ─► exits ─► hal
 *            ├─► module_boot     payload to its places        └──► restart ─► hal
 *            ├─► partition_boot  build partition, copy
 *            └─► snapshot_boot   keep what a restart needs
 *
 * `monitor` is the whole mutable state of a private copy besides what hal keeps in the arena. Start-up fills it through
 * the copy's frames; resident code sees it at its link address. The cores of a sandbox share it. After launch these change:
 *
 *   phase                             by the core that claims it (run.c)
 *   entered, trapped, stopped         by each core, for itself (run.c, restart.c)
 *   restarts_left                     by the core that claimed the restart (run.c)
 *   watch                             by the first core (restart.c)
 *   *stats                            each core's row by itself; at_ready by the core that calls READY
 *   *ends[].seen, *ends[].peer        by the core that begins a life, or ends it, or turns its gate
 *   doorbells[].next                  by the core that rings (hal)
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

/* What a restart writes to the sandbox's memory: zeros to the spans, then the pieces of the boot snapshot. One frame of the arena. */
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
	uint32_t core_numbers[BH_MAX_SANDBOX_CORES];
	uint32_t core_count;
	uint32_t may_kick;                    /* bit n: sandbox n */
	uint64_t kick_timeout;                /* arch counter ticks; in a restart the first core waits twice as long for the others */
	uint64_t reset_ticks;                 /* of its devices, before a new life may access them */
	const struct boot_snapshot *snapshot; /* NULL: never restarts. Never written, as a restart that is under way reads it */
	const struct bh_log *log;
	struct channel_end {
		struct bh_channel_end *seen; /* on the channel's page: what others see of its sandbox */
		uint32_t *peer;              /* in its sandbox's area: the connection that it takes part in */
		struct hal_gate gate;        /* of BH_CHANNEL_ON_REQUEST; else none */
	} ends[BH_MAX_CHANNELS];
	uint32_t end_count;
	struct hal_doorbell doorbells[BH_MAX_CHANNELS]; /* as `ends`: by which it rings the other end */
	struct watch watch;                             /* the first core's */
	uint32_t phase;                                 /* enum phase in the lowest bits, above them the number of the life */
	uint32_t entered;                               /* bit n: core n has been in monitor_run */
	uint32_t stopped[BH_MAX_SANDBOX_CORES];         /* by core n: the phase for which it has stopped, and whose end it waits for */
	bool trapped;                                   /* a core's monitor has trapped, so the sandbox does not begin again */
	uint32_t restarts_left;                         /* after faults; whoever claims the restart writes it */
};
extern struct monitor monitor;

/* Runs the sandbox on this core for good. Entered once, by hal_core_launch, on the private stack and tables. */
void monitor_run(struct hal_core *core);

/* Answers one exit within the sandbox's grant, in bounded time. */
enum hal_action monitor_answer(struct hal_core *core, unsigned slot, const struct hal_exit *exit);

/* Acknowledges and counts the kicks that are pending for this core. Returns how many there were. */
uint32_t monitor_take_kicks(struct hal_core *core, unsigned slot);

/*
 * Does this core's part of a restart or of the end. May return before the others have done theirs: the caller reads the phase again.
 * Requires: the core has read `phase`, one that RESTARTS or has ENDED, from monitor.phase.
 */
void restart_take_part(struct hal_core *core, unsigned slot, uint32_t phase);
/*
 * Tells whoever shares a channel with the sandbox what became of it: LIVES, by its first core before anything of that life runs, and before
 * the phase says that it does; GONE, by its first core, when the others have stopped or never run again. What a new life opens itself is
 * closed.
 */
void channels_tell(struct hal_core *core, enum bh_channel_state state);
/* BH_CALL_OPEN and BH_CALL_CLOSE of channel `n`. Returns BH_OK or BH_E_DENIED. */
int64_t channels_turn(struct hal_core *core, uint64_t n, bool open);
/* Returns whether the guest has missed a heartbeat. Requires: the first core, after a kick. */
bool restart_heartbeat_missed(void);
/* Ends the sandbox for good, with state BH_STATE_PARKED or BH_STATE_OFF. If it is parked, sends the notice that it may send. */
void monitor_end(const struct hal_core *core, uint32_t state);
/* Changes the phase from `found` to `to`. Returns false, and changes nothing, if another core has changed it first. */
bool monitor_change_phase(uint32_t found, uint32_t to);
