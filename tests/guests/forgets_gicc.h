/* SPDX-License-Identifier: Apache-2.0 */
/* GICv2's CPU interface, which is memory, for forgets_cpu.h: IHI 0048, 4.4 "CPU interface register descriptions". */
#pragma once
#include "forgets.h"

static volatile uint32_t *gicc; /* NULL where there is none */

#define GICC_REGISTERS(X) X(GICC_CTLR, 0x00, 1) X(GICC_PMR, 0x04, 0xf0) X(GICC_BPR, 0x08, 5) X(GICC_ABPR, 0x1c, 5) X(GICC_APR0, 0xd0, 4)

#define GICC_ACCESS(name, offset, left)               \
	static uint64_t read_##name(void)             \
	{                                             \
		return gicc[(offset) / 4];            \
	}                                             \
	static void write_##name(uint64_t value)      \
	{                                             \
		gicc[(offset) / 4] = (uint32_t)value; \
	}
GICC_REGISTERS(GICC_ACCESS)

#define GICC_ROW(name, offset, left) { #name, read_##name, write_##name, left, "gicv2-cpu" },

static inline void forgets_prepare(const struct bh_info *info)
{
	const struct bh_grant *grant = forgets_grant(info, BH_GRANT_IRQCHIP, "gicv2-cpu");

	if (grant)
		gicc = (volatile uint32_t *)(uintptr_t)grant->gpa;
}
