/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidation of a sandbox's translations on every core. */
#pragma once
#include <stdint.h>

#include "arch/arm/armv7/sysreg.h"

/*
 * By the VMID in `vttbr`, which becomes the current one for the moment; `own` is put back. What the caller wrote to the
 * tables is visible to every walk when this returns. ARMv7 ARM B3.10.5 "TLB maintenance operations, functional group".
 */
static inline void stage2_invalidate(uint64_t vttbr, uint64_t own)
{
	__asm__ volatile("dsb ish" : : : "memory");
	SYSREG_WRITE64(VTTBR, vttbr);
	arch_isb();
	SYSREG_WRITE(TLBIALLIS, 0);
	__asm__ volatile("dsb ish" : : : "memory");
	SYSREG_WRITE64(VTTBR, own);
	arch_isb();
}

/* Ends a sleep in WFE on every core. */
static inline void stage2_wake(void)
{
	__asm__ volatile("dsb ish\n\tsev" : : : "memory");
}
