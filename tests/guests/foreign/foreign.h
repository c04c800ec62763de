/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For guests that stand in for kernels which are not here: they know their sandbox by the header that `bulkhead overlay --for c` writes,
 * as a real kernel's build would (-include), and nothing of abi/ or kernel/. The processor's part is foreign_cpu.h.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "foreign_cpu.h"

/* Written by each guest: with interrupts masked, for every interrupt that is taken. */
void foreign_interrupt(void);
_Noreturn void foreign_main(uintptr_t argument);

/*
 * Plain loads and stores in assembly, as kernels have them: an access to a filtered register by an instruction that changes its address
 * register, too, which a compiler may make of C, tells the monitor too little and ends the sandbox.
 */
static inline uint32_t read32(uintptr_t address)
{
	uint32_t value;

	__asm__ volatile("ldr %" WORD "0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void write32(uintptr_t address, uint32_t value)
{
	__asm__ volatile("str %" WORD "0, [%1]" : : "r"(value), "r"(address) : "memory");
}

static inline uint8_t read8(uintptr_t address)
{
	uint32_t value;

	__asm__ volatile("ldrb %" WORD "0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return (uint8_t)value;
}

static inline void write8(uintptr_t address, uint8_t value)
{
	__asm__ volatile("strb %" WORD "0, [%1]" : : "r"((uint32_t)value), "r"(address) : "memory");
}

/* Arm PrimeCell UART (PL011), 3.2 "Summary of registers": UARTDR, UARTFR, UARTIBRD, UARTFBRD, UARTLCR_H, UARTCR. */
static inline void uart_start(void)
{
	write32(BH_CONSOLE_BASE + 0x30, 0);
	write32(BH_CONSOLE_BASE + 0x24, 13); /* 24 MHz / (16 * 115200) */
	write32(BH_CONSOLE_BASE + 0x28, 1);
	write32(BH_CONSOLE_BASE + 0x2c, 0x70);
	write32(BH_CONSOLE_BASE + 0x30, 0x301);
}

static inline void say_character(char character)
{
	while (read32(BH_CONSOLE_BASE + 0x18) & 1 << 5)
		;
	write32(BH_CONSOLE_BASE, (uint8_t)character);
}

static inline void say_text(const char *text)
{
	for (; *text; text++)
		say_character(*text);
}

static inline void say_hex(uint64_t value)
{
	int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	say_text("0x");
	for (; shift >= 0; shift -= 4)
		say_character("0123456789abcdef"[value >> shift & 15]);
}

static inline void say(const char *text, uint64_t value)
{
	say_text(text);
	say_character(' ');
	say_hex(value);
	say_character('\n');
}

/* What a real kernel would assert. */
static inline void expect(bool holds, const char *what, uint64_t value)
{
	if (holds)
		return;
	say_text("failed: ");
	say(what, value);
	power_off();
}
