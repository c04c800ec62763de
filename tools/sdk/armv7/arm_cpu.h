/* SPDX-License-Identifier: Apache-2.0 */
/* Registers that AArch64 and ARMv7 both have, by one name (arm/sleep.c). */
#pragma once
#include <stdint.h>

/* One load or store, of which the monitor can tell what it wants: ARMv7 ARM B3.13.6 "Use of the HSR", ISV. */
static inline uint32_t mmio_read(uint64_t address)
{
	uint32_t value;

	__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"((uint32_t)address) : "memory");
	return value;
}

static inline void mmio_write(uint64_t address, uint32_t value)
{
	__asm__ volatile("str %0, [%1]" ::"r"(value), "r"((uint32_t)address) : "memory");
}

/* The virtual timer: ARMv7 ARM B4.1 "CNTV_CVAL", "CNTV_CTL". */
static inline void timer_set(uint64_t ticks)
{
	__asm__ volatile("mcrr p15, 3, %Q0, %R0, c14\n\tmcr p15, 0, %1, c14, c3, 1\n\tisb" ::"r"(ticks), "r"(1) : "memory");
}

static inline void timer_clear(void)
{
	__asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" ::"r"(0) : "memory");
}

/* ARMv7 has its GIC's CPU interface in memory: no redistributor is a core's, and there are no registers to start. */
static inline uint32_t core_affinity(void)
{
	return 0;
}

static inline void gic_registers_start(uint64_t mask)
{
	(void)mask;
}
