/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's `virt` machine as it is, without a monitor: both GICs, the first UART, the least RAM it has. Who starts it may lay
 * another description (with `arguments`) at BARE_INFO: -device loader,file=...,addr=0x40070000,force-raw=on
 */
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"

#define BARE_INFO 0x40070000UL

enum { GRANTS = 4 };

#define RAM_GRANT { .kind = BH_GRANT_RAM, .line = BH_LINE_NONE, .gpa = 0x40000000, .size = 128 << 20, .name = "ram" }
#define UART_GRANT \
	{ .kind = BH_GRANT_DEVICE, .line = 33, .flags = 1, .gpa = 0x09000000, .size = 0x1000, .name = "uart0", .compatible = "arm,pl011" }
#define IRQCHIP_GRANT(label, base, bytes) \
	{ .kind = BH_GRANT_IRQCHIP, .line = BH_LINE_NONE, .gpa = (base), .size = (bytes), .name = (label) }

static const struct bh_grant with_gicv3[GRANTS] = { RAM_GRANT, UART_GRANT, IRQCHIP_GRANT("gicv3-dist", 0x08000000, 0x10000),
						    IRQCHIP_GRANT("gicv3-redist", 0x080a0000, 0xf60000) };
static const struct bh_grant with_gicv2[GRANTS] = { RAM_GRANT, UART_GRANT, IRQCHIP_GRANT("gicv2-dist", 0x08000000, 0x10000),
						    IRQCHIP_GRANT("gicv2-cpu", 0x08010000, 0x2000) };

/* Made here: as constants the two would be eight kilobytes of zeros. */
static const struct bh_info *describe(const struct bh_grant *grants)
{
	static const char name[] = "bare";
	static struct bh_info bare;

	bare.magic = BH_INFO_MAGIC;
	bare.version = BH_INFO_VERSION;
	bare.core_count = 1;
	bare.grant_count = GRANTS;
	for (unsigned n = 0; n < sizeof(name); n++)
		bare.name[n] = (uint8_t)name[n];
	for (unsigned n = 0; n < GRANTS; n++)
		bare.grants[n] = grants[n];
	return &bare;
}

const struct bh_info *info_bare_machine(void)
{
	const struct bh_info *laid = (const struct bh_info *)BARE_INFO;

	if (laid->magic == BH_INFO_MAGIC)
		return laid;
	return describe(arch_has_gic_registers() ? with_gicv3 : with_gicv2);
}
