/* SPDX-License-Identifier: Apache-2.0 */
#include "gic_attacks.h"

#include "gic_order.h"
#include "kernel/cpu.h"
#include "kernel/info.h"

enum { GICC_CTLR = 0x00 }; /* IHI 0048, 4.4.1 */

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
