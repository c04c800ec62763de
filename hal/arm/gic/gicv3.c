/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.ipi, BH-I3.forms. GICv3 below a guest that owns the group 1 part of the CPU interface. FIQ goes to the monitor (HCR.FMO), so group
 * 0 is the monitors' alone, and the registers that send SGIs trap. Distributor and redistributors are reached through the filter.
 */
#include "gicv3.h"

#include "gic_filter.h"
#include "hal/arm/aarch64/registers.h"
#include "hal/arm/stage2.h"

/* One of the own cores by number; anything else, "any core" too, leaves the route as it is. */
void gic_write_targets(const struct gic_access *access, uint64_t value)
{
	const struct hal_partition *partition = access->core->partition;

	for (uint32_t slot = 0; slot < partition->core_count; slot++)
		if (access->granted && partition->hardware_id[slot] == value)
			arch_mmio_write64(access->address, value);
}

/* ITLinesNumber as granted: a guest does not initialize lines it does not see. */
static uint64_t read_distributor_type(const struct gic_access *access)
{
	return (arch_mmio_read32(access->address) & GICD_TYPER_KEPT) | GICD_TYPER_NO1N | (access->frame->words - 1);
}

/* Processor number and affinity are the machine's; who walks from frame to frame ends at the last of the sandbox's own. */
HAL_OUTLINE static uint64_t read_redistributor_type(const struct gic_access *access)
{
	uint64_t type = arch_mmio_read64(access->frame->base + GICR_TYPER);

	type &= ~UINT64_C(0) << GICR_TYPER_AFFINITY_SHIFT | GICR_TYPER_NUMBER;
	if (access->frame->foreign)
		type = GICR_TYPER_NOBODY;
	else if (access->frame->base == access->core->partition->gic.last_redistributor)
		type |= GICR_TYPER_LAST;
	return access->address & 4 ? type >> 32 : type;
}

uint64_t gic_read_type(const struct gic_access *access)
{
	return access->frame->words ? read_distributor_type(access) : read_redistributor_type(access);
}

/* From FIRST_BANKED on, also the layout of a redistributor's SGI frame, whose lines are the first 32. */
enum { FIRST_BANKED = 5 };
static const struct gic_register distributor[] = {
	{ GICD_CTLR, GICD_CTLR + 3, 0, 4, GIC_CONTROL },
	{ GICD_TYPER, GICD_TYPER + 3, 0, 4, GIC_TYPE },
	{ GICD_IIDR, GICD_IIDR + 3, 0, 4, GIC_PLAIN },
	{ GICD_IROUTER, GICD_IROUTER_END, 64, 8, GIC_TARGETS },
	{ GICD_PIDR, GICD_BYTES - 1, 0, 4, GIC_PLAIN },
	{ GICD_IGROUPR, GICD_ISENABLER - 1, 1, 4, GIC_FIXED },
	{ GICD_ISENABLER, GICD_ICENABLER - 1, 1, 4, GIC_BITS },
	{ GICD_ICENABLER, GICD_ISPENDR - 1, 1, 4, GIC_BITS },
	{ GICD_ISPENDR, GICD_ICPENDR - 1, 1, 4, GIC_BITS },
	{ GICD_ICPENDR, GICD_ISACTIVER - 1, 1, 4, GIC_BITS },
	{ GICD_ISACTIVER, GICD_ICACTIVER - 1, 1, 4, GIC_BITS },
	{ GICD_ICACTIVER, GICD_IPRIORITYR - 1, 1, 4, GIC_BITS },
	{ GICD_IPRIORITYR, GICD_ITARGETSR - 1, 8, 1 | 4, GIC_PRIORITIES },
	{ GICD_ICFGR, GICD_ICFGR_END, 2, 4, GIC_FIXED },
	{ 0 },
};

/* GICR_CTLR and the LPI registers, which make the machine write memory, are absent: read as zero, writes ignored. */
static const struct gic_register redistributor[] = {
	{ GICR_IIDR, GICR_IIDR + 3, 0, 4, GIC_PLAIN },
	{ GICR_TYPER, GICR_TYPER + 7, 0, 4 | 8, GIC_TYPE },
	{ GICR_WAKER, GICR_WAKER + 3, 0, 4, GIC_PLAIN },
	{ GICR_PIDR, GICR_SGI_FRAME - 1, 0, 4, GIC_PLAIN },
	{ 0 },
};

static const uint32_t banked_lines[] = { GIC_GUEST_BANKED };

static bool is_distributor(uint64_t gpa)
{
	return gpa - gic_at.distributor < GICD_BYTES;
}

