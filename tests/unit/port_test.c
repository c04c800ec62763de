/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.port. What a refused port shows, hal/x86/port.c: of RAX only what IN writes. APM vol. 3, "IN"; vol. 1, 3.1.2 "64-Bit-Mode
 * Registers". And which configuration register a sandbox with a PCI function reaches by ports: PCI Local Bus 3.0, 3.2.2.3.2 "Software
 * Generation of Configuration Transactions".
 */
#include "check.h"
#include "hal/pci/config.h"
#include "hal/x86/core.h"
#include "hal/x86/decode.h"

enum { PORT = 0x1234, PIT_CHANNEL_2 = 0x42, FUNCTION = 0x18, NOBODY = 0xfffff, UNCALLED = 1 };
#define RAX UINT64_C(0x0123456789abcdef)

static struct hal_partition partition = { .tolerate_ports = true };
static struct hal_core core = { .partition = &partition };

/* The place that was asked for last. Who has no function asks for none. */
static uint32_t asked = UNCALLED;

static enum hal_action note(const struct pci_view *view, uint32_t place)
{
	CHECK(view->count);
	asked = place;
	return HAL_SKIP;
}

enum hal_action pci_write(const struct pci_view *view, uint32_t self, uint32_t place, uint32_t width, uint32_t value)
{
	return note(view, place);
}

enum hal_action pci_read(const struct pci_view *view, uint32_t self, uint32_t place, uint32_t width, uint32_t *value)
{
	*value = 0;
	return note(view, place);
}

static enum hal_action in(uint16_t port, uint32_t width)
{
	const struct hal_exit exit = { .kind = BH_EXIT_PORT, .access = BH_ACCESS_READ, .gpa = port, .width = width };

	core.registers.rax = RAX;
	return x86_emulate_port(&core, &exit);
}

static enum hal_action out(uint16_t port, uint32_t width, uint32_t value, uint32_t target)
{
	const struct hal_exit exit = {
		.kind = BH_EXIT_PORT, .access = BH_ACCESS_WRITE, .gpa = port, .width = width, .value = value, .target = target
	};

	asked = UNCALLED;
	return x86_emulate_port(&core, &exit);
}

/* What the machine would understand otherwise than the filter, had it been passed on, is not passed on. */
static void test_configuration(void)
{
	const uint32_t address = FUNCTION << PCI_ADDRESS_FUNCTION_SHIFT | 0x10;

	partition.pci.count = 1;
	check_context.subject = "its own function";
	CHECK_EQ(out(PCI_PORT_ADDRESS, 4, PCI_ADDRESS_ENABLE | address, 0), HAL_SKIP);
	CHECK_EQ(out(PCI_PORT_DATA + 2, 2, 0, 0), HAL_SKIP);
	CHECK_EQ(asked, FUNCTION << PCI_REGISTER_BITS | 0x12);
	CHECK_EQ(in(PCI_PORT_DATA, 4), HAL_SKIP);
	CHECK_EQ(asked, FUNCTION << PCI_REGISTER_BITS | 0x10);
	check_context.subject = "half an address";
	for (uint16_t port = PCI_PORT_ADDRESS; port < PCI_PORT_DATA; port++)
		for (uint32_t width = 1; width <= 2; width++)
			CHECK_EQ(out(port, width, 0, 0), HAL_SKIP);
	CHECK_EQ(out(PCI_PORT_ADDRESS + 1, 4, 0, 0), HAL_SKIP);
	CHECK_EQ(asked, UNCALLED);
	CHECK_EQ(core.pci_address, PCI_ADDRESS_ENABLE | address);
	check_context.subject = "from memory";
	CHECK_EQ(out(PCI_PORT_ADDRESS, 4, 0, X86_TARGET_MEMORY), HAL_FAULT);
	CHECK_EQ(out(PCI_PORT_DATA, 4, 0, X86_TARGET_MEMORY), HAL_FAULT);
	CHECK_EQ(asked, UNCALLED);
	CHECK_EQ(core.pci_address, PCI_ADDRESS_ENABLE | address);
	check_context.subject = "not enabled";
	CHECK_EQ(out(PCI_PORT_ADDRESS, 4, address, 0), HAL_SKIP);
	CHECK_EQ(out(PCI_PORT_DATA, 4, 0, 0), HAL_SKIP);
	CHECK_EQ(asked >> PCI_REGISTER_BITS, NOBODY);
}

int main(void)
{
	static const struct {
		uint16_t port;
		uint32_t width;
		uint64_t rax;
	} rows[] = {
		{ PORT, 1, RAX | 0xff },
		{ PORT, 2, RAX | 0xffff },
		{ PORT, 4, UINT32_MAX },
		{ PIT_CHANNEL_2, 1, RAX & ~0xffull },
		{ PIT_CHANNEL_2, 2, RAX & ~0xffffull },
		{ PIT_CHANNEL_2, 4, 0 },
	};

	check_context.subject = "IN";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		CHECK_EQ(in(rows[n].port, rows[n].width), HAL_SKIP);
		CHECK_EQ(core.registers.rax, rows[n].rax);
	}
	partition.tolerate_ports = false;
	CHECK_EQ(in(PORT, 1), HAL_FAULT);
	CHECK_EQ(core.registers.rax, RAX);
	test_configuration();
	return 0;
}
