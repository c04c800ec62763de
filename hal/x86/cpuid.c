/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: what a sandbox sees of its processor. A table of what may be seen; leaves without a row read as zeros, so a
 * feature that this text does not know is a feature that the guest does not have. Then the few answers that depend on the
 * sandbox or on its state.
 *
 * APM vol. 3, Appendix E "Obtaining Processor Information Via the CPUID Instruction"; SDM vol. 2A, "CPUID".
 */
#include "arch/x86_64/x86.h"
#include "hal/x86/core.h"

#define ALL UINT32_MAX
#define BIT(n) (UINT32_C(1) << (n))
#define BITS(first, last) (ALL >> (31 - (last)) & ALL << (first))

/* Leaf 1. Not: debug store, MONITOR, VMX, SMX, EIST, thermal and performance controls, TSC deadline; MCE and MCA; HTT. */
#define FEATURES_ECX (ALL & ~(BITS(2, 8) | BIT(11) | BITS(14, 16) | BIT(18) | BIT(24) | BIT(27) | BIT(31)))
#define FEATURES_EDX (ALL & ~(BIT(7) | BIT(14) | BIT(21) | BIT(22) | BITS(28, 31)))
/* Leaf 7. Not: TSC_ADJUST, SGX, HLE, RTM, resource control, MPX, processor trace. */
#define STRUCTURED_EBX (ALL & ~(BIT(1) | BIT(2) | BIT(4) | BIT(11) | BIT(12) | BIT(14) | BIT(15) | BIT(22) | BIT(25)))
/* Only: AVX-512 and vector extensions, UMIP, PKU, RDPID, CLDEMOTE, MOVDIRI, MOVDIR64B. */
#define STRUCTURED_ECX (BITS(0, 3) | BIT(6) | BITS(8, 12) | BIT(14) | BIT(22) | BIT(25) | BIT(27) | BIT(28))
/* Only: AVX-512 extensions, FSRM, MD_CLEAR, SERIALIZE. */
#define STRUCTURED_EDX (BITS(2, 4) | BIT(8) | BIT(10) | BIT(14) | BIT(23))
/* Leaf 80000001. Only: LAHF, AltMovCr8, ABM, SSE4A, MisAlignSse, 3DNowPrefetch, XOP, FMA4, TBM. Not: MCE, MCA, FFXSR. */
#define EXTENDED_ECX (BIT(0) | BITS(4, 8) | BIT(11) | BIT(16) | BIT(21))
#define EXTENDED_EDX (ALL & ~(BIT(7) | BIT(14) | BIT(25)))

/* Bits of a leaf that pass. */
static const struct view {
	uint32_t leaf;
	struct x86_cpuid pass;
} views[] = {
	{ 0x00000000, { ALL, ALL, ALL, ALL } },            /* vendor */
	{ 0x00000001, { ALL, 0xff00ffff, FEATURES_ECX, FEATURES_EDX } },
	{ 0x00000002, { ALL, ALL, ALL, ALL } },            /* caches */
	{ 0x00000004, { 0x00003fff, ALL, ALL, ALL } },     /* caches, shared with nobody */
	{ 0x00000006, { BIT(2), 0, 0, 0 } },               /* ARAT: the timer never stops */
	{ 0x00000007, { 0, STRUCTURED_EBX, STRUCTURED_ECX, STRUCTURED_EDX } },
	{ 0x0000000d, { ALL, ALL, ALL, ALL } },            /* XSAVE */
	{ 0x00000015, { ALL, ALL, ALL, 0 } },              /* TSC and crystal */
	{ 0x00000016, { ALL, ALL, ALL, 0 } },              /* frequencies */
	{ 0x80000000, { ALL, ALL, ALL, ALL } },
	{ 0x80000001, { ALL, ALL, EXTENDED_ECX, EXTENDED_EDX } },
	{ 0x80000002, { ALL, ALL, ALL, ALL } },            /* name */
	{ 0x80000003, { ALL, ALL, ALL, ALL } },
	{ 0x80000004, { ALL, ALL, ALL, ALL } },
	{ 0x80000005, { ALL, ALL, ALL, ALL } },            /* caches */
	{ 0x80000006, { ALL, ALL, ALL, ALL } },
	{ 0x80000007, { 0, 0, 0, BIT(8) } },               /* TscInvariant */
	{ 0x80000008, { ALL, BIT(0) | BIT(2), 0, 0 } },    /* address sizes; CLZERO, RstrFpErrPtrs */
};

