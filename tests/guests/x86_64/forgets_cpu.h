/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that docs/registers-x86_64.md lets a guest write without ending its life, and the processor's own. */
#pragma once
#include <stddef.h>

#include "forgets.h"

static const char *const general_names[] = {
	"RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "RFLAGS",
};

/* clang-format off */

/* Number and what it takes: another type of memory in the PAT, EFER with SCE and NXE, interrupts that are masked, the timer for years. */
#define MSRS(X)                                                                                                           \
	X(SYSENTER_CS, 0x174, 0xc2e0) X(SYSENTER_ESP, 0x175, LEFT) X(SYSENTER_EIP, 0x176, LEFT) X(STAR, 0xc0000081, LEFT)         \
	X(LSTAR, 0xc0000082, LEFT) X(CSTAR, 0xc0000083, LEFT) X(SFMASK, 0xc0000084, LEFT) X(FS_BASE, 0xc0000100, LEFT)         \
	X(GS_BASE, 0xc0000101, LEFT) X(KernelGSbase, 0xc0000102, LEFT) X(TSC_AUX, 0xc0000103, LEFT)                          \
	X(PAT, 0x277, 0x0606060606060600) X(EFER, 0xc0000080, 0xd01) X(SVR, 0x80f, 0x155) X(TPR, 0x808, 0x50) X(LVT_TIMER, 0x832, 0x10055) \
	X(LVT_LINT0, 0x835, 0x10055) X(LVT_LINT1, 0x836, 0x10055) X(LVT_ERROR, 0x837, 0x10055) X(TIMER_DIVIDE, 0x83e, 0xa) \
	X(TIMER_INITIAL, 0x838, 0x7fffffff)

/*
 * Of these a few bits are changed: CR0's WP and AM, CR3's PCD and PWT, CR4's PGE and OSFXSR, DR6's B0, DR7's LE; and selectors of data become
 * null, or null ones 0x18.
 */
#define PROCESSOR_REGISTERS(X)                                                                                           \
	X(cr2, LEFT) X(cr0, 0x50000) X(cr3, 0x18) X(cr4, 0x280) X(dr0, LEFT) X(dr1, LEFT) X(dr2, LEFT) X(dr3, LEFT) X(dr6, 1) X(dr7, 0x100) \
	X(ds, 0x18) X(es, 0x18) X(fs, 0x18) X(gs, 0x18) X(ss, 0x18)

/* clang-format on */

#define PROCESSOR_ACCESS(name, left)                                                           \
	static uint64_t read_##name(void)                                                      \
	{                                                                                      \
		uint64_t value;                                                                \
                                                                                               \
		__asm__ volatile("mov %%" #name ", %0" : "=r"(value));                         \
		return value;                                                                  \
	}                                                                                      \
	static void write_##name(uint64_t bits)                                                \
	{                                                                                      \
		__asm__ volatile("mov %0, %%" #name : : "r"(read_##name() ^ bits) : "memory"); \
	}
PROCESSOR_REGISTERS(PROCESSOR_ACCESS)

#define MSR_ACCESS(name, number, left)                                                                                    \
	static uint64_t read_##name(void)                                                                                 \
	{                                                                                                                 \
		uint32_t low, high;                                                                                       \
                                                                                                                          \
		__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));                                          \
		return (uint64_t)high << 32 | low;                                                                        \
	}                                                                                                                 \
	static void write_##name(uint64_t value)                                                                          \
	{                                                                                                                 \
		__asm__ volatile("wrmsr" : : "c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory"); \
	}
MSRS(MSR_ACCESS)

/* Written last, with a limit of 0. */
struct descriptor_table {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

#define TABLE_REGISTERS(X) X(gdt, LEFT) X(idt, LEFT)
#define TABLE_ACCESS(name, left)                                  \
	static uint64_t read_##name(void)                         \
	{                                                         \
		struct descriptor_table table;                    \
                                                                  \
		__asm__ volatile("s" #name " %0" : "=m"(table));  \
		return table.base << 16 | table.limit;            \
	}                                                         \
	static void write_##name(uint64_t base)                   \
	{                                                         \
		struct descriptor_table table = { 0, base };      \
                                                                  \
		__asm__ volatile("l" #name " %0" : : "m"(table)); \
	}
TABLE_REGISTERS(TABLE_ACCESS)

/* clang-format off */
#define MSR_ROW(name, number, left) ROW(name, left)
static const struct row rows[] = {
	PROCESSOR_REGISTERS(ROW)
	MSRS(MSR_ROW)
	TABLE_REGISTERS(ROW)
};
/* clang-format on */

static inline void forgets_prepare(const struct bh_info *info) {}
