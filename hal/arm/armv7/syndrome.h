/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that describe an exit, for hal/arm/decode.h. ARMv7 ARM B4.1 has each by name. */
#pragma once
#include "hal/arm/stage2.h"

#include "arch/arm/armv7/sysreg.h"

/*
 * Classes a guest can cause, without a decoder: what HCPTR, HDCR and HSTR deny: MCRR, MRRC of coprocessor 15 (4), MCR, MRC,
 * LDC, MRRC of 14 (5, 6, 12), other coprocessors (7), BXJ (10).
 */
#define SYNDROME_CLASSES_DENIED (1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 10 | 1u << 12)

enum { CLASS_HYPERCALL = 0x12, CLASS_REGISTER = 0x03, CLASS_DATA_ABORT = 0x24 };

/* Our own functions are known by their 64-bit names, abi/guest.h. */
static inline uint32_t guest_function(const struct hal_core *core)
{
	return core->guest.r[0] ^ BH_CALL_64;
}

static inline uint32_t syndrome_read(void)
{
	return SYSREG_READ(HSR);
}

static inline uint32_t syndrome_return_address(void)
{
	uint32_t address;

	__asm__ volatile("mrs %0, elr_hyp" : "=r"(address));
	return address;
}

/* Virtual address of an abort. */
static inline uint32_t syndrome_address(enum bh_access access)
{
	return access == BH_ACCESS_EXECUTE ? SYSREG_READ(HIFAR) : SYSREG_READ(HDFAR);
}

/* Bits 39:12 of the guest-physical address of an abort, 8 to the right; need not hold one after a permission fault. */
static inline uint64_t syndrome_page(void)
{
	return SYSREG_READ(HPFAR);
}

/* Whether the guest was in a state whose instructions the monitor completes: ARM or Thumb, not Jazelle or ThumbEE. */
static inline bool guest_is_served(const struct hal_core *core)
{
	return !(core->guest.cpsr & CPSR_J);
}

/* What the guest's own tables make of an address; UNTRANSLATED if they, or stage 2 below them, refuse. PAR is the guest's, so it is put
 * back. */
static inline uint64_t guest_translate(const struct hal_core *core, uint64_t gva)
{
	uint64_t saved = SYSREG_READ64(PAR);
	uint64_t par;

	if ((core->guest.cpsr & MODE_MASK) == MODE_USR)
		SYSREG_WRITE(ATS1CUR, gva);
	else
		SYSREG_WRITE(ATS1CPR, gva);
	arch_isb();
	par = SYSREG_READ64(PAR);
	SYSREG_WRITE64(PAR, saved);
	return par & 1 /* F */ ? UNTRANSLATED : par & 0xfffffff000 /* PA */;
}
