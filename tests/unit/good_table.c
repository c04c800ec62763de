/* SPDX-License-Identifier: Apache-2.0 */
/* A partition table that start-up accepts, with rows of every kind: tests break one thing of it each (good_table.h). */
#include "good_table.h"

#include <string.h>

enum { POOL = 0x40410000, POOL_BYTES = 0x50000, FOREIGN_POOL = 0x40490000, FOREIGN_POOL_BYTES = 0x40000 };
enum { R = BH_PERM_READ, RW = BH_PERM_READ | BH_PERM_WRITE, RWX = RW | BH_PERM_EXECUTE };

static const struct board board = {
	.name = "test-machine",
	.ram = BOARD_SPANS({ 0x40000000, 0x80000000 }),
	.reserved_ram = BOARD_SPANS({ 0x40000000, 0x100000 }, { 0xbfe00000, 0x200000 }),
	.private_spans = BOARD_SPANS({ 0x08000000, 0x10000 }, { 0x080a0000, 0x80000 }, { 0x10000000, 0x30000000 }),
	.private_ports = BOARD_SPANS({ 0x60, 5 }, { 0xcf8, 8 }, { 0xc000, 0x4000 }),
	.private_lines = BOARD_SPANS({ 0, 32 }, { 45, 1 }),
	.banked = { 0x08010000, 0x2000 },
	.core_id_mask = 0xf0f,
	.core_id_greatest = 0xf0e,
	.first_vector = 0x20,
	.first_level_vector = 0x41,
	.iommu = { .kind = BH_IOMMU_SMMUV3 },
	.pci = { .functions = 256, .window = { 0x10000000, 0x20000000 }, .ports = { 0xc000, 0x4000 }, .ports_at = 0x3eff0000 },
};

const struct table_limits good_limits = { &board, 0x40200000, 0x40240000 };

