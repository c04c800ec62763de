/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does at start, in the same order and with the same registers, what Zephyr does on its QEMU board for AArch64 (GICv3, non-secure EL1, MMU
 * on, PL011, tickless virtual timer): the distributor as if it had the machine alone, a walk over redistributors from the machine's first
 * one to the one with its own affinity, waking it, groups, priorities and the CPU interface. Then it sleeps from timer to timer, each set
 * for another time, and switches itself off. The revision in GICR_PIDR2 is what NuttX and Linux look at on that walk. IHI 0069, 12
 * "Programmers' model".
 */
#include "foreign.h"

enum { SLEEPS = 6, LEVEL_WORDS = 512, DEFAULT_PRIORITIES = 0xa0a0a0a0, IDLE_PRIORITY = 0xf0 };

enum { GICD_CTLR = 0x0, GICD_TYPER = 0x4, GICD_PIDR2 = 0xffe8 };
enum { IGROUPR = 0x80, ISENABLER = 0x100, ICENABLER = 0x180, ICPENDR = 0x280, IPRIORITYR = 0x400, ICFGR = 0xc00, IGRPMODR = 0xd00 };
enum { GICR_CTLR = 0x0, GICR_TYPER = 0x8, GICR_WAKER = 0x14, GICR_PIDR2 = 0xffe8, GICR_SGI = 0x10000, GICR_STEP = 0x20000 };
enum { CTLR_RWP = 1u << 31, GICR_RWP = 1 << 3, TYPER_LAST = 1 << 4, WAKER_ASLEEP = 1 << 2, WAKER_SLEEP = 1 << 1 };

static _Alignas(4096) uint64_t level1[LEVEL_WORDS], devices[LEVEL_WORDS], ram[LEVEL_WORDS];
static uintptr_t redistributor;
static volatile uint32_t interrupts, strays;

