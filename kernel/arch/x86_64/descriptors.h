/* SPDX-License-Identifier: Apache-2.0 */
/* Each core's GDT, TSS and IDT: vectors.S has the entries that the IDT leads to. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* On the first core: GDT, TSS and IDT. Every vector leads to its entry in vectors.S; double faults and NMIs have stacks of their own. */
void descriptors_init(void);

/* Takes frames for those stacks of the other cores, and maps them. Requires: kernel_space maps no RAM yet but the image. Stops without
 * frames. */
void descriptors_take_stacks(void);

/* Unmaps the page below each of those stacks, of all cores. Requires: descriptors_take_stacks; no other core is on. */
void descriptors_make_holes(void);

/* On a further core, slot > 0: the same. From here on cpu_slot() tells it. */
void descriptors_load(unsigned slot);

/* Lets `vector` lead to `entry`, on a stack that is for this alone if wanted. For measurements and programs. */
void descriptors_set_vector(uint8_t vector, const void *entry, bool own_stack);

/* An exception of a core that went off (memory_leave): its console, the log and the stacks' holes are in kernel_space again. memory_hw.c */
void memory_come_back(void);

/* Address of this core's TSS. */
uint64_t descriptors_tss(void);

/* Has what comes from ring 3 on this core begin its frame at `top`, a multiple of 16. */
void descriptors_set_user_entry_stack(uint64_t top);

/* Top of the stack that those vectors are taken on, on this core. */
uint64_t descriptors_own_stack(void);

/* Top of the stack for double faults, on this core. */
uint64_t descriptors_emergency_stack(void);
