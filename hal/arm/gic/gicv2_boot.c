/* SPDX-License-Identifier: Apache-2.0 */
/* GICv2 while the machine starts. Every line stays in group 0, where a stock driver wants it. */
#include "gicv2.h"

#include "board.h"
#include "gic_boot.h"
#include "hal/arm/stage2.h"

#define MISNUMBERED "the GICv2 does not number its CPU interfaces by the cores' lowest affinity field; use a board whose GIC does"

enum { PIDR2_REVISION_SHIFT = 4, PIDR2_GICV2 = 2, EVERY_INTERFACE = 0xff };

/* GICD_ITARGETSR0 reads as this core's own interface; as zero where there is but one: ARM IHI 0048B 4.3.12. */
static bool is_numbered(uint64_t hardware_id)
{
	bool alone = !(gicd_read(GICD_TYPER) >> GICD_TYPER_CPU_SHIFT & GICD_TYPER_CPUS);

	return alone || (gicd_read(GICD_ITARGETSR) & 0xff) == gicv2_interface(hardware_id);
}

void gic_locate(void)
{
	gic_at.distributor = board.gic.distributor;
	gic_at.interface = board.gic.interface;
}

const char *gic_missing(void)
{
	gic_locate();
	if (arch_has_gic_registers() || (gicd_read(GICD_PIDR2) >> PIDR2_REVISION_SHIFT & 15) != PIDR2_GICV2)
		return "the machine's interrupt controller is no GICv2; start it with one (QEMU: -M virt,gic-version=2) or build for its "
		       "board";
	if (!is_numbered(arch_core_id()))
		return MISNUMBERED;
	return NULL;
}

/* It has no tables. */
const char *gic_disarm(void)
{
	return NULL;
}

void hal_machine_init(void)
{
	gicd_write(GICD_CTLR, 0);
	gic_silence_lines(0);
	gicd_write(GICD_CTLR, GICD_CTLR_ENABLE);
}

void gic_create_view(struct hal_partition *partition)
{
	struct gic_view *view = &partition->gic;

	view->lines[0] = GIC_GUEST_BANKED;
	view->words = 1;
	for (uint32_t slot = 0; slot < partition->core_count; slot++)
		view->interfaces |= gicv2_interface(partition->hardware_id[slot]);
	view->reachable = partition->unprotected & BH_PROTECT_IPI ? EVERY_INTERFACE : view->interfaces;
}

/* The distributor for the filter, the CPU interface for sleeping. */
enum hal_status gic_map(struct hal_space *space, const struct hal_partition *partition)
{
	enum hal_status status = gic_map_device(space, gic_at.distributor, GICD_BYTES);

	return status == HAL_OK ? gic_map_device(space, gic_at.interface, board.banked.bytes) : status;
}

uint64_t gic_traps(const struct hal_partition *partition)
{
	return gic_idle_trap(partition);
}

/* The boot core has been asked by gic_missing. On any other it is late for a refusal, but not too late to stop everything. */
static void check_numbered(const struct hal_core *core)
{
	if (is_numbered(core->partition->hardware_id[core->slot]))
		return;
	for (const char *c = "bulkhead: cannot start: " MISNUMBERED "\r\n"; *c; c++)
		arch_boot_putc(*c);
	arch_machine_off(1);
}

/* The CPU interface is left as after reset: off, for the guest to set up. */
void gic_start_core(const struct hal_core *core)
{
	check_numbered(core);
	gic_start_banked(gic_at.distributor, 0);
	gicc_write(GICC_CTLR, 0);
	gicc_clear_active();
	gicc_write(GICC_PMR, 0);
	arch_barrier();
}
