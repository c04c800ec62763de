/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's memory: its own part of every address space (space.h), with everything one to one and nothing writable and executable, only
 * what was granted; the frames (frames.h); and what the processor has to be told when its tables change.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Makes frames of the RAM above the image, maps image, information page and grants, and turns translation on. Stops the kernel if RAM
 * or addresses do not suffice. Requires: the first core, before anything that locks or allocates.
 */
void memory_init(void);

/* ---- arch/<arch>/memory_hw.c -------------------------------------------------------------------------------------- */

enum { MEMORY_EVERY_ASID = ~0U >> 1 };

/* Writes an entry of a table at once: a walker sees the former or the new one. */
void memory_write(uint64_t *entry, uint64_t value);
/* Makes entries that were written visible to table walkers, and what was written before visible before what is written after. */
void memory_publish(void);
/* Makes this core forget what it holds of the page of `virtual`, and of tables on the way there. MEMORY_EVERY_ASID: global ones, too. */
void memory_forget_page(uint64_t virtual, unsigned asid);
/* Makes this core forget all that it holds of an ASID. MEMORY_EVERY_ASID: everything, global or not. */
void memory_forget_asid(unsigned asid);
/* The same of everything. */
void memory_forget(void);
/* Has this core translate by these tables. Requires: memory_start was called. */
void memory_switch(const uint64_t *root, unsigned asid);
/*
 * This core goes off: has it forget everything, and keeps its walkers out of tables that others may take back meanwhile where a walk writes
 * (x86). Requires: interrupts disabled; from now on the core uses nothing but the image and its stack
 * (cpu_start_core).
 */
void memory_leave(void);
/*
 * Maps what this processor needs besides image and grants, in frames that it takes. What is mapped around them later is mapped page by
 * page, so that a page among them can become a hole. Requires: nothing but the image is mapped; called once, before memory_start.
 */
void memory_map_own(void);
/*
 * Turns translation and caches on, by the kernel's own tables. `written_end`: the kernel has written from the end of its read-only data up
 * to there, with caches off, and nothing but the image above.
 */
void memory_start(const uint64_t *root, uint64_t written_end);
/* Makes instructions that were just written visible to instruction fetch, at whatever address. */
void memory_publish_code(const void *start, uint64_t bytes);
