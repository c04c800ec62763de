/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: I/O ports that were not granted (BH-I1.port). Granted ones never exit. */
#include "hal/x86/core.h"

#include "board.h"
#include "hal/pci/config.h"
#include "hal/x86/decode.h"

/* Where the ACPI tables of a sandbox put its sleep and reset registers; the values are what they tell the kernel to write. */
enum { PORT_POWER = 0x604, POWER_RESET = 1, POWER_OFF = 0x34 };

/* Reads find an empty bus, but the two ports on which kernels wait for a bit to clear: timer channel 2 and the clock's UIP. */
enum { PORT_PIT_CHANNEL_2 = 0x42, PORT_RTC_DATA = 0x71 };

static uint64_t empty_bus(uint64_t port)
{
	return port == PORT_PIT_CHANNEL_2 || port == PORT_RTC_DATA ? 0 : UINT32_MAX;
}

/*
 * PCI configuration mechanism 1, for sandboxes that own a function, with an address register of each core's own. 0xCF9 is none of it: a
 * reset. The place is as pci_write wants it; a disabled address is nobody's.
 */
static uint32_t place_of(uint32_t address, uint64_t port)
{
	uint32_t function = address >> PCI_ADDRESS_FUNCTION_SHIFT & PCI_ADDRESS_FUNCTION_MASK;
	uint32_t id = address & PCI_ADDRESS_ENABLE ? function : PCI_NOWHERE >> PCI_REGISTER_BITS;

	return id << PCI_REGISTER_BITS | (address & PCI_ADDRESS_REGISTER_MASK) | (port & 3);
}

/* A Linux finds no ports where it has ECAM, whose registers it reads without exits. */
static bool shows_config_ports(const struct hal_partition *partition)
{
	return partition->pci.count && !(board.pci.ecam && partition->tolerate_ports);
}

/* AL and AX leave the rest of RAX alone, EAX clears what is above. APM vol. 3, "IN"; vol. 1, 3.1.2 "64-Bit-Mode Registers". */
static void complete(struct hal_core *core, uint32_t width, uint64_t value)
{
	uint64_t mask = width == 4 ? UINT64_MAX : x86_mask_of(width);

	core->registers.rax = (core->registers.rax & ~mask) | (value & mask);
}

static enum hal_action configure(struct hal_core *core, const struct hal_exit *exit)
{
	const struct pci_view *pci = &core->partition->pci;
	uint32_t place = place_of(core->pci_address, exit->gpa);
	bool latch = exit->gpa == PCI_PORT_ADDRESS && exit->width == 4, data = exit->gpa >= PCI_PORT_DATA;
	uint32_t value = latch ? core->pci_address : UINT32_MAX;
	enum hal_action action = HAL_SKIP;

	if (exit->access == BH_ACCESS_WRITE) {
		if (latch)
			core->pci_address = (uint32_t)exit->value;
		return data ? pci_write(pci, core->self, place, exit->width, (uint32_t)exit->value) : HAL_SKIP;
	}
	if (data)
		action = pci_read(pci, core->self, place, exit->width, &value);
	complete(core, exit->width, value);
	return action;
}

enum hal_action x86_emulate_port(struct hal_core *core, const struct hal_exit *exit)
{
	bool write = exit->access == BH_ACCESS_WRITE;

	if (exit->target == X86_TARGET_MEMORY)
		return HAL_FAULT;
	if (exit->gpa - PCI_PORT_ADDRESS < PCI_PORTS && shows_config_ports(core->partition))
		return configure(core, exit);
	if (write && exit->width == 1 && exit->gpa == PORT_POWER && exit->value == POWER_OFF)
		return HAL_STOP;
	if (write && exit->width == 1 && exit->gpa == PORT_POWER && exit->value == POWER_RESET)
		return HAL_RESTART;
	if (!core->partition->tolerate_ports)
		return HAL_FAULT;
	if (!write)
		complete(core, exit->width, empty_bus(exit->gpa));
	return HAL_SKIP;
}
