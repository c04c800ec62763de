/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that misuse registers of the GIC. */
#include "gic_attacks.h"

#include "generic_timer.h"
#include "gic_order.h"
#include "kernel/core/cpu.h"
#include "kernel/drivers/gic_dist.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"

enum { GICC_CTLR = 0x00 };                             /* IHI 0048, 4.4.1 */
enum { GICD_ISENABLER1 = 0x104, SGIR_SELF = 2 << 24 }; /* 4.3.5, 4.3.15 */

uint64_t gic_attack_frame(const char *name)
{
	const struct bh_grant *grant = info_find(BH_GRANT_IRQCHIP, name);

	return grant ? grant->gpa : 0;
}

static uint64_t distributor(void)
{
	uint64_t base = gic_attack_frame("gicv3-dist");

	return base ? base : gic_attack_frame("gicv2-dist");
}

uint64_t gic_attack_sgir(uint64_t a, uint64_t b)
{
	arch_mmio_write32(distributor() + GICD_SGIR, (uint32_t)a);
	return 0;
}

uint64_t gic_attack_dist_read(uint64_t a, uint64_t b)
{
	return arch_mmio_read32(distributor() + a);
}

uint64_t gic_attack_dist_write(uint64_t a, uint64_t b)
{
	arch_mmio_write32(distributor() + a, (uint32_t)b);
	return arch_mmio_read32(distributor() + a);
}

uint64_t gic_attack_dist_write8(uint64_t a, uint64_t b)
{
	arch_mmio_write8(distributor() + a, (uint8_t)b);
	return 0;
}

uint64_t gic_attack_store(uint64_t a, uint64_t b)
{
	arch_mmio_write32(a, (uint32_t)b);
	return 0;
}

uint64_t gic_attack_load(uint64_t a, uint64_t b)
{
	return arch_mmio_read32(a);
}

/*
 * A WFI with something pending need not trap, and in QEMU does not: Arm ARM "HCR_EL2", TWI. So the timer expires a moment later, in the
 * monitor, whose own WFI then does not sleep.
 */
uint64_t gic_attack_sleep(uint64_t a, uint64_t b)
{
	enum { MOMENT = 24 };

	generic_timer_compare(arch_counter() + MOMENT);
	generic_timer_control(1);
	__asm__ volatile("isb\n\twfi" ::: "memory");
	generic_timer_control(0);
	arch_isb();
	return 0;
}

void gic_prepare_enable(uint64_t operands[2])
{
	operands[0] = distributor() + GICD_ISENABLER1;
	operands[1] = arch_mmio_read32(operands[0]);
}

static void ignore_ipi(struct cpu_frame *frame) {}

void gic_prepare_sgi(uint64_t operands[2])
{
	uint64_t frame = gic_attack_frame("gicv2-dist");

	if (info->core_count == 1)
		irq_attach_ipi(ignore_ipi);
	operands[0] = frame ? frame + GICD_SGIR : 0;
	operands[1] = frame ? (uint64_t)SGIR_SELF | GIC_IPI : gic_sgi_to_self(GIC_IPI);
}

uint64_t gic_attack_sleep_masked(uint64_t a, uint64_t b)
{
	uint64_t base = gic_attack_frame("gicv2-cpu");

	if (!base)
		return NOTHING_THERE;
	arch_mmio_write32(base + GICC_CTLR, 0);
	cpu_interrupts_disable();
	cpu_halt();
}

/* No attack, but what would show one that upset priorities. */
uint64_t gic_attack_order(uint64_t a, uint64_t b)
{
	return gic_order(a);
}

uint64_t gic_attack_mask(uint64_t a, uint64_t b)
{
	return gic_mask(a);
}