/*
 * The frame of an address that gic_classify says is one. Those of foreign cores, and of virtual LPIs, show that there is a redistributor,
 * by what identifies an own one, and that it is nobody's: a kernel that walks over them to its own goes on.
 */
static struct gic_frame frame_of(const struct hal_partition *partition, uint64_t gpa)
{
	const struct gic_view *view = &partition->gic;
	struct gic_frame frame = { redistributor, view->redistributors[0], NULL, 0, true };

	if (is_distributor(gpa))
		return (struct gic_frame){ distributor, gic_at.distributor, view->lines, view->words, false };
	for (uint32_t slot = 0; slot < partition->core_count; slot++) {
		uint64_t offset = gpa - view->redistributors[slot];

		if (offset >= GICR_BYTES)
			continue;
		frame.base = gpa - offset;
		frame.foreign = false;
		if (offset >= GICR_SGI_FRAME)
			frame = (struct gic_frame){ distributor + FIRST_BANKED, frame.base + GICR_SGI_FRAME, banked_lines, 1, false };
	}
	return frame;
}

enum bh_exit_reason gic_classify(const struct hal_core *core, uint64_t gpa, bool write)
{
	bool redistributors = gpa - gic_at.redistributors < core->partition->gic.redistributor_bytes;

	return redistributors || is_distributor(gpa) ? BH_EXIT_DEVICE : BH_EXIT_MEMORY;
}

enum hal_action gic_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	const struct gic_frame frame = frame_of(core->partition, exit->gpa);

	return gic_filter(core, &frame, exit->gpa % GICR_SGI_FRAME, exit);
}

/* Target list bits of `value` that `to`, an SGI for one core, would set as well. */
static uint64_t listed(uint64_t value, uint64_t to)
{
	return (value ^ to) & ~UINT64_C(0xffff) ? 0 : value & to & 0xffff;
}

/*
 * Each own core the guest named gets its SGI by itself. Naming a core that is not its own, the kick's SGI or group 0 is
 * nothing a kernel does by mistake: a fault. "All but self" means all of the sandbox.
 */
enum hal_action gic_emulate_ipi(struct hal_core *core, const struct hal_exit *exit)
{
	const struct hal_partition *partition = core->partition;
	uint64_t intid = exit->value >> ICC_SGIR_INTID_SHIFT & 15, left = exit->value & 0xffff;

	if (exit->access != BH_ACCESS_WRITE)
		return HAL_REFUSE;
	if (exit->gpa != SYSREG_ICC_SGI1R || intid == GIC_KICK_SGI)
		return HAL_FAULT;
	if (partition->unprotected & BH_PROTECT_IPI) {
		SYSREG_WRITE(ICC_SGI1R_EL1, exit->value);
		return HAL_SKIP;
	}
	for (uint32_t slot = 0; slot < partition->core_count; slot++) {
		uint64_t to = icc_sgi_to(partition->hardware_id[slot], intid);
		bool others = exit->value & ICC_SGIR_IRM && slot != core->slot;
		uint64_t bit = listed(exit->value, to);

		left &= ~bit;
		if (others || bit)
			SYSREG_WRITE(ICC_SGI1R_EL1, to);
	}
	arch_isb();
	return left && !(exit->value & ICC_SGIR_IRM) ? HAL_FAULT : HAL_SKIP;
}

/*
 * The guest reads what it wrote, as far as the machine has those bits. The real mask lets nothing of the guest's pass that the guest
 * masks, and always the kick, whose priority is 0.
 */
static void write_mask(struct hal_core *core, uint64_t value)
{
	SYSREG_WRITE(ICC_PMR_EL1, value & 0xff);
	core->priority_mask = SYSREG_READ(ICC_PMR_EL1);
	if (core->priority_mask < GIC_GUEST_PRIORITY)
		SYSREG_WRITE(ICC_PMR_EL1, GIC_GUEST_PRIORITY);
}

/*
 * What both groups have in common: below HCR_EL2.FMO a guest would reach virtual registers, in which its interrupts are not. Of
 * ICC_CTLR_EL1 nothing is a guest's: CBPR would make group 1 follow group 0, and EOImode is one for both groups, so for the kick's end,
 * too. With EOImode clear ICC_DIR_EL1 has no use, and is refused.
 */
enum hal_action gic_emulate_register(struct hal_core *core, const struct hal_exit *exit)
{
	bool write = exit->access == BH_ACCESS_WRITE;
	uint64_t value = core->priority_mask;

