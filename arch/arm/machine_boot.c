/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's few words with the machine: boot console, firmware, off switch. */
#include <stdbool.h>

#include "arch/arch.h"
#include "arch/arm/console.h"
#include "arch/arm/firmware.h"
#include "board.h"

void start_trapped(uintptr_t syndrome, uintptr_t pc, uintptr_t address);

void arch_boot_putc(char c)
{
	console_drivers[board.console.uart]->put(&board.console, c);
}

void arch_boot_console_leave(void)
{
	console_drivers[board.console.uart]->leave(&board.console);
}

_Noreturn void arch_halt(void)
{
	for (;;)
		arch_wfi();
}

/* A FIT image's parts are loaded in place. */
struct arch_modules arch_boot_modules(void)
{
	return (struct arch_modules){ 0 };
}

static bool is_leaving;

/* PSCI has no way to pass a status on, and at EL3 there is nobody to ask. Where nobody answers SMC it traps: start_trapped. */
_Noreturn void arch_machine_off(int status)
{
	is_leaving = true;
	if (board.start.by == BOARD_START_PSCI && arch_exception_level() < 3)
		firmware_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	arch_halt();
}

static void put_text(const char *text)
{
	while (*text)
		arch_boot_putc(*text++);
}

static void put_hex(const char *name, uintptr_t value)
{
	put_text(name);
	for (int shift = 8 * (int)sizeof(value) - 4; shift >= 0; shift -= 4)
		arch_boot_putc("0123456789abcdef"[value >> shift & 15]);
}

void start_trapped(uintptr_t syndrome, uintptr_t pc, uintptr_t address)
{
	if (is_leaving) /* it has said why */
		arch_halt();
	put_text("bulkhead: start-up trapped: is this the board the image was built for?");
	put_hex(" syndrome 0x", syndrome);
	put_hex(" pc 0x", pc);
	put_hex(" address 0x", address);
	put_text("\r\n");
	arch_machine_off(1);
}
