/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GICv3 and later, system-register interface, one security state or the non-secure side: Arm Generic Interrupt Controller
 * Architecture Specification, version 3 and 4, IHI 0069. EOImode 0, no priority masking, group 1 only.
 */
#include "gicv3.h"

#include "gic_dist.h"
#include "kernel/cpu.h"
#include "kernel/fault.h"
#include "kernel/info.h"

/* Distributor: chapter 12, "The GIC Distributor register map" */
enum { GICD_CTLR = 0x0000, GICD_IROUTER = 0x6000 };
enum { GICD_CTLR_ENABLE_GRP1 = 1 << 1, GICD_CTLR_ARE = 1 << 4 };
/* Redistributor: chapter 12, "The GIC Redistributor register map" */
enum { GICR_TYPER = 0x0008, GICR_WAKER = 0x0014, SGI_FRAME = 0x10000, GICR_BYTES = 0x20000 };
enum { GICR_TYPER_VLPIS = 1 << 1, GICR_TYPER_LAST = 1 << 4 };
enum { GICR_WAKER_PROCESSOR_SLEEP = 1 << 1, GICR_WAKER_CHILDREN_ASLEEP = 1 << 2 };
enum { INTID_SPECIAL = 1020, PRIORITY_LOWEST_ALLOWED = 0xf0, WAKE_POLLS = 1000000 };

static uint64_t distributor;
static uint64_t redistributor;

/* Aff3.Aff2.Aff1.Aff0 as one word, as GICR_TYPER[63:32] has it. */
static uint32_t own_affinity(void)
{
	uint64_t mpidr = SYSREG_READ(mpidr_el1);

	return (uint32_t)((mpidr >> 32 & 0xff) << 24 | (mpidr & 0xffffff));
}

static uint64_t find_redistributor(const struct bh_grant *grant)
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
	fault_stop("no redistributor of this core was granted");
}

static void wake(void)
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

static void gicv3_init(void)
{
	distributor = info_find(BH_GRANT_IRQCHIP, "gicv3-dist")->gpa;
	redistributor = find_redistributor(info_find(BH_GRANT_IRQCHIP, "gicv3-redist"));
	arch_mmio_write32(distributor + GICD_CTLR, GICD_CTLR_ARE);
	arch_mmio_write32(distributor + GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_ENABLE_GRP1);
	wake();
	gic_dist_set_group1_local(redistributor + SGI_FRAME);
	gic_dist_reset_local(redistributor + SGI_FRAME);
	cpu_interface_init();
}

static void gicv3_enable_local(uint32_t number)
{
	gic_dist_enable(redistributor + SGI_FRAME, number);
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

static void gicv3_serve(uint32_t vector)
{
	uint64_t intid = SYSREG_READ(icc_iar1_el1);

	if (intid >= INTID_SPECIAL)
		return;
	irq_dispatch((uint32_t)intid);
	SYSREG_WRITE(icc_eoir1_el1, intid);
}

const struct irq_controller gicv3 = {
	.grant = "gicv3-redist",
	.init = gicv3_init,
	.enable_local = gicv3_enable_local,
	.enable_device = gicv3_enable_device,
	.serve = gicv3_serve,
};
