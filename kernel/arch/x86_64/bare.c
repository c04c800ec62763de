/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's q35 machine as it is, without a monitor: the first UART, the IOAPIC, the least RAM it has. Who starts it may lay
 * another description (with `arguments`) at BARE_INFO: -device loader,file=...,addr=0x1f0000,force-raw=on
 */
#include "kernel/core/info.h"

#define BARE_INFO 0x1f0000ULL

static const struct bh_info q35 = {
	.magic = BH_INFO_MAGIC,
	.version = BH_INFO_VERSION,
	.core_count = 1,
	.name = "bare",
	.grant_count = 4,
	.grants = {
		{ .kind = BH_GRANT_RAM, .line = BH_LINE_NONE, .gpa = 0, .size = 96 << 20, .name = "ram" },
		{ .kind = BH_GRANT_PORTS, .line = 4, .vector = 0x34, .gpa = 0x3f8, .size = 8, .name = "uart0",
		  .compatible = "ns16550a" },
		{ .kind = BH_GRANT_IRQCHIP, .line = BH_LINE_NONE, .gpa = 0xfee00000, .size = 0x1000, .name = "x2apic" },
		{ .kind = BH_GRANT_IRQCHIP, .line = BH_LINE_NONE, .gpa = 0xfec00000, .size = 0x1000, .name = "ioapic" },
	},
};

const struct bh_info *info_bare_machine(void)
{
	const struct bh_info *laid = (const struct bh_info *)BARE_INFO;

	return laid->magic == BH_INFO_MAGIC ? laid : &q35;
}