	switch (exit->gpa) {
	case SYSREG_ICC_PMR:
		if (write)
			write_mask(core, exit->value);
		break;
	case SYSREG_ICC_RPR:
		value = SYSREG_READ(ICC_RPR_EL1);
		break;
	case SYSREG_ICC_CTLR:
		value = SYSREG_READ(ICC_CTLR_EL1);
		break;
	case SYSREG_ICC_SRE:
		value = ICC_SRE_ON;
		break;
	default:
		return HAL_REFUSE;
	}
	if (!write)
		guest_write(core, exit->target, value);
	return HAL_SKIP;
}

/* All bits of the value but the list's and the interrupt's have to be as the own cores' group of sixteen has them. */
bool gic_send_at_once(struct hal_core *core, uint64_t syndrome)
{
	const struct gic_view *view = &core->partition->gic;
	uint64_t intid = UINT64_C(15) << ICC_SGIR_INTID_SHIFT, value;

	if ((syndrome & (SYSREG_NUMBER | SYSREG_IS_READ)) != SYSREG_ICC_SGI1R)
		return false;
	value = guest_read(core, syndrome >> 5 & 31);
	if (!view->sgi_list || (value ^ view->sgi_group) & ~(view->sgi_list | intid) || !(~value & intid))
		return false;
	SYSREG_WRITE(ICC_SGI1R_EL1, value);
	arch_isb();
	core->exits[BH_EXIT_IPI]++;
	return true;
}

bool gic_access_at_once(struct hal_core *core, const struct hal_exit *exit)
{
	return gic_bits_at_once(core, exit);
}

/* In group 0: an FIQ at the other core, whatever its guest masks. */
void gic_signal(uint64_t hardware_id)
{
	SYSREG_WRITE(ICC_SGI0R_EL1, icc_sgi_to(hardware_id, GIC_KICK_SGI));
	arch_isb();
}

/* In group 1, where guests have theirs. */
void gic_notice(uint64_t hardware_id)
{
	SYSREG_WRITE(ICC_SGI1R_EL1, icc_sgi_to(hardware_id, BH_NOTICE_SGI));
	arch_isb();
}

/* A signal that arrives later than this ends in an exit with nothing to do. */
void gic_clear_signal(void)
{
	uint64_t intid = SYSREG_READ(ICC_IAR0_EL1) & 0xffffff;

	if (intid < ICC_INTID_SPECIAL)
		SYSREG_WRITE(ICC_EOIR0_EL1, intid);
	arch_isb();
}

/* While an interrupt is active, or its guest pretends so (ICC_AP1R<n>), the kick's might not outrank it: no sleep. */
void gic_wait(struct hal_core *core)
{
	if (SYSREG_READ(ICC_RPR_EL1) != ICC_RPR_IDLE)
		return;
	arch_wfi();
	gic_clear_signal();
}

/* Group 1 off at this core, and nothing left active that could outrank the kick. */
void gic_quiesce(void)
{
	SYSREG_WRITE(ICC_IGRPEN1_EL1, 0);
	ICC_CLEAR_ACTIVE(1);
	arch_isb();
}

void gic_route(uint32_t line, uint64_t hardware_id)
{
	arch_mmio_write64(gic_at.distributor + GICD_IROUTER + UINT64_C(8) * line, hardware_id);
}

/* GICD_CTLR.RWP, GICR_CTLR.RWP: until it clears, a line that was just disabled may still come. */
void gic_settle(uint64_t frame)
{
	bool shared = frame == gic_at.distributor;
	uint64_t control = shared ? frame + GICD_CTLR : frame - GICR_SGI_FRAME + GICR_CTLR;
	uint32_t pending = shared ? GICD_CTLR_RWP : GICR_CTLR_RWP;

	for (unsigned tries = RWP_TRIES; arch_mmio_read32(control) & pending && tries; tries--)
		arch_relax();
}

/* ICH_VMCR_EL2 and ICH_AP0R<n>_EL2 have what the guest wrote to group 0, which HCR.FMO made virtual. */
void gic_reset_core(struct hal_core *core)
{
	gic_quiesce();
	SYSREG_WRITE(ICC_CTLR_EL1, 0);
	write_mask(core, 0);
	SYSREG_WRITE(ICC_BPR1_EL1, 0);
	SYSREG_WRITE(ICH_VMCR_EL2, 0);
	ICH_CLEAR_ACTIVE(0);
	gic_reset_word(core->partition->gic.redistributors[core->slot] + GICR_SGI_FRAME, 0, GIC_GUEST_BANKED);
	arch_isb();
}
