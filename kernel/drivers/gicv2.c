/* SPDX-License-Identifier: Apache-2.0 */
/* GICv2: Arm Generic Interrupt Controller Architecture Specification, version 2.0, IHI 0048. */
#include "kernel/drivers/gicv2.h"

#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/drivers/gic_dist.h"
#include "kernel/core/info.h"

/* 4.1.3 "CPU interface register map" */
enum { GICC_CTLR = 0x00, GICC_PMR = 0x04, GICC_IAR = 0x0c, GICC_EOIR = 0x10, GICC_RPR = 0x14 };
/* 4.1.2 "Distributor register map" */
enum { GICD_CTLR = 0x000, GICD_ITARGETSR = 0x800, GICD_SGIR = 0xf00, SGIR_TARGET_SHIFT = 16 };
enum { ENABLE = 1, PRIORITY_LOWEST_ALLOWED = 0xf0, IAR_INTID = 0x3ff, INTID_SPECIAL = 1020 };

static uint64_t distributor;
static uint64_t cpu_interface;

/* All of it is banked. */
static void gicv2_init_core(void)
{
	gic_dist_reset_local(distributor);
	arch_mmio_write32(cpu_interface + GICC_PMR, PRIORITY_LOWEST_ALLOWED);
	arch_mmio_write32(cpu_interface + GICC_CTLR, ENABLE);
}

static void gicv2_init(void)
{
	distributor = info_find(BH_GRANT_IRQCHIP, "gicv2-dist")->gpa;
	cpu_interface = info_find(BH_GRANT_IRQCHIP, "gicv2-cpu")->gpa;
	arch_mmio_write32(distributor + GICD_CTLR, ENABLE);
	gicv2_init_core();
}

static void gicv2_enable_local(uint32_t number)
{
	gic_dist_enable(distributor, number);
}

static uint32_t gicv2_enable_device(const struct bh_grant *grant)
{
	/* The first target registers are banked and name the core that reads them (4.3.12 "GICD_ITARGETSRn"). */
	uint8_t self = arch_mmio_read8(distributor + GICD_ITARGETSR);

	arch_mmio_write8(distributor + GICD_ITARGETSR + grant->line, self);
	gic_dist_configure(distributor, grant->line, !(grant->flags & 1));
	gic_dist_enable(distributor, grant->line);
	return grant->line;
}

/* CPU interfaces are numbered by the lowest affinity field. */
static void gicv2_send_ipi(unsigned slot)
{
	uint32_t target = 1U << (info->hardware_id[slot] & 7);

	__asm__ volatile("dsb ish" ::: "memory"); /* what it is about is seen before it comes */
	arch_mmio_write32(distributor + GICD_SGIR, target << SGIR_TARGET_SHIFT | GIC_IPI);
}

static uint32_t gicv2_mask(uint32_t priority)
{
	arch_mmio_write32(cpu_interface + GICC_PMR, priority);
	return arch_mmio_read32(cpu_interface + GICC_PMR);
}

static uint32_t gicv2_running(void)
{
	return arch_mmio_read32(cpu_interface + GICC_RPR);
}

static void gicv2_serve(struct cpu_frame *frame, uint32_t vector)
{
	uint32_t iar = arch_mmio_read32(cpu_interface + GICC_IAR);

	if ((iar & IAR_INTID) >= INTID_SPECIAL) {
		idle_end_sleep(); /* by whatever */
		return;
	}
	irq_dispatch(frame, iar & IAR_INTID);
	arch_mmio_write32(cpu_interface + GICC_EOIR, iar);
}

const struct irq_controller gicv2 = {
	.grant = "gicv2-cpu",
	.ipi = GIC_IPI,
	.notice = BH_NOTICE_SGI,
	.init = gicv2_init,
	.init_core = gicv2_init_core,
	.enable_local = gicv2_enable_local,
	.enable_device = gicv2_enable_device,
	.send_ipi = gicv2_send_ipi,
	.mask = gicv2_mask,
	.running = gicv2_running,
	.serve = gicv2_serve,
};
