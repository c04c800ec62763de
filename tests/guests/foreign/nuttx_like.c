/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does at start what NuttX does on its QEMU board for AArch64 (qemu-armv8a), and knows what that board's build knows: the machine's
 * addresses, nothing of a sandbox. An ELF of one segment at 0x4028_0000 that begins with the header of an arm64 Image; EL1 on SP_EL0, then
 * on SP_EL1; 128 MiB of RAM and the first GiB as devices mapped; a device tree looked for at the beginning of RAM, of which nothing
 * depends; PSCI by SMC; the distributor as if it had the machine alone, the redistributor that the build names, lines routed to "core 0";
 * the virtual timer and the UART by interrupts. IHI 0069, 12 "Programmers' model"; IHI 0048, 4 "Programmers' Model".
 */
#include <stdint.h>

enum { RAM = 0x40000000, RAM_BYTES = 0x8000000, GICD = 0x8000000, GICC = 0x8010000, UART = 0x9000000, UART_INTID = 33, TIMER_INTID = 27 };
#define BH_CONSOLE_BASE UART
#include "foreign.h"

enum { TICKS = 5, LEVEL_WORDS = 512, DEFAULT_PRIORITIES = 0x80808080, IDLE_PRIORITY = 0xf0 };
enum { CTLR = 0x0, TYPER = 0x4, PIDR2 = 0xffe8, IROUTER = 0x6000, RWP = 1u << 31 };
enum {
	IGROUPR = 0x80,
	ISENABLER = 0x100,
	ICENABLER = 0x180,
	ICPENDR = 0x280,
	IPRIORITYR = 0x400,
	ITARGETSR = 0x800,
	ICFGR = 0xc00,
	IGRPMODR = 0xd00
};
enum {
	GICR_CTLR = 0x0,
	GICR_TYPER = 0x8,
	GICR_WAKER = 0x14,
	GICR_SGI = 0x10000,
	GICR_RWP = 1 << 3,
	WAKER_ASLEEP = 1 << 2,
	WAKER_SLEEP = 1 << 1
};
enum { GICC_CTLR = 0x0, GICC_PMR = 0x4, GICC_BPR = 0x8, GICC_IAR = 0xc, GICC_EOIR = 0x10 };
enum { UARTIMSC = 0x38, UARTICR = 0x44, UART_TRANSMIT = 1 << 5 };

static _Alignas(4096) uint64_t level1[LEVEL_WORDS], ram[LEVEL_WORDS];
static volatile uint32_t ticks, uart_interrupts, strays;

/* arm64's boot protocol, "4. Call the kernel image"; entered at its first instruction. */
__asm__(".section .text.header, \"ax\"\n"
	".globl image_header\n"
	"image_header:\n"
	"	add	x13, x18, #0x16\n"
	"	b	enter\n"
	"	.quad	0x480000, image_end - image_header, 0xa, 0, 0, 0\n"
	"	.ascii	\"ARM\\x64\"\n"
	"	.long	0\n"
	"enter:\n"
	"	msr	DAIFSET, #0xf\n"
	"	msr	SPSEL, #0\n"
	"	ldr	x1, =__stack_top\n"
	"	mov	sp, x1\n"
	"	msr	SPSEL, #1\n"
	"	msr	DAIFCLR, #4\n"
	"	b	_start\n"
	"	.previous\n");

/* One block of 1 GiB for devices; RAM by blocks of 2 MiB. */
static void map_memory(void)
{
	const uint64_t block = 1 | 1 << 10, normal = 3 << 8 | 1 << 2, never_executed = UINT64_C(3) << 53;

	level1[0] = block | never_executed;
	level1[RAM >> 30] = (uintptr_t)ram | 3;
	for (uint64_t n = 0; n < RAM_BYTES >> 21; n++)
		ram[n] = (RAM + (n << 21)) | block | normal;
	WRITE_REGISTER(MAIR_EL1, 0xff04);
	WRITE_REGISTER(TCR_EL1, 25 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 | UINT64_C(1) << 32);
	WRITE_REGISTER(TTBR0_EL1, (uintptr_t)level1);
	__asm__ volatile("dsb sy\n\ttlbi vmalle1\n\tdsb sy\n\tisb" : : : "memory");
	WRITE_REGISTER(SCTLR_EL1, READ_REGISTER(SCTLR_EL1) | 1 << 0 | 1 << 2 | 1 << 12);
}

static uint64_t psci_version(void)
{
	register uint64_t x0 __asm__("x0") = 0x84000000;

	__asm__ volatile("smc #0" : "+r"(x0) : : "x1", "x2", "x3", "memory");
	return x0;
}

static void silence_lines(uint32_t lines)
{
	for (uint32_t word = 1; word < lines / 32; word++) {
		write32(GICD + ICENABLER + 4 * word, UINT32_MAX);
		write32(GICD + ICPENDR + 4 * word, UINT32_MAX);
		write32(GICD + IGROUPR + 4 * word, UINT32_MAX);
		if (GIC_VERSION == 3)
			write32(GICD + IGRPMODR + 4 * word, UINT32_MAX);
	}
	for (uint32_t line = 32; line < lines; line += 4)
		write32(GICD + IPRIORITYR + line, DEFAULT_PRIORITIES);
	for (uint32_t line = 32; line < lines; line += 16)
		write32(GICD + ICFGR + line / 4, 0);
}

