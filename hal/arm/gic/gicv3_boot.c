/* SPDX-License-Identifier: Apache-2.0 */
/* GICv3 while the machine starts: everything silent, then what the configuration grants. */
#include "gicv3.h"

#include "board.h"
#include "gic_boot.h"
#include "gic_filter.h"
#include "hal/arm/stage2.h"

/* ICH_HCR_EL2.TC: accesses of EL1 to registers that both groups have in common trap. En clear: no virtual interrupt exists. */
enum { ICH_HCR_TC = 1 << 10 };

void gic_locate(void)
{
	gic_at.distributor = board.gic.distributor;
	gic_at.redistributors = board.gic.redistributors;
}

/* ID_AA64PFR0_EL1.GIC, 27:24. */
const char *gic_missing(void)
{
	gic_locate();
	if (!(SYSREG_READ(ID_AA64PFR0_EL1) >> 24 & 15))
		return "the machine's interrupt controller is no GICv3; start it with one (QEMU: -M virt,gic-version=3) or build for its "
		       "board";
	if (!(gicd_read(GICD_CTLR) & GICD_CTLR_DS))
		return "the GICv3 keeps group 0 for a secure world, so it cannot carry kicks; use a board whose GIC has one security state";
	return NULL;
}

/* All lines in group 1, the guests'. ARM IHI 0069 4.6.1 "Setting up the distributor": ARE before the groups. */
void hal_machine_init(void)
{
	gicd_write(GICD_CTLR, gicd_read(GICD_CTLR) & GICD_CTLR_ARE);
	gic_settle(gic_at.distributor);
	gicd_write(GICD_CTLR, GICD_CTLR_ARE);
	gic_settle(gic_at.distributor);
	gic_silence_lines(UINT32_MAX);
	gic_settle(gic_at.distributor);
	gicd_write(GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_ENABLE_GRP1 | GICD_CTLR_ENABLE_GRP0);
	gic_settle(gic_at.distributor);
}

/* MPIDR's affinity fields as GICR_TYPER has them: Aff3 beside the others. */
static uint64_t affinity_of(uint64_t hardware_id)
{
	return (hardware_id >> 32 & 0xff) << 24 | (hardware_id & 0xffffff);
}

/* The redistributor of a core; 0: the machine has no such core, as hal_core_start will say. */
static uint64_t find_redistributor(uint64_t hardware_id)
{
	uint64_t base = gic_at.redistributors;

	for (int n = 0; n < MAX_FRAMES; n++) {
		uint64_t type = arch_mmio_read64(base + GICR_TYPER);

		if (type >> GICR_TYPER_AFFINITY_SHIFT == affinity_of(hardware_id))
			return base;
		if (type & GICR_TYPER_LAST)
			break;
		base += gicr_frames_bytes(type);
	}
	return 0;
}

static uint64_t redistributor_bytes(void)
{
	uint64_t type = 0, bytes = 0;

	for (int n = 0; n < MAX_FRAMES && !(type & GICR_TYPER_LAST); n++) {
		type = arch_mmio_read64(gic_at.redistributors + bytes + GICR_TYPER);
		bytes += gicr_frames_bytes(type);
	}
	return bytes;
}

/* For gic_send_at_once. */
static void note_sgis(struct hal_partition *partition)
{
	struct gic_view *view = &partition->gic;
	bool several = false;

	view->sgi_group = icc_sgi_to(partition->hardware_id[0], 0) & ~UINT64_C(0xffff);
	for (uint32_t slot = 0; slot < partition->core_count; slot++) {
		uint64_t to = icc_sgi_to(partition->hardware_id[slot], 0);

		several |= (to & ~UINT64_C(0xffff)) != view->sgi_group;
		view->sgi_list |= to & 0xffff;
	}
	if (several)
		view->sgi_list = 0;
}

void gic_create_view(struct hal_partition *partition)
{
	struct gic_view *view = &partition->gic;

	note_sgis(partition);
	view->words = 1;
	view->control_fixed = GICD_CTLR_ARE | GICD_CTLR_DS;
	view->redistributor_bytes = redistributor_bytes();
	for (uint32_t slot = 0; slot < partition->core_count; slot++) {
		view->redistributors[slot] = find_redistributor(partition->hardware_id[slot]);
		if (view->last_redistributor < view->redistributors[slot])
			view->last_redistributor = view->redistributors[slot];
	}
}

/* For the filter. The guest's group 1 needs nothing mapped, and a kick is a system register. */
enum hal_status gic_map(struct hal_space *space, const struct hal_partition *partition)
{
	enum hal_status status = gic_map_device(space, gic_at.distributor, GICD_BYTES);

	for (uint32_t slot = 0; slot < partition->core_count && status == HAL_OK && partition->gic.redistributors[slot]; slot++)
		status = gic_map_device(space, partition->gic.redistributors[slot], GICR_BYTES);
	return status;
}

uint64_t gic_traps(const struct hal_partition *partition)
{
	return HCR_FMO | gic_idle_trap(partition);
}

static void wake(uint64_t redistributor)
{
	uint64_t waker = redistributor + GICR_WAKER;

	arch_mmio_write32(waker, arch_mmio_read32(waker) & ~(uint32_t)GICR_WAKER_SLEEP);
	for (int tries = 0; tries < RWP_TRIES && arch_mmio_read32(waker) & GICR_WAKER_ASLEEP; tries++)
		arch_relax();
}

void gic_start_core(const struct hal_core *core)
{
	uint64_t redistributor = core->partition->gic.redistributors[core->slot];

	wake(redistributor);
	arch_mmio_write32(redistributor + GICR_SGI_FRAME + GICD_ICENABLER, UINT32_MAX);
	gic_settle(redistributor + GICR_SGI_FRAME);
	gic_start_banked(redistributor + GICR_SGI_FRAME, GIC_GUEST_BANKED);
	SYSREG_WRITE(ICC_SRE_EL2, ICC_SRE_ON); /* Enable clear: the guest's ICC_SRE_EL1 traps and stays on */
	arch_isb();
	SYSREG_WRITE(ICC_SRE_EL1, ICC_SRE_ON);
	arch_isb();
	SYSREG_WRITE(ICC_PMR_EL1, GIC_GUEST_PRIORITY);
	SYSREG_WRITE(ICC_BPR0_EL1, 0);
	SYSREG_WRITE(ICC_CTLR_EL1, 0);
	SYSREG_WRITE(ICC_IGRPEN1_EL1, 0);
	ICC_CLEAR_ACTIVE(0);
	ICC_CLEAR_ACTIVE(1);
	arch_isb();
	SYSREG_WRITE(ICC_IGRPEN0_EL1, 1);
	SYSREG_WRITE(ICH_HCR_EL2, ICH_HCR_TC);
	SYSREG_WRITE(ICH_VMCR_EL2, 0);
	ICH_CLEAR_ACTIVE(0);
	arch_isb();
}
