/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local APIC in x2APIC mode: SDM vol. 3A, 11.12 "Extended xAPIC (x2APIC)"; APM vol. 2, 16.11. A monitor routes the lines
 * of devices before the sandbox starts; on the bare machine, where an IOAPIC is granted, the kernel does it.
 */
#include "kernel/drivers/x2apic.h"

#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "timer_hw.h"

enum {
	MSR_X2APIC_TPR = 0x808,
	MSR_X2APIC_SIVR = 0x80f,
	MSR_X2APIC_ISR0 = 0x810,
	MSR_X2APIC_ISR7 = 0x817,
	MSR_X2APIC_ICR = 0x830,
	MSR_X2APIC_LVT_LINT0 = 0x835,
	MSR_X2APIC_LVT_LINT1 = 0x836,
	MSR_X2APIC_LVT_ERROR = 0x837
};
enum { APIC_BASE_EXTD = 1 << 10, APIC_BASE_ENABLE = 1 << 11, SIVR_ENABLE = 1 << 8, LVT_MASKED = 1 << 16, VECTOR_SPURIOUS = 0xff };
enum { ICR_ASSERT = 1 << 14 };
enum { ISR7_VECTOR_SPURIOUS = 1U << 31 };

/* 82093AA I/O APIC datasheet, 3.2 "I/O APIC Registers" */
enum { IOREGSEL = 0x00, IOWIN = 0x10, IOREDTBL = 0x10, IOREDTBL_LEVEL_ACTIVE_LOW = 1 << 15 | 1 << 13 };
/* 8259A: operation control word 1 of both */
enum { PIC_MASTER_MASK = 0x21, PIC_SLAVE_MASK = 0xa1 };

static void ioapic_write(uint64_t base, uint32_t index, uint32_t value)
{
	arch_mmio_write32(base + IOREGSEL, index);
	arch_mmio_write32(base + IOWIN, value);
}

static void ioapic_route(uint64_t base, const struct bh_grant *grant)
{
	uint32_t entry = IOREDTBL + 2 * grant->line;

	ioapic_write(base, entry + 1, 0); /* to APIC 0, where a bare kernel runs */
	ioapic_write(base, entry, grant->vector | (grant->flags & 1 ? IOREDTBL_LEVEL_ACTIVE_LOW : 0));
}

static const struct bh_grant *ioapic(void)
{
	return info_find(BH_GRANT_IRQCHIP, "ioapic");
}

static void x2apic_init_core(void)
{
	uint64_t apic_base = x86_rdmsr(MSR_APIC_BASE);

	if (!(apic_base & APIC_BASE_EXTD))
		x86_wrmsr(MSR_APIC_BASE, apic_base | APIC_BASE_EXTD | APIC_BASE_ENABLE);
	x86_wrmsr(MSR_X2APIC_LVT_LINT0, LVT_MASKED);
	x86_wrmsr(MSR_X2APIC_LVT_LINT1, LVT_MASKED);
	x86_wrmsr(MSR_X2APIC_LVT_ERROR, LVT_MASKED);
	x86_wrmsr(MSR_X2APIC_TPR, 0);
	x86_wrmsr(MSR_X2APIC_SIVR, SIVR_ENABLE | VECTOR_SPURIOUS);
}

static void x2apic_init(void)
{
	if (ioapic()) { /* firmware has been here, too */
		x86_out8(PIC_MASTER_MASK, 0xff);
		x86_out8(PIC_SLAVE_MASK, 0xff);
	}
	x2apic_init_core();
}

/* WRMSR to the x2APIC does not wait for earlier stores. SDM vol. 3A, 11.12.3 "MSR Access in x2APIC Mode". */
void x2apic_command(unsigned slot, uint32_t command)
{
	__asm__ volatile("mfence\n\tlfence" ::: "memory");
	x86_wrmsr(MSR_X2APIC_ICR, info->hardware_id[slot] << 32 | ICR_ASSERT | command);
}

static void x2apic_send_ipi(unsigned slot)
{
	x2apic_command(slot, VECTOR_IPI);
}

/* What is local is let in by its own vector table entry. */
static void x2apic_enable_local(uint32_t number) {}

static uint32_t x2apic_enable_device(const struct bh_grant *grant)
{
	if (ioapic())
		ioapic_route(ioapic()->gpa, grant);
	return grant->vector;
}

/* SDM vol. 3A, 11.9 "Spurious Interrupt": it is not in service, and wants no end. Somebody's interrupt at its vector is. */
static bool is_spurious(uint32_t vector)
{
	return vector == VECTOR_SPURIOUS && !(x86_rdmsr(MSR_X2APIC_ISR7) & ISR7_VECTOR_SPURIOUS);
}

uint32_t x2apic_in_service(void)
{
	for (uint32_t n = MSR_X2APIC_ISR7; n >= MSR_X2APIC_ISR0; n--) {
		uint32_t bits = (uint32_t)x86_rdmsr(n);

		if (bits)
			return 32 * (n - MSR_X2APIC_ISR0) + 31 - (uint32_t)__builtin_clz(bits);
	}
	return 0;
}

static void x2apic_serve(struct cpu_frame *frame, uint32_t vector)
{
	if (is_spurious(vector))
		return;
	irq_dispatch(frame, vector);
	x86_wrmsr(MSR_X2APIC_EOI, 0);
}

const struct irq_controller x2apic = {
	.grant = "x2apic",
	.numbers_in_hex = true,
	.ipi = VECTOR_IPI,
	.notice = BH_NOTICE_VECTOR,
	.init = x2apic_init,
	.init_core = x2apic_init_core,
	.enable_local = x2apic_enable_local,
	.enable_device = x2apic_enable_device,
	.send_ipi = x2apic_send_ipi,
	.serve = x2apic_serve,
};
