/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of an address space themselves, for a program that is linked with the kernel to be hostile: it maps what may be written and
 * executed, leads walks into memory that is not its own, and changes entries while another core walks through them. Nothing in space.h can
 * do that. Whatever else needs an address space uses space.h.
 */
#pragma once
#include "kernel/core/space.h"

/*
 * Returns the entry of 1 << shift bytes that `virtual` is translated by, or NULL if no table with such entries leads there.
 * Requires: virtual < space_format.end; what the caller makes of the entry is its own affair, as is telling the TLB.
 */
uint64_t *space_entry(struct space *space, uint64_t virtual, unsigned shift);
