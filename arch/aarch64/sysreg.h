/* SPDX-License-Identifier: Apache-2.0 */
/* System registers by name. A write takes effect for what follows only after arch_isb(). */
#pragma once
#include <stdint.h>

#define SYSREG_READ(name)                                          \
	({                                                         \
		uint64_t value_;                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_)); \
		value_;                                            \
	})
#define SYSREG_WRITE(name, value) __asm__ volatile("msr " #name ", %x0" : : "rZ"((uint64_t)(value)) : "memory")

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
