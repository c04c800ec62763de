/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up (BH-I3.forms): translation services, and redistributors with locality-specific interrupts on, read and write tables in memory,
 * where a loader put them. What sends comes first. A redistributor need not let EnableLPIs be cleared (GICR_CTLR.CES): then it is refused.
 */
#include "hal/arm/gic/gic.h"
#include "hal/arm/gic/gicr.h"
#include "hal/arm/disarm.h"

#include <stddef.h>

#include "board.h"

/* Quiescent: what it had begun is in memory. */
static bool translator_stays_on(uint64_t base)
{
	uint32_t control = arch_mmio_read32(base + GITS_CTLR) & ~(uint32_t)GITS_CTLR_ENABLED;

	arch_mmio_write32(base + GITS_CTLR, control);
	for (int tries = 0; tries < RWP_TRIES && !(control & GITS_CTLR_QUIESCENT); tries++)
		control = arch_mmio_read32(base + GITS_CTLR);
	control = arch_mmio_read32(base + GITS_CTLR);
	return control & GITS_CTLR_ENABLED || !(control & GITS_CTLR_QUIESCENT);
}

static bool lpis_stay_on(uint64_t base)
{
	uint32_t control = arch_mmio_read32(base + GICR_CTLR);

	if (control & GICR_CTLR_ENABLE_LPIS)
		arch_mmio_write32(base + GICR_CTLR, control & ~(uint32_t)GICR_CTLR_ENABLE_LPIS);
	for (int tries = 0; tries < RWP_TRIES && arch_mmio_read32(base + GICR_CTLR) & GICR_CTLR_RWP; tries++)
		arch_relax();
	return arch_mmio_read32(base + GICR_CTLR) & (GICR_CTLR_ENABLE_LPIS | GICR_CTLR_RWP);
}

static bool virtual_lpis_stay_on(uint64_t base)
{
	uint64_t address = base + GICR_VLPI_FRAME + GICR_VPENDBASER;

	if (arch_mmio_read64(address) & GICR_VPENDBASER_VALID)
		arch_mmio_write64(address, 0);
	for (int tries = 0; tries < RWP_TRIES && arch_mmio_read64(address) & GICR_VPENDBASER_DIRTY; tries++)
		arch_relax();
	return arch_mmio_read64(address) & (GICR_VPENDBASER_VALID | GICR_VPENDBASER_DIRTY);
}

static const char *disarm_redistributor(uint64_t base, uint64_t type)
{
	if (type & GICR_TYPER_VLPIS && virtual_lpis_stay_on(base))
		return disarm_refusal("GICR_VPENDBASER.Valid", base + GICR_VLPI_FRAME + GICR_VPENDBASER);
	if (type & GICR_TYPER_PLPIS && lpis_stay_on(base))
		return disarm_refusal("GICR_CTLR.EnableLPIs", base + GICR_CTLR);
	return NULL;
}

static const char *disarm_redistributors(void)
{
	uint64_t base = board.gic.redistributors, type = 0;
	const char *why = NULL;

	for (int n = 0; n < MAX_FRAMES && !(type & GICR_TYPER_LAST) && !why; n++) {
		type = arch_mmio_read64(base + GICR_TYPER);
		why = disarm_redistributor(base, type);
		base += gicr_frames_bytes(type);
	}
	return why;
}

/* Without LPIs the distributor's machine has no translation services. */
const char *gic_disarm(void)
{
	if (!(gicd_read(GICD_TYPER) & GICD_TYPER_LPIS))
		return NULL;
	for (uint32_t n = 0; n < board.gic.translators.count; n++)
		if (translator_stays_on(board.gic.translators.at[n].start))
			return disarm_refusal("GITS_CTLR.Enabled", board.gic.translators.at[n].start + GITS_CTLR);
	return disarm_redistributors();
}
