/* SPDX-License-Identifier: Apache-2.0 */
/* Registers that AArch64 and ARMv7 both have, by one name (arm/sleep.c). */
#pragma once
#include <stdint.h>

/* One load or store, of which the monitor can tell what it wants: ARM ARM D24.2.37 "ESR_EL1", ISV. */
static inline uint32_t mmio_read(uint64_t address)
{
	uint32_t value;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void mmio_write(uint64_t address, uint32_t value)
{
	__asm__ volatile("str %w0, [%1]" ::"r"(value), "r"(address) : "memory");
}

/* The virtual timer: ARM ARM D12 "The Generic Timer in AArch64 state", CNTV_CVAL_EL0 and CNTV_CTL_EL0. */
static inline void timer_set(uint64_t ticks)
{
	__asm__ volatile("msr cntv_cval_el0, %0\n\tmsr cntv_ctl_el0, %1\n\tisb" ::"r"(ticks), "r"(UINT64_C(1)) : "memory");
}

static inline void timer_clear(void)
{
	__asm__ volatile("msr cntv_ctl_el0, xzr\n\tisb" ::: "memory");
}

/* Aff3.Aff2.Aff1.Aff0 as one word, as GICR_TYPER[63:32] has it: ARM ARM D24.2 "MPIDR_EL1". */
static inline uint32_t core_affinity(void)
{
	uint64_t mpidr;

	__asm__ volatile("mrs %0, mpidr_el1" : "=r"(mpidr));
	return (uint32_t)((mpidr >> 32 & 0xff) << 24 | (mpidr & 0xffffff));
}

/* The CPU interface in system registers, IHI 0069, 12.2: interrupts of group 1 down to the priority `mask`. */
static inline void gic_registers_start(uint64_t mask)
{
	uint64_t sre;

	__asm__ volatile("mrs %0, icc_sre_el1" : "=r"(sre));
	__asm__ volatile("msr icc_sre_el1, %0\n\tisb" ::"r"(sre | 1) : "memory");
	__asm__ volatile("msr icc_pmr_el1, %0\n\tmsr icc_igrpen1_el1, %1\n\tisb" ::"r"(mask), "r"(UINT64_C(1)) : "memory");
}