static struct x86_cpuid view(uint32_t leaf, uint32_t subleaf)
{
	for (size_t n = 0; n < sizeof(views) / sizeof(views[0]); n++)
		if (views[n].leaf == leaf) {
			const struct x86_cpuid *pass = &views[n].pass;
			struct x86_cpuid is = x86_cpuid(leaf, subleaf);

			return (struct x86_cpuid){ is.eax & pass->eax, is.ebx & pass->ebx, is.ecx & pass->ecx, is.edx & pass->edx };
		}
	return (struct x86_cpuid){ 0 };
}

enum {
	LEAF_FEATURES = 1, LEAF_STRUCTURED = 7, LEAF_TOPOLOGY = 0xb, LEAF_XSAVE = 0xd, LEAF_HYPERVISOR = 0x40000000,
	LEVEL_SMT = 0x100, LEVEL_CORE = 0x200, PACKAGE_BITS = 8,
};
#define FEATURE_HYPERVISOR BIT(31)
#define FEATURE_OSXSAVE BIT(27)
#define FEATURE_OSPKE BIT(4)

/* Own cores only, one package, no siblings. SDM vol. 2A, CPUID leaf 0BH. */
static struct x86_cpuid topology(const struct hal_core *core, uint32_t level)
{
	struct x86_cpuid r = { .ecx = level & 0xff, .edx = core->partition->apic_id[core->slot] };

	if (level == 0)
		r = (struct x86_cpuid){ .ebx = 1, .ecx = level | LEVEL_SMT, .edx = r.edx };
	if (level == 1)
		r = (struct x86_cpuid){ .eax = PACKAGE_BITS, .ebx = core->partition->core_count, .ecx = level | LEVEL_CORE, .edx = r.edx };
	return r;
}

/* The state that software reads back through CPUID is the guest's. APM vol. 2, 3.1.3: CR4.OSXSAVE, CR4.PKE. */
static struct x86_cpuid features(const struct hal_core *core, struct x86_cpuid r)
{
	r.ebx |= core->partition->core_count << 16;
	r.ecx |= FEATURE_HYPERVISOR;
	if (x86_vendor->get(core, X86_CR4) & CR4_OSXSAVE)
		r.ecx |= FEATURE_OSXSAVE;
	return r;
}

static struct x86_cpuid answer(const struct hal_core *core, uint32_t leaf, uint32_t subleaf)
{
	struct x86_cpuid r = view(leaf, subleaf);

	switch (leaf) {
	case LEAF_FEATURES:
		return features(core, r);
	case LEAF_STRUCTURED:
		if (subleaf)
			return (struct x86_cpuid){ 0 };
		if (x86_vendor->get(core, X86_CR4) & CR4_PKE)
			r.ecx |= FEATURE_OSPKE;
		break;
	case LEAF_TOPOLOGY:
		return topology(core, subleaf);
	case LEAF_XSAVE: /* XSAVES and IA32_XSS are not offered */
		if (subleaf == 1)
			return (struct x86_cpuid){ .eax = r.eax & 7, .ebx = r.ebx };
		break;
	case LEAF_HYPERVISOR: /* "KVMKVMKVM", with no feature behind it: kernels then accept the x2APIC as it is */
		return (struct x86_cpuid){ LEAF_HYPERVISOR + 1, 0x4b4d564b, 0x564b4d56, 0x4d };
	}
	return r;
}

enum hal_action x86_emulate_cpuid(struct hal_core *core, const struct hal_exit *exit)
{
	struct x86_registers *registers = &core->registers;
	struct x86_cpuid r = answer(core, (uint32_t)registers->rax, (uint32_t)registers->rcx);

	registers->rax = r.eax;
	registers->rbx = r.ebx;
	registers->rcx = r.ecx;
	registers->rdx = r.edx;
	return HAL_SKIP;
}
