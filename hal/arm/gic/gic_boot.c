/* SPDX-License-Identifier: Apache-2.0 */
/* What both versions do while the machine starts. */
#include "gic_boot.h"
#include "gic_filter.h"
#include "gicd.h"
#include "hal/arguments.h"
#include "hal/arm/stage2.h"

uint32_t gic_machine_words(void)
{
	return (gicd_read(GICD_TYPER) & GICD_TYPER_LINES) + 1;
}

void gic_silence_lines(uint32_t groups)
{
	for (uint32_t word = 1; word < gic_machine_words(); word++) {
		gicd_write(GICD_ICENABLER + 4 * word, UINT32_MAX);
		gicd_write(GICD_ICPENDR + 4 * word, UINT32_MAX);
		gicd_write(GICD_ICACTIVER + 4 * word, UINT32_MAX);
		gicd_write(GICD_IGROUPR + 4 * word, groups);
	}
}

void gic_start_banked(uint64_t frame, uint32_t groups)
{
	arch_mmio_write32(frame + GICD_ICENABLER, UINT32_MAX);
	arch_mmio_write32(frame + GICD_ICPENDR, UINT32_MAX);
	arch_mmio_write32(frame + GICD_ICACTIVER, UINT32_MAX);
	arch_mmio_write32(frame + GICD_IGROUPR, groups);
	arch_mmio_write32(frame + GICD_ICFGR_PPI, 0);
	for (uint32_t line = 0; line < GIC_FIRST_SPI; line++)
		arch_mmio_write8(frame + GICD_IPRIORITYR + line, line == GIC_KICK_SGI ? 0 : GIC_RESET_PRIORITY);
	arch_mmio_write32(frame + GICD_ISENABLER, UINT32_C(1) << GIC_KICK_SGI);
	arch_barrier();
}

/* Two bits a line, so a word is shared: written here, once, and by no filter. */
static void set_trigger(uint32_t line, bool level)
{
	uint32_t offset = GICD_ICFGR + 4 * (line / 16), shift = line % 16 * 2;
	uint32_t others = gicd_read(offset) & ~(UINT32_C(3) << shift);

	gicd_write(offset, others | (level ? 0 : (uint32_t)GICD_ICFGR_EDGE << shift));
}

enum hal_status hal_partition_grant_line(struct hal_partition *partition, uint32_t line, uint32_t core, uint32_t vector, uint32_t flags)
{
	struct gic_view *view = &partition->gic;
	uint32_t word = line / GIC_LINES_A_WORD, slot = hal_slot_of(partition->cores, partition->core_count, core);

	if (partition->sealed)
		return HAL_E_SEALED;
	if (slot == partition->core_count)
		return HAL_E_DENIED;
	if (line < GIC_FIRST_SPI || word >= gic_machine_words())
		return HAL_E_RANGE;
	set_trigger(line, flags & BH_LINE_LEVEL);
	arch_mmio_write8(gic_at.distributor + GICD_IPRIORITYR + line, GIC_RESET_PRIORITY);
	gic_route(line, partition->hardware_id[slot]);
	view->lines[word] |= UINT32_C(1) << line % GIC_LINES_A_WORD;
	if (view->words <= word)
		view->words = word + 1;
	return HAL_OK;
}

/* A line that no device raises, and that is edge-triggered, is as good as any. */
enum hal_status hal_partition_grant_doorbell(struct hal_partition *to, const struct bh_line *line, struct bh_channel_end *told)
{
	return hal_partition_grant_line(to, line->line, line->core, line->vector, line->flags);
}

uint64_t gic_idle_trap(const struct hal_partition *partition)
{
	return partition->kickable && !partition->trusted_idle ? HCR_TWI : 0;
}

enum hal_status gic_map_device(struct hal_space *space, uint64_t base, uint64_t bytes)
{
	return hal_space_map_same(space, base, bytes, HAL_MEMORY_DEVICE);
}
