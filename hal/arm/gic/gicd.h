/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the distributor's layout that both versions have: ARM IHI 0048B (GICv2) 4.3 "Distributor register
 * descriptions"; ARM IHI 0069H (GICv3) 12.9 "The GIC Distributor register descriptions".
 */
#pragma once
#include "arch/arch.h"

enum {
	GICD_CTLR = 0x000,
	GICD_TYPER = 0x004,
	GICD_IIDR = 0x008,
	GICD_IGROUPR = 0x080,
	GICD_ISENABLER = 0x100,
	GICD_ICENABLER = 0x180,
	GICD_ISPENDR = 0x200,
	GICD_ICPENDR = 0x280,
	GICD_ISACTIVER = 0x300,
	GICD_ICACTIVER = 0x380,
	GICD_IPRIORITYR = 0x400,
	GICD_ITARGETSR = 0x800,
	GICD_ICFGR = 0xc00,
	GICD_ICFGR_PPI = 0xc04,
	GICD_ICFGR_END = 0xcff,
};
enum { GICD_TYPER_LINES = 0x1f, GICD_TYPER_LPIS = 1 << 17, GICD_ICFGR_EDGE = 2 };

/*
 * Where the board has the controller: HPAs, 0 where this version of the GIC has none. Start-up writes it before anything else here is
 * called; each private monitor has a copy. Data and not constants of the code, whose size would depend on them: vectors.lds fills slots to
 * the byte.
 */
extern struct gic_at {
	uint64_t distributor;
	uint64_t interface;      /* GICv2: of the CPUs, GICC */
	uint64_t redistributors; /* GICv3: the first frame */
} gic_at;

static inline uint32_t gicd_read(uint32_t offset)
{
	return arch_mmio_read32(gic_at.distributor + offset);
}

static inline void gicd_write(uint32_t offset, uint32_t value)
{
	arch_mmio_write32(gic_at.distributor + offset, value);
}
