/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The core's GDT, TSS and IDT: every vector leads to its entry in vectors.S, double faults onto a stack of their own. */
void descriptors_init(void);

/* Lets `vector` lead to `entry`, on its own stack if wanted. */
void descriptors_set_vector(uint8_t vector, const void *entry, bool own_stack);

/* Top of the stack that those vectors are taken on. */
uint64_t descriptors_own_stack(void);
