/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GICv3 and later, system-register interface, one security state or the non-secure side: Arm Generic Interrupt Controller
 * Architecture Specification, version 3 and 4, IHI 0069. EOImode 0, group 1 only.
 */
#include "kernel/drivers/gicv3.h"

#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/drivers/gic_dist.h"
#include "kernel/core/fault.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"

/* Distributor: chapter 12, "The GIC Distributor register map" */
enum { GICD_CTLR = 0x0000, GICD_IROUTER = 0x6000 };
enum { GICD_CTLR_ENABLE_GRP1 = 1 << 1, GICD_CTLR_ARE = 1 << 4 };
/* Redistributor: chapter 12, "The GIC Redistributor register map" */
enum { GICR_TYPER = 0x0008, GICR_WAKER = 0x0014, SGI_FRAME = 0x10000, GICR_BYTES = 0x20000 };
enum { GICR_TYPER_VLPIS = 1 << 1, GICR_TYPER_LAST = 1 << 4 };
enum { GICR_WAKER_PROCESSOR_SLEEP = 1 << 1, GICR_WAKER_CHILDREN_ASLEEP = 1 << 2 };
enum { INTID_SPECIAL = 1020, PRIORITY_LOWEST_ALLOWED = 0xf0, WAKE_POLLS = 1000000 };

static uint64_t distributor;
static uint64_t redistributors[BH_MAX_SANDBOX_CORES]; /* by slot; each core finds its own */

/* Aff3.Aff2.Aff1.Aff0 as one word, as GICR_TYPER[63:32] has it. */
static uint32_t own_affinity(void)
{
	uint64_t mpidr = SYSREG_READ(mpidr_el1);

	return (uint32_t)((mpidr >> 32 & 0xff) << 24 | (mpidr & 0xffffff));
}

/* The one of this core, in a grant that may hold one frame or many; 0: elsewhere. */
static uint64_t look_for_redistributor(const struct bh_grant *grant)
{
	uint64_t end = grant->gpa + grant->size;
	uint64_t frame = grant->gpa;

	while (frame < end) {
		uint64_t typer = arch_mmio_read64(frame + GICR_TYPER);

		if (typer >> 32 == own_affinity())
			return frame;
		if (typer & GICR_TYPER_LAST)
			break;
		frame += typer & GICR_TYPER_VLPIS ? 2 * GICR_BYTES : GICR_BYTES;
	}
	return 0;
}

static uint64_t find_redistributor(void)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		const struct bh_grant *grant = &info->grants[n];
		bool holds = grant->kind == BH_GRANT_IRQCHIP && text_equal((const char *)grant->name, "gicv3-redist");
		uint64_t frame = holds ? look_for_redistributor(grant) : 0;

		if (frame)
			return frame;
	}
	fault_stop("no redistributor of this core was granted");
}

static void wake(uint64_t redistributor)
{
	uint64_t waker = redistributor + GICR_WAKER;

	arch_mmio_write32(waker, arch_mmio_read32(waker) & ~(uint32_t)GICR_WAKER_PROCESSOR_SLEEP);
	for (unsigned n = 0; n < WAKE_POLLS && arch_mmio_read32(waker) & GICR_WAKER_CHILDREN_ASLEEP; n++)
		arch_relax();
}

static void cpu_interface_init(void)
{
	SYSREG_WRITE(icc_sre_el1, SYSREG_READ(icc_sre_el1) | 1);
	arch_isb();
	SYSREG_WRITE(icc_pmr_el1, PRIORITY_LOWEST_ALLOWED);
	SYSREG_WRITE(icc_igrpen1_el1, 1);
	arch_isb();
}

static void gicv3_init_core(void)
{
	uint64_t redistributor = find_redistributor();

	redistributors[cpu_slot()] = redistributor;
	wake(redistributor);
	gic_dist_set_group1_local(redistributor + SGI_FRAME);
	gic_dist_reset_local(redistributor + SGI_FRAME);
	cpu_interface_init();
}

static void gicv3_init(void)
{
	distributor = info_find(BH_GRANT_IRQCHIP, "gicv3-dist")->gpa;
	arch_mmio_write32(distributor + GICD_CTLR, GICD_CTLR_ARE);
	arch_mmio_write32(distributor + GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_ENABLE_GRP1);
	gicv3_init_core();
}

static void gicv3_enable_local(uint32_t number)
{
	gic_dist_enable(redistributors[cpu_slot()] + SGI_FRAME, number);
}

static uint32_t gicv3_enable_device(const struct bh_grant *grant)
{
	uint64_t affinity = SYSREG_READ(mpidr_el1) & 0xff00ffffffULL;

	gic_dist_set_group1(distributor, grant->line);
	gic_dist_configure(distributor, grant->line, !(grant->flags & 1));
	arch_mmio_write64(distributor + GICD_IROUTER + 8ULL * grant->line, affinity);
	gic_dist_enable(distributor, grant->line);
	return grant->line;
}

/* "ICC_SGI1R_EL1": the group of sixteen cores by affinity and range, the core in it by a bit. */
static void gicv3_send_ipi(unsigned slot)
{
	uint64_t id = info->hardware_id[slot], aff0 = id & 0xff, aff1 = id >> 8 & 0xff, aff2 = id >> 16 & 0xff, aff3 = id >> 32 & 0xff;

	__asm__ volatile("dsb ishst" ::: "memory"); /* what it is about is seen before it comes */
	SYSREG_WRITE(icc_sgi1r_el1, aff3 << 48 | aff0 >> 4 << 44 | aff2 << 32 | (uint64_t)GIC_IPI << 24 | aff1 << 16 | 1U << (aff0 & 15));
	arch_isb();
}

static uint32_t gicv3_mask(uint32_t priority)
{
	SYSREG_WRITE(icc_pmr_el1, priority);
	arch_isb();
	return (uint32_t)SYSREG_READ(icc_pmr_el1);
}

static uint32_t gicv3_running(void)
{
	return (uint32_t)SYSREG_READ(icc_rpr_el1);
}

static void gicv3_serve(struct cpu_frame *frame, uint32_t vector)
{
	uint64_t intid = SYSREG_READ(icc_iar1_el1);

	if (intid >= INTID_SPECIAL) {
		idle_end_sleep(); /* by whatever */
		return;
	}
	irq_dispatch(frame, (uint32_t)intid);
	SYSREG_WRITE(icc_eoir1_el1, intid);
}

const struct irq_controller gicv3 = {
	.grant = "gicv3-redist",
	.ipi = GIC_IPI,
	.notice = BH_NOTICE_SGI,
	.init = gicv3_init,
	.init_core = gicv3_init_core,
	.enable_local = gicv3_enable_local,
	.enable_device = gicv3_enable_device,
	.send_ipi = gicv3_send_ipi,
	.mask = gicv3_mask,
	.running = gicv3_running,
	.serve = gicv3_serve,
};