static const struct bh_table good = {
	.magic = BH_TABLE_MAGIC, .version = BH_TABLE_VERSION, .size = sizeof(struct bh_table),
	.platform = "test-machine",
	.iommu = BH_IOMMU_SMMUV3, .iommu_tables = 0x40600000,
	.shared = 0x40400000,
	.module_bytes = 0x4000, .module_checksum = GOOD_MODULE_CHECKSUM,
	.core_count = 4, .sandbox_count = 2, .region_count = GOOD_REGIONS, .port_count = 3, .line_count = GOOD_LINES, .copy_count = GOOD_COPIES, .piece_count = 2,
	.pci_function_count = GOOD_FUNCTIONS, .channel_count = GOOD_CHANNELS,
	.hardware_id = { 0, 1, 2, 3 },
	.sandboxes = {
		{ .name = "first", .core_count = 1, .cores = { 1 }, .may_kick = 1 << 1, .accepts = 1 << 1, .pool = POOL, .pool_bytes = POOL_BYTES, .entry = 0x40080000,
		  .arg = 0x0c001000, .stack = 0x40200000 },
		{ .name = "second", .flags = BH_SANDBOX_LINUX, .core_count = 1, .cores = { 2 }, .pool = FOREIGN_POOL, .pool_bytes = FOREIGN_POOL_BYTES,
		  .notifies = 1 << 0, .on_fault = BH_ON_FAULT_RESTART, .max_restarts = 3, .entry = 0x40080000, .clock_text = 0x60011000,
		  .snapshot = 0x70000000, .snapshot_bytes = 0x3000 },
	},
	.regions = {
		[GOOD_RAM] = { 0x40000000, 0x50000000, 0x1000000, 0, RWX, BH_MEMORY_RAM, BH_REGION_RAM, 0 },
		[GOOD_FOREIGN_RAM] = { 0x40000000, 0x60000000, 0x1000000, 1, RWX, BH_MEMORY_RAM, BH_REGION_RAM, 0 },
		[GOOD_DEVICE] = { 0x09000000, 0x09000000, 0x1000, 0, RW, BH_MEMORY_DEVICE, BH_REGION_DEVICE, BH_DMA_FREE },
		[GOOD_FOREIGN_DEVICE] = { 0x09040000, 0x09040000, 0x1000, 1, RW, BH_MEMORY_DEVICE, BH_REGION_DEVICE, BH_DMA_FREE },
		[GOOD_BANKED] = { 0x08010000, 0x08010000, 0x2000, 0, RW, BH_MEMORY_DEVICE, BH_REGION_BANKED, 0 },
		[GOOD_FOREIGN_BANKED] = { 0x08010000, 0x08010000, 0x2000, 1, RW, BH_MEMORY_DEVICE, BH_REGION_BANKED, 0 },
		[GOOD_OWN_PAGES] = { 0x0c000000, POOL + BH_POOL_STATS, 0x2000, 0, R, BH_MEMORY_RAM, BH_REGION_POOL, 0 },
		[GOOD_OWN_LOG] = { 0x0c004000, POOL + BH_POOL_LOG, BH_LOG_BYTES, 0, RW, BH_MEMORY_RAM, BH_REGION_POOL, 0 },
		[GOOD_FOREIGN_LOG] = { 0x0c010000, FOREIGN_POOL + BH_POOL_LOG, BH_LOG_BYTES, 0, R, BH_MEMORY_RAM, BH_REGION_POOL, 0 },
		[GOOD_BAR] = { 0x10000000, 0x10000000, 0x100000, 0, RW, BH_MEMORY_DEVICE, BH_REGION_BAR, BH_DMA_FREE },
		[GOOD_PORTS_BAR] = { 0x3effc000, 0x3effc000, 0x1000, 1, RW, BH_MEMORY_DEVICE, BH_REGION_BAR, BH_DMA_FREE },
		[GOOD_FAULTS] = { 0x0c008000, 0x40605000, 0x1000, 0, R, BH_MEMORY_RAM, BH_REGION_FAULTS, 0 },
		[GOOD_SENDS] = { 0x0c100000, 0x72000000, 0x1000, 0, RW, BH_MEMORY_RAM, BH_REGION_CHANNEL, 0 },
		[GOOD_SENDER_SEES] = { 0x0c101000, 0x72001000, 0x2000, 0, R, BH_MEMORY_RAM, BH_REGION_CHANNEL, 0 },
		[GOOD_TAKES] = { 0x0c102000, 0x72002000, 0x1000, 1, RW, BH_MEMORY_RAM, BH_REGION_CHANNEL, 0 },
		[GOOD_RECEIVER_SEES] = { 0x0c100000, 0x72000000, 0x2000, 1, R, BH_MEMORY_RAM, BH_REGION_CHANNEL, 0 },
	},
	.ports = { { 0, 0x3f8, 8, BH_DMA_FREE }, { 1, 0x2f8, 8, BH_DMA_FREE }, { 1, 0xc010, 0x10, BH_DMA_FREE } },
	.lines = {
		[GOOD_LINE] = { 0, 33, 1, 0x41, BH_LINE_LEVEL },
		[GOOD_FOREIGN_LINE] = { 1, 40, 2, 0x42, BH_LINE_LEVEL },
		[GOOD_RUNG] = { 1, 48, 2, 0x43, BH_LINE_RUNG },
	},
	.copies = {
		[GOOD_INFO] = { 0, POOL + BH_POOL_INFO, 0x1000, 0, 0 },
		[GOOD_KERNEL] = { 0x1000, 0x50080000, 0x2000, 0, 0 },
		[GOOD_FOREIGN_KERNEL] = { 0x3000, 0x60100000, 0x1000, 1, 0 },
	},
	.pci_functions = {
		[GOOD_FUNCTION] = { 0, 0x18, 0x11e81234, { 0x10000000, 0x20000004, 0 }, { 0xfff00000, 0xffff0004, 0xffffffff }, BH_DMA_FREE, 0, 0, 1 },
		[GOOD_FOREIGN_FUNCTION] = { 1, 0x20, 0x00021b36, { 0, 0xc011, 0x10100008 }, { 0, 0xfffffff1, 0xfffff008 }, BH_DMA_FREE, 0, 0, 0 },
	},
	.channels = {
		[GOOD_RING] = { 0x72000000, { 0x1000, 0x1000 }, { 0, 1 }, BH_CHANNEL_RING, 4, 64, { 1000, 0 }, { 0, 48 }, 0, "samples" },
		[GOOD_MAILBOX] = { 0x72003000, { 0x2000, 0x2000 }, { 1, 0 }, BH_CHANNEL_MAILBOX, 1, 4096, { 0, 0 }, { 0, 0 }, 0, "orders" },
	},
	.pieces = { { 0, 0x60011000, 0x1000, 1, 0 }, { 0x1000, 0x60100000, 0x2000, 1, 0 } },
};

/* Written apart from monitor/boot/table/, from the comment in abi/table.h: bytes put together, little-endian. */
void table_sign(struct bh_table *table)
{
	uint64_t hash = 0xcbf29ce484222325;

	table->checksum = 0;
	for (size_t at = 0; at < sizeof(*table); at += 8) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)table + at, 8);
		hash = (hash ^ word) * 0x100000001b3;
	}
	table->checksum = hash;
}

void good_table(struct bh_table *table)
{
	*table = good;
	table_sign(table);
}
