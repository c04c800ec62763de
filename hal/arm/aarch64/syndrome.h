/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that describe an exit, for hal/arm/decode.h. ARM ARM D24.2 has each by name. */
#pragma once
#include "hal/arm/stage2.h"

#include "arch/arm/aarch64/sysreg.h"

/*
 * Classes a guest can cause, without a decoder: what CPTR_EL2, MDCR_EL2 and HCR_EL2 deny: MCR, MRC, MCRR, MRRC, LDC of
 * coprocessors 14 and 15 (3..6, 12), SIMD (7), SVE (25), SME (29); and what HCRX_EL2 does not switch on: LD64B (10), MSRR, MRRS
 * (20), guarded control stacks (45).
 */
#define SYNDROME_CLASSES_DENIED \
	(1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 10 | 1u << 12 | 1u << 20 | 1u << 25 | 1u << 29 | UINT64_C(1) << 45)

enum { CLASS_HYPERCALL = 0x16, CLASS_REGISTER = 0x18, CLASS_DATA_ABORT = 0x24 };

/* Our own functions by their names in abi/guest.h. */
static inline uint32_t guest_function(const struct hal_core *core)
{
	return (uint32_t)core->guest.x[0];
}

static inline uint64_t syndrome_read(void)
{
	return SYSREG_READ(ESR_EL2);
}

static inline uint64_t syndrome_return_address(void)
{
	return SYSREG_READ(ELR_EL2);
}

/* Virtual address of an abort. */
static inline uint64_t syndrome_address(enum bh_access access)
{
	return SYSREG_READ(FAR_EL2);
}

/* Bits 51:12 of the guest-physical address of an abort, 8 to the right; need not hold one after a permission fault. */
static inline uint64_t syndrome_page(void)
{
	return SYSREG_READ(HPFAR_EL2);
}

/* Whether the guest was in a state whose instructions the monitor completes: AArch64. */
static inline bool guest_is_served(const struct hal_core *core)
{
	return !(core->guest.spsr & 1 << 4);
}

/* What the guest's own tables make of an address; UNTRANSLATED if they, or stage 2 below them, refuse. PAR_EL1 is the guest's, so it is put
 * back. */
static inline uint64_t guest_translate(const struct hal_core *core, uint64_t gva)
{
	uint64_t saved = SYSREG_READ(PAR_EL1);
	uint64_t par;

	if (core->guest.spsr & 0xc) /* EL1 */
		__asm__ volatile("at s1e1r, %0\n\tisb" : : "r"(gva) : "memory");
	else
		__asm__ volatile("at s1e0r, %0\n\tisb" : : "r"(gva) : "memory");
	par = SYSREG_READ(PAR_EL1);
	SYSREG_WRITE(PAR_EL1, saved);
	return par & 1 /* F */ ? UNTRANSLATED : par & 0x000ffffffffff000 /* PA */;
}