/* "Core 0" is the first of its own to it, whichever that is of the machine. */
static void start_uart_line(void)
{
	if (GIC_VERSION == 3)
		__asm__ volatile("str xzr, [%0]" : : "r"((uintptr_t)GICD + IROUTER + 8 * UART_INTID) : "memory");
	else
		write8(GICD + ITARGETSR + UART_INTID, 1);
	write32(GICD + ISENABLER + 4, 1 << (UART_INTID - 32));
}

#if GIC_VERSION == 3
static void wait_for(uintptr_t address, uint32_t bits)
{
	while (read32(address) & bits)
		;
}

static uint32_t acknowledge(void)
{
	return (uint32_t)READ_REGISTER(ICC_IAR1_EL1);
}

static void end(uint32_t intid)
{
	WRITE_REGISTER(ICC_EOIR1_EL1, intid);
}

static void start_controller(void)
{
	uintptr_t frame = GICR_BASE, sgi = frame + GICR_SGI;

	expect((read32(GICD + PIDR2) & 0xf0) == 0x30, "GICD_PIDR2", read32(GICD + PIDR2));
	write32(GICD + CTLR, 0);
	wait_for(GICD + CTLR, RWP);
	silence_lines(((read32(GICD + TYPER) & 31) + 1) << 5);
	write32(GICD + CTLR, 1 << 4 | 1 << 1);
	expect((read32(frame + PIDR2) & 0xf0) == 0x30, "GICR_PIDR2", read32(frame + PIDR2));
	if (read32(frame + GICR_WAKER) & WAKER_ASLEEP)
		write32(frame + GICR_WAKER, read32(frame + GICR_WAKER) & ~(uint32_t)WAKER_SLEEP);
	wait_for(frame + GICR_WAKER, WAKER_ASLEEP);
	write32(sgi + ICENABLER, UINT32_MAX);
	wait_for(frame + GICR_CTLR, GICR_RWP);
	write32(sgi + IGROUPR, UINT32_MAX);
	write32(sgi + IGRPMODR, UINT32_MAX);
	for (uint32_t line = 0; line < 32; line += 4)
		write32(sgi + IPRIORITYR + line, DEFAULT_PRIORITIES);
	write32(sgi + ICFGR + 4, 0);
	expect(READ_REGISTER(ICC_SRE_EL1) & 1, "ICC_SRE_EL1", READ_REGISTER(ICC_SRE_EL1));
	WRITE_REGISTER(ICC_PMR_EL1, IDLE_PRIORITY);
	WRITE_REGISTER(ICC_IGRPEN1_EL1, 1);
	write32(sgi + ISENABLER, 1u << TIMER_INTID);
}
#else
static uint32_t acknowledge(void)
{
	return read32(GICC + GICC_IAR) & 0x3ff;
}

static void end(uint32_t intid)
{
	write32(GICC + GICC_EOIR, intid);
}

static void start_controller(void)
{
	write32(GICD + CTLR, 0);
	silence_lines(((read32(GICD + TYPER) & 31) + 1) << 5);
	for (uint32_t line = 32; line < 64; line += 4)
		write32(GICD + ITARGETSR + line, 0x01010101);
	write32(GICD + CTLR, 1);
	write32(GICC + GICC_PMR, IDLE_PRIORITY);
	write32(GICC + GICC_BPR, 7);
	write32(GICC + GICC_CTLR, 1);
	write32(GICD + ISENABLER, 1u << TIMER_INTID);
}
#endif

void foreign_interrupt(void)
{
	uint32_t intid = acknowledge();

	if (intid == TIMER_INTID) {
		WRITE_REGISTER(CNTV_CTL_EL0, 3);
		ticks++;
	} else if (intid == UART_INTID) {
		write32(UART + UARTIMSC, 0);
		write32(UART + UARTICR, UART_TRANSMIT);
		uart_interrupts++;
	} else {
		strays++;
	}
	__asm__ volatile("dsb sy");
	end(intid);
}

_Noreturn void foreign_main(uintptr_t argument)
{
	(void)argument;
	uart_start();
	expect(READ_REGISTER(CurrentEL) == 1 << 2, "CurrentEL", READ_REGISTER(CurrentEL));
	map_memory();
	say("header at", (uintptr_t)foreign_main & ~UINT64_C(0xfffff));
	expect(read32(RAM) != 0xedfe0dd0, "a tree at the beginning of RAM", read32(RAM));
	say("PSCI", psci_version() >> 16);
	start_controller();
	start_uart_line();
	interrupts_on();
	write32(UART + UARTIMSC, UART_TRANSMIT);
	say("typed by", UART_INTID);
	for (uint32_t n = 1; n <= TICKS; n++) {
		timer_at(counter() + READ_REGISTER(CNTFRQ_EL0) / 1000);
		while (ticks < n)
			wait_for_interrupt();
	}
	say("ticks:", ticks);
	say("UART interrupts:", uart_interrupts > 0);
	say("others:", strays);
	power_off();
}
