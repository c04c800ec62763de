/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidation of a sandbox's translations on every core. */
#pragma once
#include <stdint.h>

#include "arch/arm/aarch64/sysreg.h"

/*
 * By the VMID in `vttbr`, which becomes the current one for the moment; `own` is put back. What the caller wrote to the
 * tables is visible to every walk when this returns. ARM ARM D8.17 "TLB maintenance", TLBI VMALLS12E1IS.
 */
static inline void stage2_invalidate(uint64_t vttbr, uint64_t own)
{
	__asm__ volatile("dsb ish" : : : "memory");
	SYSREG_WRITE(VTTBR_EL2, vttbr);
	arch_isb();
	__asm__ volatile("tlbi vmalls12e1is\n\tdsb ish" : : : "memory");
	SYSREG_WRITE(VTTBR_EL2, own);
	arch_isb();
}

/* Ends a sleep in WFE on every core. */
static inline void stage2_wake(void)
{
	__asm__ volatile("dsb ish\n\tsev" : : : "memory");
}
