/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's console and the machine's off switch. */
#include "arch/arch.h"
#include "board.h"
#include "x86.h"

/* For entry_boot.S, where no C can run yet. */
extern const uint16_t x86_refusal_console, x86_refusal_exit;
const uint16_t x86_refusal_console = board.console_port, x86_refusal_exit = board.exit_port;

/* 16550 registers by offset: TI PC16550D data sheet, 8.0 "Registers". */
enum { UART_THR = 0, UART_LSR = 5, LSR_THRE = 1 << 5, SPINS_PER_CHARACTER = 100000 };

/* The firmware has set the line up. A UART that never becomes ready is given up on, character by character. */
void arch_boot_putc(char c)
{
	for (unsigned spins = SPINS_PER_CHARACTER; spins && !(x86_in8(board.console_port + UART_LSR) & LSR_THRE); spins--)
		arch_relax();
	x86_out8(board.console_port + UART_THR, (uint8_t)c);
}

_Noreturn void arch_machine_off(int status)
{
	if (board.exit_port)
		x86_out32(board.exit_port, (uint32_t)status);
	arch_halt();
}

/* Caches are coherent with instruction fetch and with observers that have theirs off: APM vol. 2, 7.3, 7.6.1. */
void arch_cache_publish(const void *start, size_t size) {}
