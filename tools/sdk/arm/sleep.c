/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleep until a time (bulkhead.h), by the virtual timer: WFI ends when its interrupt is pending, masked or not (ARM ARM D1 "The AArch64
 * System Level Programmers' Model", Wait for Interrupt; ARMv7 ARM B1.8.14 "Wait For Interrupt"). Nobody takes the interrupt: its line drops
 * with the timer. GICv2: Arm IHI 0048; GICv3: Arm IHI 0069.
 */
#include <stdbool.h>
#include <stddef.h>

#include "arm_cpu.h"
#include "bulkhead.h"

enum { TIMER_INTID = 27 /* BSA, "PPI assignments": EL1 virtual timer */, PRIORITY = 0xa0, MASK = 0xf0 };
/* Distributor, and of a core's own lines the redistributor's second frame: IHI 0048 4.1.2, IHI 0069 12.9 and 12.11 */
enum {
	GICD_CTLR = 0x000,
	IGROUPR0 = 0x080,
	ISENABLER0 = 0x100,
	IPRIORITYR = 0x400,
	CTLR_ENABLE = 1 << 0,
	CTLR_ENABLE_GRP1 = 1 << 1,
	CTLR_ARE = 1 << 4
};
/* IHI 0048 4.1.3 "CPU interface register map" */
enum { GICC_CTLR = 0x00, GICC_PMR = 0x04 };
/* IHI 0069 12.11 "The GIC Redistributor register descriptions" */
enum { GICR_TYPER = 0x0008, GICR_WAKER = 0x0014, GICR_SGI_FRAME = 0x10000, GICR_BYTES = 0x20000 };
enum { TYPER_VLPIS = 1 << 1, TYPER_LAST = 1 << 4, WAKER_PROCESSOR_SLEEP = 1 << 1, WAKER_CHILDREN_ASLEEP = 1 << 2, WAKE_POLLS = 1000000 };

/* The timer's line is let in, of `lines`: a distributor, or a redistributor's second frame. */
static void open_line(uint64_t lines)
{
	const uint64_t priority = lines + IPRIORITYR + TIMER_INTID / 4 * 4;
	const unsigned shift = TIMER_INTID % 4 * 8;

	mmio_write(priority, (mmio_read(priority) & ~(0xffU << shift)) | (uint32_t)PRIORITY << shift);
	mmio_write(lines + ISENABLER0, 1U << TIMER_INTID);
}

static void start_gicv2(uint64_t distributor, uint64_t cpu_interface)
{
	mmio_write(distributor + GICD_CTLR, CTLR_ENABLE);
	open_line(distributor);
	mmio_write(cpu_interface + GICC_PMR, MASK);
	mmio_write(cpu_interface + GICC_CTLR, CTLR_ENABLE);
}

/* This core's, in a grant that may hold several. 0: it is not there. */
static uint64_t own_redistributor(const struct bh_grant *grant)
{
	uint64_t frame = grant->gpa;

	while (frame < grant->gpa + grant->size) {
		const uint32_t type = mmio_read(frame + GICR_TYPER);

		if (mmio_read(frame + GICR_TYPER + 4) == core_affinity())
			return frame;
		if (type & TYPER_LAST)
			break;
		frame += type & TYPER_VLPIS ? 2 * GICR_BYTES : GICR_BYTES;
	}
	return 0;
}

static void start_redistributor(uint64_t frame)
{
	const uint64_t waker = frame + GICR_WAKER, lines = frame + GICR_SGI_FRAME;

	mmio_write(waker, mmio_read(waker) & ~(uint32_t)WAKER_PROCESSOR_SLEEP);
	for (uint32_t n = 0; n < WAKE_POLLS && mmio_read(waker) & WAKER_CHILDREN_ASLEEP; n++)
		;
	mmio_write(lines + IGROUPR0, mmio_read(lines + IGROUPR0) | 1U << TIMER_INTID);
	open_line(lines);
}

/* Grants of the controller are its distributor and its redistributors. */
static void start_gicv3(const struct bh_info *info, const struct bh_grant *distributor)
{
	uint64_t frame = 0;

	mmio_write(distributor->gpa + GICD_CTLR, CTLR_ARE);
	mmio_write(distributor->gpa + GICD_CTLR, CTLR_ARE | CTLR_ENABLE_GRP1);
	for (uint32_t n = 0; n < info->grant_count && !frame; n++)
		if (info->grants[n].kind == BH_GRANT_IRQCHIP && &info->grants[n] != distributor)
			frame = own_redistributor(&info->grants[n]);
	if (frame)
		start_redistributor(frame);
	gic_registers_start(MASK);
}

static void start(const struct bh_info *info)
{
	static bool started;
	const struct bh_grant *distributor = bulkhead_grant(info, BH_GRANT_IRQCHIP, "gicv2-dist");
	const struct bh_grant *cpu_interface = bulkhead_grant(info, BH_GRANT_IRQCHIP, "gicv2-cpu");

	if (started)
		return;
	started = true;
	if (distributor && cpu_interface)
		start_gicv2(distributor->gpa, cpu_interface->gpa);
	distributor = bulkhead_grant(info, BH_GRANT_IRQCHIP, "gicv3-dist");
	if (distributor)
		start_gicv3(info, distributor);
}

void bulkhead_sleep_until(const struct bh_info *info, uint64_t ticks)
{
	start(info);
	timer_set(ticks);
	while ((int64_t)(bulkhead_clock() - ticks) < 0)
		bulkhead_sleep();
	timer_clear();
}
