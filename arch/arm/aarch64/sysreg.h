/* SPDX-License-Identifier: Apache-2.0 */
/* System registers by name. A write takes effect for what follows only after arch_isb(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define SYSREG_READ(name)                                          \
	({                                                         \
		uint64_t value_;                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_)); \
		value_;                                            \
	})
/* Zero is read from xzr: given the choice ("rZ"), clang loads another register with it. */
#define SYSREG_WRITE(name, value)                                                                    \
	do {                                                                                         \
		if (__builtin_constant_p(value) && (uint64_t)(value) == 0)                           \
			__asm__ volatile("msr " #name ", xzr" : : : "memory");                       \
		else                                                                                 \
			__asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(value)) : "memory"); \
	} while (0)

static inline void arch_isb(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/* Waits for an interrupt, masked or not; what was written before is visible first. */
static inline void arch_wfi(void)
{
	__asm__ volatile("dsb sy\n\twfi" : : : "memory");
}

/* Exception level this code runs at: CurrentEL, bits 3:2. */
static inline unsigned arch_exception_level(void)
{
	return SYSREG_READ(CurrentEL) >> 2 & 3;
}

/* The number this core is known by: MPIDR_EL1's affinity fields. */
static inline uint64_t arch_core_id(void)
{
	return SYSREG_READ(MPIDR_EL1) & UINT64_C(0xff00ffffff);
}

/* Whether the GIC's CPU interface is in system registers: ID_AA64PFR0_EL1.GIC. */
static inline bool arch_has_gic_registers(void)
{
	return SYSREG_READ(ID_AA64PFR0_EL1) >> 24 & 15;
}
