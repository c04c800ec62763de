/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that C has no words for, and register bits that more than one file names. Any mode, any core.
 *
 * APM: AMD64 Architecture Programmer's Manual. SDM: Intel 64 and IA-32 Architectures Software Developer's Manual.
 */
#pragma once
#include <stdint.h>

/* APM vol. 2, 3.1.1 "CR0 Register", 3.1.3 "CR4 Register", 3.1.7 "Extended Feature Enable Register (EFER)". */
enum { CR0_PE = 1 << 0, CR0_ET = 1 << 4, CR0_NE = 1 << 5 };
#define CR0_NW (UINT64_C(1) << 29)
#define CR0_CD (UINT64_C(1) << 30)
#define CR0_PG (UINT64_C(1) << 31)
enum {
	CR4_PAE = 1 << 5,
	CR4_MCE = 1 << 6,
	CR4_PCE = 1 << 8,
	CR4_LA57 = 1 << 12,
	CR4_VMXE = 1 << 13,
	CR4_OSXSAVE = 1 << 18,
	CR4_SMEP = 1 << 20,
	CR4_PKE = 1 << 22
};
enum { EFER_SCE = 1 << 0, EFER_LME = 1 << 8, EFER_LMA = 1 << 10, EFER_NXE = 1 << 11, EFER_SVME = 1 << 12 };

/* SDM vol. 1, 13.3 "Enabling the XSAVE Feature Set and XSAVE-Enabled Features". */
enum { XCR0_X87 = 1 << 0, XCR0_SSE = 1 << 1, XCR0_AVX = 1 << 2, XCR0_AVX512 = 7 << 5, XCR0_PKRU = 1 << 9 };

/* APM vol. 2, Appendix A "MSR Cross-Reference"; SDM vol. 4, 2.1 "Architectural MSRs". */
enum {
	MSR_TSC = 0x10,
	MSR_APIC_BASE = 0x1b,
	MSR_BIOS_SIGN_ID = 0x8b,
	MSR_MTRRCAP = 0xfe,
	MSR_SYSENTER_CS = 0x174,
	MSR_SYSENTER_EIP = 0x176,
	MSR_MISC_ENABLE = 0x1a0,
	MSR_PAT = 0x277,
	MSR_MTRRDEFTYPE = 0x2ff,
};
#define MSR_EFER    0xc0000080u
#define MSR_STAR    0xc0000081u
#define MSR_SFMASK  0xc0000084u
#define MSR_FS_BASE 0xc0000100u
#define MSR_TSC_AUX 0xc0000103u

/* APM vol. 2, 8.2 "Vectors". */
enum { VECTOR_DB = 1, VECTOR_NMI = 2, VECTOR_BP = 3, VECTOR_OF = 4, VECTOR_UD = 6, VECTOR_GP = 13, VECTOR_AC = 17, VECTOR_MC = 18 };

static inline uint64_t x86_rdmsr(uint32_t msr)
{
	uint64_t low, high; /* in 64-bit mode the upper halves of both registers are cleared */

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return high << 32 | low;
}

static inline void x86_wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

#define X86_CONTROL_REGISTER(name)                                              \
	static inline uint64_t x86_read_##name(void)                            \
	{                                                                       \
		uint64_t value;                                                 \
                                                                                \
		__asm__ volatile("mov %%" #name ", %0" : "=r"(value));          \
		return value;                                                   \
	}                                                                       \
	static inline void x86_write_##name(uint64_t value)                     \
	{                                                                       \
		__asm__ volatile("mov %0, %%" #name : : "r"(value) : "memory"); \
	}
X86_CONTROL_REGISTER(cr0)
X86_CONTROL_REGISTER(cr2)
X86_CONTROL_REGISTER(cr4)
X86_CONTROL_REGISTER(dr6)
#undef X86_CONTROL_REGISTER

static inline void x86_xsetbv(uint32_t xcr, uint64_t value)
{
	__asm__ volatile("xsetbv" : : "c"(xcr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

/*
 * Every register that XSAVE knows, as after reset. SDM vol. 1, 13.6 "Processor Tracking of XSAVE-Managed State": a header of zeros
 * asks for initial values, of all but MXCSR, which is loaded. The monitor itself uses none of them.
 */
void x86_clear_extended(void);

struct x86_cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct x86_cpuid x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct x86_cpuid r;

	__asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(subleaf));
	return r;
}

/* The addresses; what enables them is in DR7. */
static inline void x86_clear_breakpoints(void)
{
	__asm__ volatile("mov %0, %%dr0\n\tmov %0, %%dr1\n\tmov %0, %%dr2\n\tmov %0, %%dr3" : : "r"(UINT64_C(0)));
}

static inline uint8_t x86_in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint32_t x86_in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void x86_out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline void x86_out32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port));
}
