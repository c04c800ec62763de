/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel would never map: attacks get their targets in front of them, with every right, so that it is the monitor that stops them.
 * In the kernel's own address space, at the addresses that it leaves to programs (kernel/core/space.h), by entries of its own making
 * (kernel/core/space_entry.h): the last GiB of them is for grafts.
 */
#pragma once
#include <stdint.h>

/*
 * Maps the pages of [physical, physical+size) once more, with every right, after what was reached before. The virtual
 * address; 0: out of tables or reach.
 */
uint64_t mapping_reach(uint64_t physical, uint64_t size);

/*
 * Maps the page of `physical` and the one after it, with every right, in the place of what was aimed at before. The virtual address.
 */
uint64_t mapping_aim(uint64_t physical);

/* The entry by which the page at `virtual` is mapped, and what it would be if it led to `physical`. For pages that were reached. */
uint64_t *mapping_entry(uint64_t virtual);
uint64_t mapping_entry_to(uint64_t physical);

/*
 * Maps a page three times: with every right at the address that is returned, as a device's registers in the page after it, and in a leaf of
 * 1 GiB in the last GiB.
 */
uint64_t mapping_alias(uint64_t physical);

/* Makes the frame at `table` a page table of the kernel; returns the first virtual address that it translates. */
uint64_t mapping_graft(uint64_t table);
