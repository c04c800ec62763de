/* SPDX-License-Identifier: Apache-2.0 */
/* Registers that distributors and redistributors have in common (gic_dist.h). */
#include "kernel/drivers/gic_dist.h"

#include "kernel/core/cpu.h"

enum {
	GICD_IGROUPR = 0x080,
	GICD_ISENABLER = 0x100,
	GICD_ICENABLER = 0x180,
	GICD_IPRIORITYR = 0x400,
	GICD_ICFGR = 0xc00,
	PRIORITY = 0xa0,
	SGIS = 16,
};

/* The register of 32 bits that holds the field of `number`, when it holds `fields` of them. */
static uint64_t word(uint64_t registers, uint32_t number, uint32_t fields)
{
	return registers + 4ULL * (number / fields);
}

void gic_dist_reset_local(uint64_t frame)
{
	uint32_t sgis = (1U << SGIS) - 1;

	arch_mmio_write32(frame + GICD_ICENABLER, ~sgis);
	for (uint32_t number = 0; number < SGIS; number += 4)
		arch_mmio_write32(frame + GICD_IPRIORITYR + number, PRIORITY * 0x01010101U);
	arch_mmio_write32(frame + GICD_ISENABLER, sgis);
}

void gic_dist_configure(uint64_t frame, uint32_t number, bool edge)
{
	uint64_t config = word(frame + GICD_ICFGR, number, 16);
	uint32_t edge_bit = 2U << number % 16 * 2;
	uint32_t value = arch_mmio_read32(config) & ~edge_bit;

	arch_mmio_write32(config, value | (edge ? edge_bit : 0));
}

void gic_dist_enable(uint64_t frame, uint32_t number)
{
	arch_mmio_write8(frame + GICD_IPRIORITYR + number, PRIORITY);
	arch_mmio_write32(word(frame + GICD_ISENABLER, number, 32), 1U << number % 32);
}

void gic_dist_set_group1(uint64_t frame, uint32_t number)
{
	uint64_t group = word(frame + GICD_IGROUPR, number, 32);

	arch_mmio_write32(group, arch_mmio_read32(group) | 1U << number % 32);
}

void gic_dist_set_group1_local(uint64_t frame)
{
	arch_mmio_write32(frame + GICD_IGROUPR, 0xffffffff);
}
