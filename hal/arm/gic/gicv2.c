/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GICv2 below a guest that owns the CPU interface (mapped, banked per core) and reaches the distributor through the filter.
 * No line is ever moved to group 1: a stock driver leaves all in group 0 and takes them as IRQs.
 */
#include "gicv2.h"

#include "gic_filter.h"
#include "hal/arm/stage2.h"

/* ITLinesNumber and CPUNumber as granted: a guest does not initialize lines it does not see. */
uint64_t gic_read_type(const struct gic_access *access)
{
	const struct hal_partition *partition = access->core->partition;

	return (partition->gic.words - 1) | (partition->core_count - 1) << GICD_TYPER_CPU_SHIFT;
}

/* Of a line's targets, those of the sandbox. A byte that names none leaves the line where it is: a kernel may mean "core 0". */
void gic_write_targets(const struct gic_access *access, uint64_t value)
{
	value &= access->core->partition->gic.interfaces * UINT64_C(0x01010101);
	gic_write_bytes(access, access->granted & value, value);
}

static const struct gic_register distributor[] = {
	{ GICD_CTLR, GICD_CTLR + 3, 0, 4, GIC_CONTROL },
	{ GICD_TYPER, GICD_TYPER + 3, 0, 4, GIC_TYPE },
	{ GICD_IIDR, GICD_IIDR + 3, 0, 4, GIC_PLAIN },
	{ GICD_IGROUPR, GICD_ISENABLER - 1, 1, 4, GIC_FIXED },
	{ GICD_ISENABLER, GICD_ICENABLER - 1, 1, 4, GIC_BITS },
	{ GICD_ICENABLER, GICD_ISPENDR - 1, 1, 4, GIC_BITS },
	{ GICD_ISPENDR, GICD_ICPENDR - 1, 1, 4, GIC_BITS },
	{ GICD_ICPENDR, GICD_ISACTIVER - 1, 1, 4, GIC_BITS },
	{ GICD_ISACTIVER, GICD_ICACTIVER - 1, 1, 4, GIC_BITS },
	{ GICD_ICACTIVER, GICD_IPRIORITYR - 1, 1, 4, GIC_BITS },
	{ GICD_IPRIORITYR, GICD_ITARGETSR - 1, 8, 1 | 4, GIC_PRIORITIES },
	{ GICD_ITARGETSR, GICD_ICFGR - 1, 8, 1 | 4, GIC_TARGETS },
	{ GICD_ICFGR, GICD_ICFGR_END, 2, 4, GIC_FIXED },
	{ GICD_CPENDSGIR, GICD_CPENDSGIR + 0xf, 8, 1 | 4, GIC_SENDERS },
	{ GICD_SPENDSGIR, GICD_SPENDSGIR + 0xf, 8, 1 | 4, GIC_SENDERS },
	{ GICD_PIDR, GICD_BYTES - 1, 0, 4, GIC_PLAIN },
	{ 0 },
};

enum bh_exit_reason gic_classify(const struct hal_core *core, uint64_t gpa, bool write)
{
	uint64_t offset = gpa - gic_at.distributor;

	if (offset >= GICD_BYTES)
		return BH_EXIT_MEMORY;
	return offset == GICD_SGIR && write ? BH_EXIT_IPI : BH_EXIT_DEVICE;
}

enum hal_action gic_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	const struct gic_view *view = &core->partition->gic;
	const struct gic_frame frame = { distributor, gic_at.distributor, view->lines, view->words, false };

	return gic_filter(core, &frame, (uint32_t)(exit->gpa - gic_at.distributor), exit);
}

/* GICD_SGIR. 0 where the register's target filter is reserved. */
static uint32_t targets_of(const struct hal_core *core, uint64_t value)
{
	uint32_t self = gicv2_interface(core->partition->hardware_id[core->slot]);

	switch (value >> SGIR_FILTER_SHIFT & 3) {
	case SGIR_LIST:
		return value >> SGIR_TARGET_SHIFT & 0xff;
	case SGIR_OTHERS:
		return core->partition->gic.interfaces & ~self;
	case SGIR_SELF:
		return self;
	default:
		return 0;
	}
}

