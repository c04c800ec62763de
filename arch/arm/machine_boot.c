/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's few words with the machine: boot console, firmware, off switch. */
#include <stdbool.h>

#include "arch/arch.h"
#include "board.h"
#include "arch/arm/firmware.h"

/* PL011 (DDI 0183) 3.3 "Register descriptions"; the loader has set it up, or it needs no set-up (QEMU). */
enum {
	UARTDR = 0x00,
	UARTFR = 0x18,
	UARTICR = 0x44,
	UARTFR_BUSY = 1 << 3,
	UARTFR_TXFF = 1 << 5,
	UARTICR_TXIC = 1 << 5,
	TX_TRIES = 1000000
};

void start_trapped(uintptr_t syndrome, uintptr_t pc, uintptr_t address);

void arch_boot_putc(char c)
{
	for (int tries = 0; tries < TX_TRIES && arch_mmio_read32(board.console.address + UARTFR) & UARTFR_TXFF; tries++)
		arch_relax();
	arch_mmio_write32(board.console.address + UARTDR, (uint8_t)c);
}

/* An empty transmitter has raised its interrupt, which its owner would find pending. */
void arch_boot_console_leave(void)
{
	for (int tries = 0; tries < TX_TRIES && arch_mmio_read32(board.console.address + UARTFR) & UARTFR_BUSY; tries++)
		arch_relax();
	arch_mmio_write32(board.console.address + UARTICR, UARTICR_TXIC);
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