static uint64_t read64(uintptr_t address)
{
	uint64_t value;

	__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static void wait_for(uintptr_t address, uint32_t bits)
{
	while (read32(address) & bits)
		;
}

/* 39 bits of addresses in granules of 4 KiB: the first GiB device memory, then the sandbox's RAM in blocks of 2 MiB. */
static void map_memory(void)
{
	const uint64_t table = 3, block = 1 | 1 << 10, normal = 3 << 8 | 1 << 2, never_executed = UINT64_C(3) << 53;

	level1[0] = (uintptr_t)devices | table;
	level1[BH_RAM_BASE >> 30] = (uintptr_t)ram | table;
	for (uint64_t n = 0; n < LEVEL_WORDS; n++)
		devices[n] = n << 21 | block | never_executed;
	for (uint64_t n = 0; n < BH_RAM_BYTES >> 21; n++)
		ram[n] = (BH_RAM_BASE + (n << 21)) | block | normal;
	WRITE_REGISTER(MAIR_EL1, 0xff04); /* 0: Device-nGnRE, 1: write-back */
	WRITE_REGISTER(TCR_EL1, 25 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 | UINT64_C(1) << 32);
	WRITE_REGISTER(TTBR0_EL1, (uintptr_t)level1);
	__asm__ volatile("dsb sy\n\ttlbi vmalle1\n\tdsb sy\n\tisb" : : : "memory");
	WRITE_REGISTER(SCTLR_EL1, READ_REGISTER(SCTLR_EL1) | 1 << 0 | 1 << 2 | 1 << 12);
}

/* Every line silent, in group 1, of one priority; then the distributor on, as non-secure software does it. */
static void start_distributor(void)
{
	uint32_t lines = ((read32(BH_GICD_BASE + GICD_TYPER) & 31) + 1) << 5;

	expect((read32(BH_GICD_BASE + GICD_PIDR2) & 0xf0) == 0x30, "GICD_PIDR2", read32(BH_GICD_BASE + GICD_PIDR2));
	write32(BH_GICD_BASE + GICD_CTLR, 0);
	wait_for(BH_GICD_BASE + GICD_CTLR, CTLR_RWP);
	for (uint32_t word = 1; word < lines / 32; word++) {
		write32(BH_GICD_BASE + ICENABLER + 4 * word, UINT32_MAX);
		write32(BH_GICD_BASE + ICPENDR + 4 * word, UINT32_MAX);
		write32(BH_GICD_BASE + IGROUPR + 4 * word, UINT32_MAX);
		write32(BH_GICD_BASE + IGRPMODR + 4 * word, UINT32_MAX);
	}
	wait_for(BH_GICD_BASE + GICD_CTLR, CTLR_RWP);
	for (uint32_t line = 32; line < lines; line += 4)
		write32(BH_GICD_BASE + IPRIORITYR + line, DEFAULT_PRIORITIES);
	for (uint32_t line = 32; line < lines; line += 16)
		write32(BH_GICD_BASE + ICFGR + line / 4, 0);
	write32(BH_GICD_BASE + GICD_CTLR, 1 << 5 | 1 << 1);
}

static uint64_t own_affinity(void)
{
	uint64_t id = READ_REGISTER(MPIDR_EL1);

	return (id >> 32 & 0xff) << 24 | (id & 0xffffff);
}

/* From the machine's first one on; nobody said which is its own. */
static void find_redistributor(void)
{
	uint32_t steps = 0;

	for (uintptr_t at = BH_GICR_FIRST;; at += GICR_STEP, steps++) {
		uint64_t type = read64(at + GICR_TYPER);

		expect((read32(at + GICR_PIDR2) & 0xf0) == 0x30, "GICR_PIDR2", read32(at + GICR_PIDR2));
		if (type >> 32 == own_affinity()) {
			redistributor = at;
			break;
		}
		expect(!(type & TYPER_LAST), "the walk ended before its own redistributor, GICR_TYPER", type);
	}
	say("redistributors passed:", steps);
}

static void start_redistributor(void)
{
	uintptr_t sgi = redistributor + GICR_SGI;

	write32(redistributor + GICR_WAKER, read32(redistributor + GICR_WAKER) & ~(uint32_t)WAKER_SLEEP);
	wait_for(redistributor + GICR_WAKER, WAKER_ASLEEP);
	write32(sgi + ICENABLER, UINT32_MAX);
	wait_for(redistributor + GICR_CTLR, GICR_RWP);
	write32(sgi + ICPENDR, UINT32_MAX);
	write32(sgi + IGROUPR, UINT32_MAX);
	write32(sgi + IGRPMODR, UINT32_MAX);
	for (uint32_t line = 0; line < 32; line += 4)
		write32(sgi + IPRIORITYR + line, DEFAULT_PRIORITIES);
	write32(sgi + ICFGR + 4, 0);
}

static void start_cpu_interface(void)
{
	WRITE_REGISTER(ICC_SRE_EL1, READ_REGISTER(ICC_SRE_EL1) | 7);
	expect(READ_REGISTER(ICC_SRE_EL1) & 1, "ICC_SRE_EL1", READ_REGISTER(ICC_SRE_EL1));
	WRITE_REGISTER(ICC_PMR_EL1, IDLE_PRIORITY);
	WRITE_REGISTER(ICC_IGRPEN1_EL1, 1);
}

static void enable_timer(void)
{
	uintptr_t sgi = redistributor + GICR_SGI;

	write32(sgi + ICENABLER, 1u << BH_VIRTUAL_TIMER_INTID);
	wait_for(redistributor + GICR_CTLR, GICR_RWP);
	write8(sgi + IPRIORITYR + BH_VIRTUAL_TIMER_INTID, 0xa0);
	write32(sgi + ISENABLER, 1u << BH_VIRTUAL_TIMER_INTID);
}

void foreign_interrupt(void)
{
	uint64_t intid = READ_REGISTER(ICC_IAR1_EL1);

	if (intid == BH_VIRTUAL_TIMER_INTID)
		interrupts++;
	else
		strays++;
	WRITE_REGISTER(CNTV_CTL_EL0, 2);
	__asm__ volatile("dsb sy");
	WRITE_REGISTER(ICC_EOIR1_EL1, intid);
}

/* Each time for longer, with nothing in between. */
static void sleep_from_timer_to_timer(void)
{
	for (uint32_t n = 1; n <= SLEEPS; n++) {
		uint64_t until = counter() + n * (BH_CLOCK_HZ / 2000);

		timer_at(until);
		while (interrupts < n)
			wait_for_interrupt();
		expect(counter() >= until, "woken too early by", until - counter());
	}
}

_Noreturn void foreign_main(uintptr_t argument)
{
	(void)argument;
	uart_start();
	expect(READ_REGISTER(CurrentEL) == 1 << 2, "CurrentEL", READ_REGISTER(CurrentEL));
	map_memory();
	say("booting at", (uintptr_t)foreign_main & ~UINT64_C(0xfffff));
	start_distributor();
	find_redistributor();
	start_redistributor();
	start_cpu_interface();
	enable_timer();
	interrupts_on();
	sleep_from_timer_to_timer();
	say("timer interrupts:", interrupts);
	say("others:", strays);
	power_off();
}
