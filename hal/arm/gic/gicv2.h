/* SPDX-License-Identifier: Apache-2.0 */
/* GICv2's own registers: ARM IHI 0048B, 4.3 "Distributor register descriptions", 4.4 "CPU interface register descriptions". */
#pragma once
#include "gicd.h"

enum { GICD_SGIR = 0xf00, GICD_CPENDSGIR = 0xf10, GICD_SPENDSGIR = 0xf20, GICD_PIDR = 0xfd0, GICD_PIDR2 = 0xfe8, GICD_BYTES = 0x1000 };
enum { GICD_CTLR_ENABLE = 1, GICD_TYPER_CPU_SHIFT = 5, GICD_TYPER_CPUS = 7 };
enum { SGIR_TARGET_SHIFT = 16, SGIR_FILTER_SHIFT = 24, SGIR_LIST = 0, SGIR_OTHERS = 1, SGIR_SELF = 2, SGIR_INTID = 0xf };

enum {
	GICC_CTLR = 0x00,
	GICC_PMR = 0x04,
	GICC_BPR = 0x08,
	GICC_RPR = 0x14,
	GICC_ABPR = 0x1c,
	GICC_APR = 0xd0,
	GICC_NSAPR = 0xe0,
	GICC_APR_WORDS = 4
};
enum { GICC_CTLR_ENABLE = 1, GICC_PMR_OPEN = 0xff, GICC_RPR_IDLE = 0xff };

static inline uint32_t gicc_read(uint32_t offset)
{
	return arch_mmio_read32(gic_at.interface + offset);
}

static inline void gicc_write(uint32_t offset, uint32_t value)
{
	arch_mmio_write32(gic_at.interface + offset, value);
}

/* Clears whatever is active at this core, because it could outrank the kick. */
static inline void gicc_clear_active(void)
{
	for (uint32_t n = 0; n < GICC_APR_WORDS; n++) {
		gicc_write(GICC_APR + 4 * n, 0);
		gicc_write(GICC_NSAPR + 4 * n, 0);
	}
}

/* CPU interfaces are numbered by the lowest affinity field. */
static inline uint32_t gicv2_interface(uint64_t hardware_id)
{
	return UINT32_C(1) << (hardware_id & 7);
}