enum hal_action gic_emulate_ipi(struct hal_core *core, const struct hal_exit *exit)
{
	uint32_t targets = targets_of(core, exit->value);
	uint32_t intid = exit->value & SGIR_INTID;

	if (intid == GIC_KICK_SGI || exit->width != 4 || targets & ~core->partition->gic.reachable)
		return HAL_FAULT;
	gicd_write(GICD_SGIR, targets << SGIR_TARGET_SHIFT | intid);
	return HAL_SKIP;
}

/* SGIs are sent by the distributor. */
bool gic_send_at_once(struct hal_core *core, uint64_t syndrome)
{
	return false;
}

bool gic_access_at_once(struct hal_core *core, const struct hal_exit *exit)
{
	if (exit->gpa != gic_at.distributor + GICD_SGIR || exit->access != BH_ACCESS_WRITE)
		return gic_bits_at_once(core, exit);
	if (gic_emulate_ipi(core, exit) != HAL_SKIP)
		return false;
	core->exits[BH_EXIT_IPI]++;
	return true;
}

/* The CPU interface is memory. */
enum hal_action gic_emulate_register(struct hal_core *core, const struct hal_exit *exit)
{
	return HAL_REFUSE;
}

/*
 * Sleeps with the CPU interface open, whatever the guest made of it, so that any interrupt and every kick ends the sleep; of a
 * core that is off, only a kick: what its guest left pending is for nobody. The guest's settings come back before it runs. While an
 * interrupt is active, the kick's might not outrank it: no sleep.
 */
void gic_wait(struct hal_core *core)
{
	uint32_t control = gicc_read(GICC_CTLR);
	uint32_t mask = gicc_read(GICC_PMR);

	if (gicc_read(GICC_RPR) != GICC_RPR_IDLE)
		return;
	gicc_write(GICC_PMR, core->power == POWER_ON ? GICC_PMR_OPEN : GIC_GUEST_PRIORITY);
	gicc_write(GICC_CTLR, GICC_CTLR_ENABLE);
	arch_wfi();
	gicc_write(GICC_CTLR, control);
	gicc_write(GICC_PMR, mask);
	gic_clear_signal();
}

/* The read comes back after the write has taken effect: the SGI is pending by then. */
void gic_signal(uint64_t hardware_id)
{
	gicd_write(GICD_SGIR, gicv2_interface(hardware_id) << SGIR_TARGET_SHIFT | GIC_KICK_SGI);
	gicd_read(GICD_CTLR);
	arch_barrier();
}

void gic_notice(uint64_t hardware_id)
{
	gicd_write(GICD_SGIR, gicv2_interface(hardware_id) << SGIR_TARGET_SHIFT | BH_NOTICE_SGI);
}

void gic_clear_signal(void)
{
	arch_mmio_write8(gic_at.distributor + GICD_CPENDSGIR + GIC_KICK_SGI, 0xff);
	arch_barrier();
}

/* The CPU interface is left as after reset; gic_wait lets nothing but the kick through it. */
void gic_quiesce(void)
{
	gicc_write(GICC_CTLR, 0);
	gicc_write(GICC_PMR, 0);
	gicc_clear_active();
	arch_barrier();
}

void gic_route(uint32_t line, uint64_t hardware_id)
{
	arch_mmio_write8(gic_at.distributor + GICD_ITARGETSR + line, (uint8_t)gicv2_interface(hardware_id));
}

/* A GICv2 does not tell when a write has taken effect: a read of GICD_CTLR comes back after it. */
void gic_settle(uint64_t frame)
{
	gicd_read(GICD_CTLR);
}

/* SGIs are pending for each sender, a byte each; ICPENDR does not touch them. */
void gic_reset_core(struct hal_core *core)
{
	gic_quiesce();
	gicc_write(GICC_BPR, 0);
	gicc_write(GICC_ABPR, 0);
	gic_reset_word(gic_at.distributor, 0, GIC_GUEST_BANKED);
	for (uint32_t sgi = 0; sgi < GIC_KICK_SGI; sgi++)
		arch_mmio_write8(gic_at.distributor + GICD_CPENDSGIR + sgi, 0xff);
	arch_barrier();
}
