/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's few words with the machine: boot console, firmware, off switch. */
#include "arch/arch.h"
#include "board.h"

/* A 16550 whose registers are bytes. PC16550D 8.0 "Registers": transmitter holding register, line status, THRE. */
enum { THR = 0, LSR = 5, LSR_THRE = 1 << 5, TX_TRIES = 1000000 };
/* RISC-V SBI 1.0, 10 "System Reset Extension (EID #0x53525354 "SRST")": type 0, shutdown; reason 0, none, or 1, system failure. */
enum { SBI_SYSTEM_RESET = 0x53525354 };

void arch_boot_putc(char c)
{
	for (int tries = 0; tries < TX_TRIES && !(arch_mmio_read8(board.console.address + LSR * board.console.stride) & LSR_THRE); tries++)
		arch_relax();
	arch_mmio_write8(board.console.address + THR * board.console.stride, (uint8_t)c);
}

void arch_boot_console_leave(void) {}

struct arch_modules arch_boot_modules(void)
{
	return (struct arch_modules){ 0 };
}

_Noreturn void arch_halt(void)
{
	for (;;)
		__asm__ volatile("wfi");
}

_Noreturn void arch_machine_off(int status)
{
	register uint64_t type __asm__("a0") = 0;
	register uint64_t reason __asm__("a1") = status != 0;
	register uint64_t function __asm__("a6") = 0;
	register uint64_t extension __asm__("a7") = SBI_SYSTEM_RESET;

	__asm__ volatile("ecall" : "+r"(type), "+r"(reason) : "r"(function), "r"(extension) : "memory");
	arch_halt();
}
