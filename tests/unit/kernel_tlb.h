/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's half of the sandbox kernel's memory, on the host: two cores, each with a TLB that holds every entry of every walk until
 * it is told to forget it. It checks each entry that is written: from hole to leaf or from leaf to hole only; a table that something begins
 * to lead to holds holes, which were published.
 */
#pragma once
#include "kernel/core/space.h"

enum { TLB_CORES = 2 };

extern uint64_t tlb_writes; /* of entries, so far */

/* The core of fake_cpu.slot forgets everything and translates by nothing. */
void tlb_reset(void);
/* The core of fake_cpu.slot translates `virtual` by `space`, the active one. */
void tlb_touch(struct space *space, uint64_t virtual);
/* The same, and again before each entry that is written, as a walker that speculates may. NULL: nothing any more. */
void tlb_watch(struct space *space, uint64_t virtual);
/* Checks that no core holds an entry that is not in the tables. */
void tlb_check(void);
/* Checks that no core holds anything of this ASID. */
void tlb_check_forgotten(unsigned asid);
/* Returns the entry of a walk by `space`, in *shift which, 12 for a page. A reader of its own. */
uint64_t tlb_walk(const struct space *space, uint64_t virtual, unsigned *shift);
