/* SPDX-License-Identifier: Apache-2.0 */
/* GICv3's redistributors and translation services: ARM IHI 0069H, 12.11 "The GIC Redistributor", 12.19 "The ITS". */
#pragma once
#include "gicd.h"

/* A redistributor: two frames of 64 KiB, four where it has virtual LPIs. */
enum {
	GICR_CTLR = 0x0000,
	GICR_IIDR = 0x0004,
	GICR_TYPER = 0x0008,
	GICR_WAKER = 0x0014,
	GICR_PIDR = 0xffd0,
	GICR_SGI_FRAME = 0x10000,
	GICR_BYTES = 0x20000,
	GICR_BYTES_VLPI = 0x40000,
};
enum { GICR_CTLR_ENABLE_LPIS = 1 << 0, GICR_CTLR_RWP = 1 << 3, RWP_TRIES = 1000000, MAX_FRAMES = 64 };
enum {
	GICR_TYPER_PLPIS = 1 << 0,
	GICR_TYPER_VLPIS = 1 << 1,
	GICR_TYPER_LAST = 1 << 4,
	GICR_TYPER_AFFINITY_SHIFT = 32,
	GICR_TYPER_NUMBER = 0xffff00
};
/* The third frame: GICR_VPENDBASER, of the virtual core whose tables are in use. */
enum { GICR_VLPI_FRAME = 0x20000, GICR_VPENDBASER = 0x0078 };
#define GICR_VPENDBASER_VALID (UINT64_C(1) << 63)
#define GICR_VPENDBASER_DIRTY (UINT64_C(1) << 60)

enum { GITS_CTLR = 0x0000, GITS_CTLR_ENABLED = 1 << 0 };
#define GITS_CTLR_QUIESCENT (UINT32_C(1) << 31)

static inline uint64_t gicr_frames_bytes(uint64_t type)
{
	return type & GICR_TYPER_VLPIS ? GICR_BYTES_VLPI : GICR_BYTES;
}
