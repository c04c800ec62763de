/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces (BH-D531, BH-D532, BH-D533). The kernel's part is the same in all: grants, one to one, mapped at the start. The user part
 * is a space's own.
 *
 *   0                    grants_end           user_start                         end      (space_format.h)
 *   | grants, one to one | a program's that   | processes'; in the kernel's own |
 *   |                    | is linked with us  | space a program's, too          |
 *   '----------- kernel_space, shared --------'------- each space's own --------'
 *
 * A new space's root gets copies of the root entries of the kernel's part, so those do not change while another space exists: the tables
 * that they lead to do. Entries go from hole to leaf and from leaf to hole, never from leaf to leaf, and a leaf that became a hole is
 * forgotten by this core before anything else is mapped there: Arm ARM, D8.16 "Using break-before-make when updating translation
 * table entries"; APM vol. 2, 5.5.3 "TLB Management".
 *
 * Other cores. A space knows the cores whose TLB may hold something of it (space_cores). What is mapped anew they see by themselves. To
 * unmap something, or to destroy a space, the caller first has every other core of space_cores switch to another space and call
 * space_forget; until then space_unmap and space_destroy refuse. kernel_space counts a core from before it is started
 * (space_expect_core) until it goes off (space_leave_core): what is in it can be unmapped while one core is on.
 *
 * A status other than SPACE_OK means that nothing has changed. Any core, in the main program; each function locks for itself, and keeps
 * interrupts disabled for a time that grows with the number of leaves: who has deadlines maps in pieces.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/lock.h"
#include "kernel/core/space_format.h"

enum space_status {
	SPACE_OK,
	SPACE_E_RANGE,     /* not a multiple of 4 KiB, empty, not in this space's part, or it would cut a leaf of 2 MiB */
	SPACE_E_KIND,      /* a process's kind in the kernel's part, or a kernel's in another space than its own */
	SPACE_E_OVERLAP,   /* something is mapped there */
	SPACE_E_NOMEM,     /* no frame for a table, or no ASID */
	SPACE_E_SHARED,    /* it takes a new entry in the root, of which other spaces have copies */
	SPACE_E_ELSEWHERE, /* another core may hold it in its TLB */
};

/* The fields are space.c's. */
struct space {
	uint64_t *root;
	unsigned asid;
	uint32_t cores;  /* whose TLB may hold something of it, by slot */
	uint32_t tables; /* frames, with the root */
	struct lock lock;
};

/* The kernel's own. It has ASID 0 and is never destroyed. */
extern struct space kernel_space;

/* Makes kernel_space an empty one. Requires: frames_init; once, before anything else here. Returns SPACE_OK or SPACE_E_NOMEM. */
enum space_status space_init(void) __attribute__((warn_unused_result));

/* Makes *space a space with the kernel's part and an empty user part. Returns SPACE_OK or SPACE_E_NOMEM. */
enum space_status space_create(struct space *space) __attribute__((warn_unused_result));

/*
 * Unmaps everything in the space's user part and gives its tables and its ASID back. The frames that were mapped stay their owners'.
 * Requires: another than kernel_space; not this core's active one. Returns SPACE_OK or SPACE_E_ELSEWHERE.
 */
enum space_status space_destroy(struct space *space) __attribute__((warn_unused_result));

/*
 * Maps [virtual, virtual + size) to [physical, physical + size) with the largest leaves that fit.
 * Requires: processes' kinds lie in the user part, the kernel's in kernel_space.
 * Returns SPACE_OK, SPACE_E_RANGE, SPACE_E_KIND, SPACE_E_OVERLAP, SPACE_E_NOMEM or SPACE_E_SHARED.
 */
enum space_status space_map(struct space *space, uint64_t virtual, uint64_t physical, uint64_t size, enum space_kind kind)
	__attribute__((warn_unused_result));

/*
 * Makes [virtual, virtual + size) a hole; parts of it may be holes. Tables that are empty then go back, but those of the kernel's part that
 * the root leads to. Returns SPACE_OK, SPACE_E_RANGE or SPACE_E_ELSEWHERE.
 */
enum space_status space_unmap(struct space *space, uint64_t virtual, uint64_t size) __attribute__((warn_unused_result));

/* What is at an address, and how far the same goes on from there, as one table shows it and within the
 * space: a hole, or frames in a row.
 */
struct space_view {
	bool mapped;
	uint64_t physical;   /* if mapped: of the address that was asked about */
	uint64_t attributes; /* if mapped: the entry without its address */
	uint64_t bytes;
};
/* Requires: virtual < space_format.end. */
struct space_view space_query(struct space *space, uint64_t virtual);

/* Makes the space the one by which this core translates. Requires: interrupts may be enabled; the same stack is mapped in both. */
void space_activate(struct space *space);

/* Has this core forget all that its TLB holds of the space. Requires: it is not this core's active one; not kernel_space. */
void space_forget(struct space *space);

/* Returns the cores, by slot, whose TLB may hold something of the space. */
uint32_t space_cores(struct space *space);

/*
 * Counts core `slot` as one that translates by kernel_space. Requires: it is called before the core is started. A core that does not come
 * counts, too: it may be late.
 */
void space_expect_core(unsigned slot);

/*
 * Has this core forget kernel_space, which no longer counts it. Requires: interrupts disabled; kernel_space is active; no other space
 * counts this core; from now on it uses nothing but the image and its stack, and goes off. A core that is started has forgotten everything
 * before it translates.
 */
void space_leave_core(void);
