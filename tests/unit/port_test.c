/* SPDX-License-Identifier: Apache-2.0 */
/* What a refused port shows, hal/x86/port.c: of RAX only what IN writes. APM vol. 3, "IN"; vol. 1, 3.1.2 "64-Bit-Mode Registers". */
#include "check.h"
#include "hal/x86/core.h"
#include "hal/x86/decode.h"

enum { PORT = 0x1234, PIT_CHANNEL_2 = 0x42 };
#define RAX UINT64_C(0x0123456789abcdef)

static struct hal_partition partition = { .tolerate_ports = true };
static struct hal_core core = { .partition = &partition };

/* No function is granted, so PCI's registers are never asked for. */
enum hal_action pci_write(const struct pci_view *view, uint32_t place, uint32_t width, uint32_t value)
{
	CHECK(!"reached");
	return HAL_FAULT;
}

enum hal_action pci_read(const struct pci_view *view, uint32_t place, uint32_t width, uint32_t *value)
{
	CHECK(!"reached");
	return HAL_FAULT;
}

static enum hal_action in(uint16_t port, uint32_t width)
{
	const struct hal_exit exit = { .kind = BH_EXIT_PORT, .access = BH_ACCESS_READ, .gpa = port, .width = width };

	core.registers.rax = RAX;
	return x86_emulate_port(&core, &exit);
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
	return 0;
}
