/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a monitor on x86 maps of the machine (BH-I4.private): configuration registers of the sandbox's own PCI functions, the I/O APIC
 * where it has a line, and of RAM what it may look at, read-only. hal/x86/space_boot.c and hal/pci/functions_boot.c over space_machine.h.
 */
#include "frames.h"
#include "hal/pci/config.h"
#include "hal/x86/core.h"
#include "space_machine.h"

enum { PLACE_3_0 = 0x18000, PLACE_4_1 = 0x21000 }; /* device 3, and function 1 of device 4: a page each */

static struct hal_partition partition;
static struct hal_space *space;

/* ---- Of no part in this ---- */

const struct pt_format pt_long;
const struct x86_vendor_boot *x86_vendor_boot;

uint64_t pci_ecam;

uint32_t pci_config_read(uint32_t place)
{
	abort();
}

void pci_config_write(uint32_t place, uint32_t value)
{
	abort();
}

void pci_reset(const struct pci_view *view, uint32_t self, uint32_t command)
{
	abort();
}

enum hal_status hal_partition_map(struct hal_partition *of, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	abort();
}

/* ---- The test ---- */

static void map_devices(uint32_t functions, uint32_t lines)
{
	partition.pci = (struct pci_view){ .count = functions, .functions = { { .place = PLACE_3_0 }, { .place = PLACE_4_1 } } };
	partition.ioapic = (struct ioapic_view){ .count = lines, .lines = { { .index = 0x18 } } };
	CHECK_EQ(hal_space_map_devices(space, &partition), HAL_OK);
}

/* QEMU's q35: ECAM at 0xb0000000, I/O APIC at 0xfec00000. */
static void test_devices(void)
{
	static const struct mapping all[] = {
		{ 0xb0018000, 0xb0018000, 0x1000, RW, HAL_MEMORY_DEVICE },
		{ 0xb0021000, 0xb0021000, 0x1000, RW, HAL_MEMORY_DEVICE },
		{ 0xfec00000, 0xfec00000, 0x1000, RW, HAL_MEMORY_DEVICE },
	};

	map_devices(0, 0);
	check_mappings("no devices", NULL, 0);
	map_devices(1, 0);
	check_mappings("a function", all, 1);
	map_devices(2, 0);
	check_mappings("functions", all, 2);
	map_devices(0, 1);
	check_mappings("a line", all + 2, 1);
	map_devices(2, 1);
	check_mappings("functions and a line", all, 3);
}

static void test_memory(void)
{
	static const struct mapping looked_at = { 0x50000000, 0x50000000, 0x1000000, R, HAL_MEMORY_RAM };
	static const struct mapping asked_for = { 0x200000, 0x40418000, 0x2000, R | HAL_EXECUTE, HAL_MEMORY_RAM };

	CHECK_EQ(hal_space_map_ram(space, (hpa_t){ 0x50000000 }, 0x1000000), HAL_OK);
	check_mappings("guest's code", &looked_at, 1);
	CHECK_EQ(hal_space_map(space, (const void *)0x200000, (hpa_t){ 0x40418000 }, 0x2000, R | HAL_EXECUTE, HAL_MEMORY_RAM), HAL_OK);
	check_mappings("as it is asked for", &asked_for, 1);
}

int main(void)
{
	struct hal_arena arena = frames_arena(2);

	CHECK_EQ(hal_space_create(&arena, &space), HAL_OK);
	check_mappings("empty", NULL, 0);
	test_devices();
	test_memory();
	return 0;
}
