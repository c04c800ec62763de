/* SPDX-License-Identifier: Apache-2.0 */
/* Who this sandbox is and what it owns: struct bh_info of abi/guest.h, or, with no monitor below, the bare emulator's. */
#pragma once
#include <stdbool.h>

#include "abi/guest.h"
#include "kernel/core/clock.h"

extern const struct bh_info *info; /* valid from info_init on */

/* Takes the description with which the kernel was entered; NULL: there is no monitor. */
void info_init(const struct bh_info *given);

/* Returns the frequency of arch_counter(): what the page says, or where it says nothing the machine. */
static inline uint64_t info_clock_hz(void)
{
	return info->clock_hz ? info->clock_hz : clock_machine_hz();
}

/* Returns the first grant of this kind whose role label is `name` (NULL: any), or NULL. */
const struct bh_grant *info_find(enum bh_grant_kind kind, const char *name);

/*
 * Returns where this sandbox's PCI functions see what it has at `own`, in its RAM: there, or on a machine without an IOMMU at the machine's
 * own address.
 */
uint64_t info_dma_address(const void *own);

/* Hypercall of abi/guest.h; BH_E_UNKNOWN on the bare machine. */
int64_t info_call_monitor(enum bh_call function, uint64_t a, uint64_t b);

/* Returns the description of this architecture's emulated machine, used where there is no monitor. arch/<arch>/bare.c */
const struct bh_info *info_bare_machine(void);

/* Returns what the monitor counts of this sandbox; all 0 on the bare machine. */
const struct bh_stats *info_statistics(void);
