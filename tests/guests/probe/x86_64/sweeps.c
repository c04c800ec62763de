/* SPDX-License-Identifier: Apache-2.0 */
/* Every model-specific register and every port. A write puts back what was read, or 0 where nothing can be. */
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "probe/sweep.h"
#include "x86.h"

static uint64_t read_msr(uint64_t number, uint64_t value)
{
	return x86_rdmsr((uint32_t)number);
}

static uint64_t write_msr(uint64_t number, uint64_t value)
{
	x86_wrmsr((uint32_t)number, value);
	return 0;
}

static bool msr_is_readable(uint64_t number)
{
	uint64_t value;

	return cpu_attempt(read_msr, number, 0, &value);
}

/* Without interrupts: between read and write, a handler might choose another value. */
static bool msr_is_writable(uint64_t number)
{
	bool enabled = cpu_interrupts_disable(), written;
	uint64_t value = 0, nothing;

	cpu_attempt(read_msr, number, 0, &value);
	written = cpu_attempt(write_msr, number, value, &nothing);
	cpu_interrupts_restore(enabled);
	return written;
}

/* SDM vol. 4, 2.1, and APM vol. 2, Appendix A: what permission maps cover, what hypervisors invent, and a sample of the rest. */
static const struct sweep_range msrs[] = {
	{ 0, 0x1fff, 1 },
	{ 0x40000000, 0x400000ff, 1 },
	{ 0xc0000000, 0xc0001fff, 1 },
	{ 0xc0010000, 0xc0011fff, 1 },
	{ 0x2000, 0xffffffff, 0x003ff1d3 },
	{ 0, 0, 0 },
};
static const uint64_t nothing_left_out[] = { SWEEP_END };
static const uint64_t reads_left_out[] = {
	0x839, /* the timer's current count: QEMU ends itself ("Bad icount read") where it counts instructions */
	SWEEP_END,
};
static const uint64_t writes_left_out[] = {
	0x839, /* a write reads first */
	0x830, /* ICR: sends; where to is another question, cases_interrupts.py */
	SWEEP_END,
};

/* A sandbox that may touch any port finds an empty bus. Only for one that tolerates: another is parked by the first. */
#define PORTS(bits, read, write)                                                                    \
	static bool in##bits##_finds(uint64_t port)                                                 \
	{                                                                                           \
		uint##bits##_t value;                                                               \
                                                                                                    \
		__asm__ volatile(read " %1, %0" : "=a"(value) : "Nd"((uint16_t)port));              \
		return value != UINT##bits##_MAX;                                                   \
	}                                                                                           \
	static bool out##bits##_changes(uint64_t port)                                              \
	{                                                                                           \
		__asm__ volatile(write " %0, %1" : : "a"((uint##bits##_t)0), "Nd"((uint16_t)port)); \
		return in##bits##_finds(port);                                                      \
	}
PORTS(8, "inb", "outb")
PORTS(16, "inw", "outw")
PORTS(32, "inl", "outl")

static const struct sweep_range ports[] = { { 0, 0xffff, 1 }, { 0, 0, 0 } };

const struct sweep arch_sweeps[] = {
	{ "rdmsr", msrs, reads_left_out, msr_is_readable },
	{ "wrmsr", msrs, writes_left_out, msr_is_writable },
	{ "in8", ports, nothing_left_out, in8_finds },
	{ "in16", ports, nothing_left_out, in16_finds },
	{ "in32", ports, nothing_left_out, in32_finds },
	{ "out8", ports, nothing_left_out, out8_changes },
	{ "out16", ports, nothing_left_out, out16_changes },
	{ "out32", ports, nothing_left_out, out32_changes },
	{ NULL, NULL, NULL, NULL },
};
