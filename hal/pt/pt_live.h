/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage 2 while guests run: holes become leaves and leaves become holes, within ranges that start-up has reserved. For channels, memory
 * that grows, and migration by copy. Resident, and linked where something calls it; nothing does yet.
 *
 *   pt_live_reserve   start-up: every table below the root is made, so that each place of the range is a hole of one size
 *   pt_live_put       hole -> leaf. No core can have kept anything about a hole, so nothing is invalidated.
 *   pt_live_take      leaf -> hole, and a new generation. Who takes then kicks the sandbox's other cores; each invalidates as it comes
 *                     into its monitor, and acknowledges. The frame is its owner's until all have: pt_live_is_clear.
 *   pt_live_retry     during a replacement, leaf -> hole -> leaf: an access of another core to the hole is no fault, within a bound
 *   pt_live_restore   restart: every reserved place is a hole again
 *
 * A leaf is never divided, joined or overwritten, and the root never changes, but for the present bits that a kick takes from its entries
 * for a while (hal/arm/kick.c): an entry of the root that is not 0 is in use, whether the hardware may walk it or not.
 *
 * The seam, for whoever calls this first. The exit path (hal_core_run's decoders) asks pt_live_retry before it reports MEMORY, and reports
 * KICK if it says so: monitor/exits.c resumes after that, and attend() of monitor/run.c comes by. hal_core_ready, which attend() asks
 * before every run, is where a core calls pt_live_pending, invalidates, and calls pt_live_acknowledge; hal_core_quiesce and the loops that
 * wait for others do, too, so that a core that is off, or waits itself, keeps nobody waiting. hal_kick_siblings is the kick.
 *
 * One core of the sandbox edits at a time; who that is, the caller settles. Everything else may be called on all cores at once.
 */
#pragma once
#include "hal/pt/pt.h"

enum { PT_LIVE_RANGES = 4, PT_LIVE_SERIES = 64 };

struct pt_live {
	struct pt_format format; /* a copy: the descriptions are start-up's */
	uint64_t *root;
	uint8_t oa_bits;
	uint32_t core_count;
	uint32_t range_count;
	struct pt_live_range {
		uint64_t ia, size;
		unsigned level; /* of its leaves */
	} ranges[PT_LIVE_RANGES];
	uint32_t generation;                 /* counts calls of pt_live_take */
	uint32_t seen[BH_MAX_SANDBOX_CORES]; /* the generation that a core has acknowledged; it alone writes this */
	uint32_t change;                     /* odd: `start` and `size` are being replaced */
	uint64_t start, size;
	struct pt_live_wait {
		uint32_t change;
		uint64_t since;        /* when the core first met this change, */
		uint64_t series;       /* and the first of those that it has met without a pause; */
		uint64_t last;         /* when it met one last */
		bool waits;            /* the rest means something */
	} waits[BH_MAX_SANDBOX_CORES]; /* each core's own */
};

/* ---- Start-up ---- */

/* Fills *live for the tables of *pt, which a sandbox of `core_count` cores uses. Nothing is reserved yet. */
void pt_live_create(struct pt_live *live, const struct pt *pt, uint32_t core_count);

/*
 * Makes [ia, ia+size) places for leaves of `level` (0: 4 KiB, 1: 2 MiB), all of them holes.
 * Requires: *live was made of *pt; the sandbox does not run yet.
 * Returns HAL_OK, HAL_E_RANGE (misaligned for such leaves, empty, or outside what the format translates; no room for another range),
 * HAL_E_PERMISSION (the machine has no such leaves), HAL_E_OVERLAP (something is mapped there, smaller places exist, or it is reserved) or
 * HAL_E_NOMEM. On failure nothing is reserved; empty tables may have been made.
 */
HAL_CHECKED enum hal_status pt_live_reserve(struct pt_live *live, struct pt *pt, uint64_t ia, uint64_t size, unsigned level);

/* ---- Resident, on a core of the sandbox ---- */

/* As pt_query. */
bool pt_live_query(const struct pt_live *live, uint64_t ia, struct hal_leaf *out);

/*
 * Maps [ia, ia+size), all of it holes, to [oa, oa+size).
 * Returns HAL_OK, HAL_E_DENIED (not within one reserved range; or leaves have been taken that a core may still use), HAL_E_RANGE
 * (misaligned for the range's leaves, empty, or beyond what the machine can address), HAL_E_PERMISSION or HAL_E_OVERLAP (a leaf is there).
 * On failure nothing has changed. Bounded by the number of leaves.
 */
HAL_CHECKED enum hal_status pt_live_put(struct pt_live *live, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions,
					enum hal_memory memory);
/*
 * Turns [ia, ia+size), all of it leaves, into holes, and begins a generation. The frames may not change their owner before
 * pt_live_is_clear. Returns HAL_OK, HAL_E_DENIED, HAL_E_RANGE or HAL_E_OVERLAP (a hole is there); on failure nothing has changed. Bounded
 * as above.
 */
HAL_CHECKED enum hal_status pt_live_take(struct pt_live *live, uint64_t ia, uint64_t size);

/* Returns whether this core has to invalidate its translations before its guest runs; if so, *generation is what it then acknowledges. */
bool pt_live_pending(const struct pt_live *live, uint32_t slot, uint32_t *generation);
/* Acknowledges: no translation from before `generation` is left on this core. Requires: on the core itself, in its monitor. */
void pt_live_acknowledge(struct pt_live *live, uint32_t slot, uint32_t generation);
/* Returns whether every core has acknowledged the newest generation. The caller waits within a bound; after it, the sandbox ends. */
bool pt_live_is_clear(const struct pt_live *live);

/*
 * From begin to end accesses to [ia, ia+size) that find a hole are tried again. Between: take, wait until clear, put.
 * Requires: of each PT_LIVE_SERIES times `patience` in which replacements follow one another, the last two `patience` have none, so that
 * every core's series ends, however many holes it meets: a migration pauses for a thirty-second of its time.
 */
void pt_live_replace_begin(struct pt_live *live, uint64_t ia, uint64_t size);
void pt_live_replace_end(struct pt_live *live);
/*
 * Returns whether an access that needs `permissions` and has found none at `ia` is to be tried again: its leaf is being, or has just been,
 * replaced. False after `patience` ticks of the same change; and after PT_LIVE_SERIES times `patience` in which the core has come back
 * again and again, no `patience` apart, however many changes it has met: so no access is tried for ever, even if replacements never end
 * (BH-I8.bounded). What is bounded is the series and not the place: one instruction may need several places (itself, its operands, the
 * guest's own tables), so another place is no sign that the core gets on. pt_live_replace_begin says what keeps a core that does get on
 * from such a fault. `now`: arch_counter().
 */
bool pt_live_retry(struct pt_live *live, uint32_t slot, uint64_t ia, unsigned permissions, uint64_t now, uint64_t patience);

/* Every reserved place is a hole, no replacement is under way, and every core has to invalidate. Requires: nothing of the sandbox runs. */
void pt_live_restore(struct pt_live *live);
