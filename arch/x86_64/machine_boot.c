/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's console and the machine's off switch. */
#include "arch/arch.h"
#include "board.h"
#include "multiboot2.h"
#include "x86.h"

_Static_assert(board.console.uart == BOARD_UART_16550_PORTS && board.console.stride == 1,
	       "a PC's boot console is a 16550 that is reached by ports, one a register: .console of board.h");

/* For entry_boot.S, where no C can run yet. */
extern const uint16_t x86_refusal_console, x86_refusal_exit;
const uint16_t x86_refusal_console = board.console.address, x86_refusal_exit = board.pc.exit_port;

/* 16550 registers by offset: TI PC16550D data sheet, 8.0 "Registers". */
enum { UART_THR = 0, UART_LCR = 3, UART_LSR = 5, LCR_8_BITS = 3, LSR_THRE = 1 << 5, LSR_TEMT = 1 << 6, SPINS_PER_CHARACTER = 100000 };

/* The firmware has chosen the speed, not always the length of a character: what it had chosen is put back. */
static uint8_t found_lcr;
static bool is_open;

/* A UART that never becomes ready is given up on, character by character. */
static void wait_for(uint8_t status)
{
	for (unsigned spins = SPINS_PER_CHARACTER; spins && !(x86_in8(board.console.address + UART_LSR) & status); spins--)
		arch_relax();
}

void arch_boot_putc(char c)
{
	if (!is_open)
		found_lcr = x86_in8(board.console.address + UART_LCR);
	is_open = true;
	x86_out8(board.console.address + UART_LCR, LCR_8_BITS);
	wait_for(LSR_THRE);
	x86_out8(board.console.address + UART_THR, (uint8_t)c);
}

void arch_boot_console_leave(void)
{
	if (!is_open)
		return;
	wait_for(LSR_TEMT);
	x86_out8(board.console.address + UART_LCR, found_lcr);
	is_open = false;
}

/* What the loader left in EAX and EBX, kept by entry_boot.S. A loader of another kind, PVH (`-kernel` in QEMU), brings no modules. */
extern const uint32_t x86_loader[2];

struct arch_modules arch_boot_modules(void)
{
	if (x86_loader[0] != MULTIBOOT2_BOOTLOADER_MAGIC)
		return (struct arch_modules){ 0 };
	return multiboot2_modules((const void *)(uintptr_t)x86_loader[1]);
}

_Noreturn void arch_machine_off(int status)
{
	if (board.pc.exit_port && !board.pc.exit_word)
		x86_out32(board.pc.exit_port, (uint32_t)status);
	for (const char *c = board.pc.exit_word; c && *c; c++)
		x86_out8(board.pc.exit_port, (uint8_t)*c);
	arch_halt();
}
