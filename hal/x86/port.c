/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: I/O ports that were not granted (BH-I1.port). Granted ones never exit. */
#include "hal/x86/core.h"
#include "hal/x86/decode.h"

/* Where the ACPI tables of a sandbox put its sleep and reset registers; the values are what they tell the kernel to write. */
enum { PORT_POWER = 0x604, POWER_RESET = 1, POWER_OFF = 0x34 };

/* Reads find an empty bus, but the two ports on which kernels wait for a bit to clear: timer channel 2 and the clock's UIP. */
enum { PORT_PIT_CHANNEL_2 = 0x42, PORT_RTC_DATA = 0x71 };

static uint64_t empty_bus(uint64_t port)
{
	return port == PORT_PIT_CHANNEL_2 || port == PORT_RTC_DATA ? 0 : UINT32_MAX;
}

enum hal_action x86_emulate_port(struct hal_core *core, const struct hal_exit *exit)
{
	bool write = exit->access == BH_ACCESS_WRITE;

	if (exit->target == X86_TARGET_MEMORY)
		return HAL_FAULT;
	if (write && exit->width == 1 && exit->gpa == PORT_POWER && exit->value == POWER_OFF)
		return HAL_STOP;
	if (write && exit->width == 1 && exit->gpa == PORT_POWER && exit->value == POWER_RESET)
		return HAL_RESTART;
	if (!core->partition->tolerate_ports)
		return HAL_FAULT;
	if (!write)
		x86_complete_load(core, exit, empty_bus(exit->gpa)); /* APM vol. 3, "IN": as any register's, AL's and AX's */
	return HAL_SKIP;
}
