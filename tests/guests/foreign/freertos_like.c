/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks as FreeRTOS' ports for Cortex-A do: a critical section raises the priority mask of the GIC's CPU interface and leaves the
 * processor's own mask open, so that what is more urgent still comes. A tick of 1 ms, two critical sections of 2.5 ms: none of their ticks
 * may be taken inside, one pending after each; an interrupt above the mask must be taken at once. GICv3 (ICC_PMR_EL1) and GICv2 (GICC_PMR).
 */
#include "foreign.h"

enum { SECTIONS = 2, TICKS_BEFORE = 3, URGENT_SGI = 1 };
enum { ISENABLER = 0x100, IPRIORITYR = 0x400, GICD_SGIR = 0xf00 };

#ifdef BH_GICC_BASE
enum { UNIQUE_PRIORITIES = 256 };
enum { GICC_CTLR = 0x00, GICC_PMR = 0x04, GICC_BPR = 0x08, GICC_IAR = 0x0c, GICC_EOIR = 0x10, GICC_RPR = 0x14 };
static const uintptr_t banked = BH_GICD_BASE;

static void start_cpu_interface(void)
{
	write32(BH_GICC_BASE + GICC_BPR, 0);
	write32(BH_GICC_BASE + GICC_CTLR, 1);
	write32(BH_GICD_BASE, 1);
}

static void mask_below(uint32_t priority)
{
	write32(BH_GICC_BASE + GICC_PMR, priority);
	barrier();
}

static uint32_t mask(void)
{
	return read32(BH_GICC_BASE + GICC_PMR);
}

static uint32_t running_priority(void)
{
	return read32(BH_GICC_BASE + GICC_RPR);
}

static uint32_t acknowledge(void)
{
	return read32(BH_GICC_BASE + GICC_IAR);
}

static void end(uint32_t interrupt)
{
	write32(BH_GICC_BASE + GICC_EOIR, interrupt);
}

/* As the port for Cortex-A9 counts them, by a priority that can be read back. */
static uint32_t priorities(void)
{
	write8(BH_GICD_BASE + IPRIORITYR, 0xff);
	return 256 / (256 - read8(BH_GICD_BASE + IPRIORITYR));
}

static void interrupt_self(void)
{
	write32(BH_GICD_BASE + GICD_SGIR, 2 << 24 | URGENT_SGI);
}
#else
enum { UNIQUE_PRIORITIES = 32, GICR_WAKER = 0x14, WAKER_ASLEEP = 1 << 2 };
static const uintptr_t banked = BH_GICR0_BASE + 0x10000;

static void start_cpu_interface(void)
{
	write32(BH_GICD_BASE, 1 << 4 | 1 << 1);
	write32(BH_GICR0_BASE + GICR_WAKER, 0);
	while (read32(BH_GICR0_BASE + GICR_WAKER) & WAKER_ASLEEP)
		;
	WRITE_REGISTER(ICC_SRE_EL1, 7);
	WRITE_REGISTER(ICC_BPR1_EL1, 0);
	WRITE_REGISTER(ICC_IGRPEN1_EL1, 1);
}

static void mask_below(uint32_t priority)
{
	WRITE_REGISTER(ICC_PMR_EL1, priority);
	barrier();
}

static uint32_t mask(void)
{
	return (uint32_t)READ_REGISTER(ICC_PMR_EL1);
}

static uint32_t running_priority(void)
{
	return (uint32_t)READ_REGISTER(ICC_RPR_EL1);
}

static uint32_t acknowledge(void)
{
	return (uint32_t)READ_REGISTER(ICC_IAR1_EL1);
}

static void end(uint32_t interrupt)
{
	WRITE_REGISTER(ICC_EOIR1_EL1, interrupt);
}

/* ICC_CTLR_EL1.PRIbits; the distributor may have more bits than the CPU interface compares. */
static uint32_t priorities(void)
{
	return UINT32_C(2) << (READ_REGISTER(ICC_CTLR_EL1) >> 8 & 7);
}

static void interrupt_self(void)
{
	uint64_t id = READ_REGISTER(MPIDR_EL1);

	WRITE_REGISTER(ICC_SGI1R_EL1, (id >> 8 & 0xff) << 16 | URGENT_SGI << 24 | UINT64_C(1) << (id & 15));
}
#endif

enum {
	STEP = 256 / UNIQUE_PRIORITIES,
	API_MASK = (UNIQUE_PRIORITIES / 2 + UNIQUE_PRIORITIES / 16) * STEP, /* configMAX_API_CALL_INTERRUPT_PRIORITY: 18 of 32 */
	TICK_PRIORITY = 256 - 2 * STEP,                                     /* the lowest that can be used */
	URGENT_PRIORITY = API_MASK - STEP,
	OPEN = 0xff,
};

static volatile uint32_t ticks, urgent, strays, wrong_priorities;
static uint64_t next_tick;

static void take_tick(void)
{
	ticks++;
	wrong_priorities += running_priority() != TICK_PRIORITY;
	next_tick += BH_CLOCK_HZ / 1000;
	if (next_tick <= counter()) /* as after a critical section of several */
		next_tick = counter() + BH_CLOCK_HZ / 1000;
	timer_at(next_tick);
}

void foreign_interrupt(void)
{
	uint32_t interrupt = acknowledge(), number = interrupt & 0x3ff;

	if (number == BH_VIRTUAL_TIMER_INTID)
		take_tick();
	else if (number == URGENT_SGI)
		urgent++;
	else
		strays++;
	end(interrupt);
}

static void set_mask(uint32_t priority)
{
	interrupts_off();
	mask_below(priority);
	interrupts_on();
}

/* configSETUP_TICK_INTERRUPT */
static void start_tick(void)
{
	expect(priorities() == UNIQUE_PRIORITIES, "configUNIQUE_INTERRUPT_PRIORITIES", priorities());
	write8(banked + IPRIORITYR + URGENT_SGI, URGENT_PRIORITY);
	write8(banked + IPRIORITYR + BH_VIRTUAL_TIMER_INTID, TICK_PRIORITY);
	write32(banked + ISENABLER, 1u << BH_VIRTUAL_TIMER_INTID | 1 << URGENT_SGI);
	next_tick = counter() + BH_CLOCK_HZ / 1000;
	timer_at(next_tick);
}

/* Its ticks, taken before its end. */
static uint32_t stay_in_critical_section(void)
{
	uint64_t until = counter() + BH_CLOCK_HZ / 1000 * 5 / 2;
	uint32_t before, urgent_before = urgent;

	set_mask(API_MASK);
	before = ticks;
	expect(mask() == API_MASK, "the mask reads", mask());
	interrupt_self();
	while (counter() < until)
		;
	before = ticks - before;
	expect(urgent == urgent_before + 1, "urgent interrupts in the critical section", urgent - urgent_before);
	set_mask(OPEN);
	return before;
}

_Noreturn void foreign_main(uintptr_t argument)
{
	uint32_t inside = 0;

	(void)argument;
	uart_start();
	start_cpu_interface();
	start_tick();
	set_mask(OPEN);
	while (ticks < TICKS_BEFORE)
		wait_for_interrupt();
	for (int n = 0; n < SECTIONS; n++) {
		uint32_t before = ticks;

		inside += stay_in_critical_section();
		while (ticks == before)
			wait_for_interrupt();
	}
	say("ticks in critical sections:", inside);
	say("urgent:", urgent);
	say("strays:", strays);
	say("at another priority than their own:", wrong_priorities);
	power_off();
}
