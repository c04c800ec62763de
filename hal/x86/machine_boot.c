/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up, boot core: quiet interrupt hardware, and how fast the common time base runs. */
#include "arch/arch.h"
#include "arch/x86_64/x86.h"
#include "board.h"
#include "hal/hal.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/apic/ioapic.h"

/* The two legacy controllers' interrupt mask registers. Intel 8259A data sheet, "Operation Command Words". */
enum { PIC1_IMR = 0x21, PIC2_IMR = 0xa1 };

void hal_machine_init(void)
{
	x86_out8(PIC1_IMR, 0xff);
	x86_out8(PIC2_IMR, 0xff);
	ioapic_mask_all();
	apic_init();
	apic_stop_others();
}

uint64_t hal_machine_core_id(void)
{
	return x86_rdmsr(APIC_ID);
}

/* ACPI specification, 4.8.3.3 "Power Management Timer (PM_TMR)": 3.579545 MHz, at least 24 bits. */
enum { PM_TIMER_HZ = 3579545, PM_TIMER_MASK = 0xffffff, PM_TIMER_10_MS = PM_TIMER_HZ / 100 };
enum { READINGS = 8, SLEEPS = 1000 };

struct moment {
	uint32_t pm_ticks;
	uint64_t tsc;
};

/* Both clocks at once: of a few readings, the one that was disturbed least. */
static struct moment now(void)
{
	struct moment best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (unsigned n = 0; n < READINGS; n++) {
		uint64_t before = arch_counter();
		uint32_t ticks = x86_in32(board.pc.pm_timer_port);
		uint64_t took = arch_counter() - before;

		if (took < shortest) {
			shortest = took;
			best = (struct moment){ .pm_ticks = ticks, .tsc = before + took / 2 };
		}
	}
	return best;
}

static uint32_t ticks_between(uint32_t start, uint32_t end)
{
	return (end - start) & PM_TIMER_MASK;
}

/* Sleeps are only there to pass time: how long they take is read, not assumed. 0: the timer does not run. */
uint64_t hal_machine_clock_hz(void)
{
	struct moment start = now(), end;
	uint32_t ticks;

	for (unsigned n = 0; n < SLEEPS && ticks_between(start.pm_ticks, x86_in32(board.pc.pm_timer_port)) < PM_TIMER_10_MS; n++)
		apic_sleep();
	end = now();
	ticks = ticks_between(start.pm_ticks, end.pm_ticks);
	return ticks ? (end.tsc - start.tsc) * PM_TIMER_HZ / ticks : 0;
}
