/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities: IHI 0048, 3.3 "Interrupt prioritization"; IHI 0069, 4.8 "Interrupt prioritization". */
#include "gic_order.h"

#include <stdatomic.h>

#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"

/* IHI 0048, 4.1.2 "Distributor register map"; the SGI frame of a GICv3 redistributor has the first two. */
enum { ISPENDR = 0x200, IPRIORITYR = 0x400, ITARGETSR = 0x800, SPENDSGIR = 0xf20, SGI_FRAME = 0x10000 };
enum { LEFT = 2, RIGHT = 3, URGENT = 0x40, PATIENT = 0x80, POLLS = 1000000, OPEN = 0xf0, MASKED_NS = 2500000 };

static uint32_t came[2], running[2]; /* running: asked for by gic_mask alone, as it may be an exit */
static bool asks_running;
static _Atomic uint32_t arrivals;

static void note(uint32_t number)
{
	uint32_t n = atomic_load_explicit(&arrivals, memory_order_relaxed);

	if (n < 2) {
		came[n] = number;
		running[n] = asks_running ? irq_running_priority() : 0;
	}
	atomic_store_explicit(&arrivals, n + 1, memory_order_release);
}

static void note_left(struct cpu_frame *frame)
{
	note(LEFT);
}

static void note_right(struct cpu_frame *frame)
{
	note(RIGHT);
}

/* Where this core's SGIs are set up: GICv3 has a frame for them, GICv2 banks the distributor. */
static uint64_t frame(void)
{
	const struct bh_grant *redistributor = info_find(BH_GRANT_IRQCHIP, "gicv3-redist");

	return redistributor ? redistributor->gpa + SGI_FRAME : info_find(BH_GRANT_IRQCHIP, "gicv2-dist")->gpa;
}

/* GICv2 keeps who sent an SGI, by CPU interface; the first target register names one's own. */
static void pend(uint64_t base, uint32_t number)
{
	if (info_find(BH_GRANT_IRQCHIP, "gicv3-redist"))
		arch_mmio_write32(base + ISPENDR, 1U << number);
	else
		arch_mmio_write8(base + SPENDSGIR + number, arch_mmio_read8(base + ITARGETSR));
}

static void await_both(void)
{
	for (unsigned polls = 0; polls < POLLS && atomic_load_explicit(&arrivals, memory_order_acquire) < 2; polls++)
		arch_relax();
}

/* Which of the two is urgent changes every second run, which is pending first in between. */
static bool comes_in_order(uint64_t base, uint64_t run)
{
	uint32_t urgent = run & 2 ? LEFT : RIGHT, patient = LEFT + RIGHT - urgent;
	uint32_t first = run & 1 ? urgent : patient;

	arch_mmio_write8(base + IPRIORITYR + urgent, URGENT);
	arch_mmio_write8(base + IPRIORITYR + patient, PATIENT);
	atomic_store_explicit(&arrivals, 0, memory_order_relaxed);
	cpu_interrupts_disable();
	pend(base, first);
	pend(base, LEFT + RIGHT - first);
	arch_barrier();
	cpu_interrupts_enable();
	await_both();
	return came[0] == urgent && came[1] == patient && atomic_load_explicit(&arrivals, memory_order_relaxed) == 2;
}

static void attach(void)
{
	static bool attached;

	if (attached)
		return;
	irq_attach_local(LEFT, note_left);
	irq_attach_local(RIGHT, note_right);
	attached = true;
}

uint64_t gic_order(uint64_t runs)
{
	uint64_t good = 0, base = frame();

	attach();
	for (uint64_t run = 0; run < runs; run++)
		good += comes_in_order(base, run);
	return good;
}

static void wait_masked(void)
{
	uint64_t start = arch_counter();

	while (arch_counter() - start < clock_from_ns(MASKED_NS))
		arch_relax();
}

uint64_t gic_mask(uint64_t mask)
{
	uint64_t base = frame();
	uint32_t reads, masked;

	attach();
	arch_mmio_write8(base + IPRIORITYR + LEFT, URGENT);
	arch_mmio_write8(base + IPRIORITYR + RIGHT, PATIENT);
	asks_running = true;
	atomic_store_explicit(&arrivals, 0, memory_order_relaxed);
	reads = irq_mask((uint32_t)mask);
	pend(base, LEFT);
	pend(base, RIGHT);
	wait_masked();
	masked = atomic_load_explicit(&arrivals, memory_order_acquire);
	irq_mask(OPEN);
	await_both();
	asks_running = false;
	return running[1] << 24 | running[0] << 16 | atomic_load_explicit(&arrivals, memory_order_acquire) << 12 | masked << 8 | reads;
}
