/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: writes down what a guest core may know of its processor. A table of what passes; a leaf without a row is not
 * shown, so a feature that this text does not know is a feature that the guest does not have.
 *
 * APM vol. 3, Appendix E "Obtaining Processor Information Via the CPUID Instruction"; SDM vol. 2A, "CPUID".
 */
#include "hal/x86/cpuid.h"

#include <stdbool.h>
#include <stddef.h>

#define ALL               UINT32_MAX
#define BIT(n)            (UINT32_C(1) << (n))
#define BITS(first, last) (ALL >> (31 - (last)) & ALL << (first))

/* Leaf 1. Not: debug store, MONITOR, VMX, SMX, EIST, thermal and performance controls, TSC deadline; MCE and MCA; serial number; HTT. */
#define FEATURES_ECX       (BITS(0, 1) | BITS(9, 10) | BITS(12, 13) | BIT(17) | BITS(19, 23) | BITS(25, 26) | BITS(28, 30))
#define FEATURES_EDX       (BITS(0, 6) | BITS(8, 9) | BITS(11, 13) | BITS(15, 17) | BIT(19) | BITS(23, 27))
#define FEATURE_HYPERVISOR BIT(31)
#define FEATURE_HTT        BIT(28)
/* Leaf 7. Not: TSC_ADJUST, SGX, HLE, RTM, resource control, MPX, processor trace. */
#define STRUCTURED_EBX (BIT(0) | BIT(3) | BITS(5, 10) | BIT(13) | BITS(16, 21) | BITS(23, 24) | BITS(26, 31))
/* Only: AVX-512 and vector extensions, UMIP, PKU, RDPID, CLDEMOTE, MOVDIRI, MOVDIR64B. */
#define STRUCTURED_ECX (BITS(0, 3) | BIT(6) | BITS(8, 12) | BIT(14) | BIT(22) | BIT(25) | BIT(27) | BIT(28))
/* Only: AVX-512 extensions, FSRM, MD_CLEAR, SERIALIZE. */
#define STRUCTURED_EDX (BITS(2, 4) | BIT(8) | BIT(10) | BIT(14) | BIT(23))
/* Leaf 80000001. Only: LAHF, AltMovCr8, ABM, SSE4A, MisAlignSse, 3DNowPrefetch, XOP, FMA4, TBM. Not: MCE, MCA, FFXSR. */
#define EXTENDED_ECX (BIT(0) | BITS(4, 8) | BIT(11) | BIT(16) | BIT(21))
#define EXTENDED_EDX (BITS(0, 6) | BITS(8, 9) | BITS(11, 13) | BITS(15, 17) | BIT(20) | BITS(22, 24) | BITS(26, 27) | BITS(29, 31))
/* Leaf 80000008. Five-level paging is not shown: of 57 or 48 virtual bits, 48 remain. */
#define ADDRESS_SIZES (ALL & ~((57 ^ 48) << 8))

/* Leaves, and the bits of them that pass. `subleaves`: how many to ask for, 0 where ECX does not matter. */
/* clang-format off */
static const struct view {
	uint32_t first, last;
	uint32_t subleaves;
	struct x86_cpuid pass;
} views[] = {
	{ 0x00000000, 0x00000000, 0, { ALL, ALL, ALL, ALL } },                   /* vendor */
	{ 0x00000001, 0x00000001, 0, { ALL, BITS(0, 15), FEATURES_ECX, FEATURES_EDX } },
	{ 0x00000002, 0x00000002, 0, { ALL, ALL, ALL, ALL } },                   /* caches */
	{ 0x00000004, 0x00000004, 6, { BITS(0, 13), ALL, ALL, ALL } },           /* caches, shared with nobody */
	{ 0x00000006, 0x00000006, 0, { BIT(2), 0, 0, 0 } },                      /* ARAT: the timer never stops */
	{ 0x00000007, 0x00000007, 1, { 0, STRUCTURED_EBX, STRUCTURED_ECX, STRUCTURED_EDX } },
	{ 0x0000000d, 0x0000000d, 1, { X86_XCR0_SHOWN, ALL, ALL, 0 } },          /* XSAVE */
	{ 0x00000015, 0x00000016, 0, { ALL, ALL, ALL, 0 } },                     /* TSC and crystal, frequencies */
	{ 0x80000000, 0x80000000, 0, { ALL, ALL, ALL, ALL } },
	{ 0x80000001, 0x80000001, 0, { ALL, ALL, EXTENDED_ECX, EXTENDED_EDX } },
	{ 0x80000002, 0x80000006, 0, { ALL, ALL, ALL, ALL } },                   /* name, caches */
	{ 0x80000007, 0x80000007, 0, { 0, 0, 0, BIT(8) } },                      /* TscInvariant */
	{ 0x80000008, 0x80000008, 0, { ADDRESS_SIZES, BIT(0) | BIT(2), 0, 0 } }, /* CLZERO, RstrFpErrPtrs */
};
/* clang-format on */

#define FEATURE_CMP_LEGACY     BIT(1) /* of leaf 80000001, ECX */
#define LEAF_EXTENDED_FEATURES 0x80000001
#define LEAF_ADDRESS_SIZES     0x80000008
enum {
	LEAF_TOPOLOGY = 0xb,
	LEAF_HYPERVISOR = 0x40000000,
	FIRST_COMPONENT = 2,
	COMPONENTS = 20,
	LEVEL_SMT = 1 << 8,
	LEVEL_CORE = 2 << 8,
	PACKAGE_BITS = 8,
	XSAVE_WITHOUT_SUPERVISOR = 7,
};

static void show(struct x86_identity *identity, uint32_t leaf, uint32_t subleaf, struct x86_cpuid is)
{
	if (identity->count < X86_MAX_ANSWERS && (is.eax | is.ebx | is.ecx | is.edx))
		identity->answers[identity->count++] = (struct x86_answer){ leaf, subleaf, is };
}

static bool exists(uint32_t leaf)
{
	return leaf <= x86_cpuid(leaf & 0x80000000, 0).eax;
}

static struct x86_cpuid filter(struct x86_cpuid is, const struct x86_cpuid *pass)
{
	return (struct x86_cpuid){ is.eax & pass->eax, is.ebx & pass->ebx, is.ecx & pass->ecx, is.edx & pass->edx };
}

static void show_view(struct x86_identity *identity, const struct view *view, uint32_t leaf)
{
	if (!view->subleaves)
		show(identity, leaf, X86_ANY_SUBLEAF, filter(x86_cpuid(leaf, 0), &view->pass));
	for (uint32_t subleaf = 0; subleaf < view->subleaves; subleaf++)
		show(identity, leaf, subleaf, filter(x86_cpuid(leaf, subleaf), &view->pass));
}

static struct x86_answer *find(struct x86_identity *identity, uint32_t leaf)
{
	uint32_t n = 0;

	while (identity->answers[n].leaf != leaf)
		n++;
	return &identity->answers[n];
}

/*
 * Several cores: HTT says that leaf 1 counts them, CmpLegacy that they are cores, not threads; AMD's processors alone have
 * the latter, and a count in leaf 80000008. APM vol. 3, E.5.1 "Legacy Method".
 */
static void show_cores(struct x86_identity *identity, uint32_t core_count)
{
	struct x86_cpuid *sizes = &find(identity, LEAF_ADDRESS_SIZES)->is;

	find(identity, LEAF_FEATURES)->is.edx |= FEATURE_HTT;
	if (!x86_cpuid(LEAF_ADDRESS_SIZES, 0).ecx)
		return;
	find(identity, LEAF_EXTENDED_FEATURES)->is.ecx |= FEATURE_CMP_LEGACY;
	sizes->ecx = PACKAGE_BITS << 12 | (core_count - 1);
}

/* Own cores only, in one package, without siblings. SDM vol. 2A, CPUID leaf 0BH. */
static void show_topology(struct x86_identity *identity, uint32_t apic_id, uint32_t core_count)
{
	show(identity, LEAF_TOPOLOGY, 0, (struct x86_cpuid){ .ebx = 1, .ecx = LEVEL_SMT, .edx = apic_id });
	show(identity, LEAF_TOPOLOGY, 1, (struct x86_cpuid){ PACKAGE_BITS, core_count, LEVEL_CORE | 1, apic_id });
}

/* Subleaf 1 without XSAVES, as IA32_XSS is not offered; then the state components of XCR0. APM vol. 3, Fn0000_000D. */
static void show_xsave(struct x86_identity *identity)
{
	show(identity, LEAF_XSAVE, 1, (struct x86_cpuid){ .eax = x86_cpuid(LEAF_XSAVE, 1).eax & XSAVE_WITHOUT_SUPERVISOR });
	for (uint32_t component = FIRST_COMPONENT; component < COMPONENTS; component++)
		if (x86_cpuid(LEAF_XSAVE, 0).eax & X86_XCR0_SHOWN & BIT(component))
			show(identity, LEAF_XSAVE, component, x86_cpuid(LEAF_XSAVE, component));
}

/* "KVMKVMKVM", with no feature behind it: kernels then accept the x2APIC as they find it. */
static const struct x86_cpuid hypervisor = { LEAF_HYPERVISOR + 1, 0x4b4d564b, 0x564b4d56, 0x4d };

void x86_identity_make(struct x86_identity *identity, uint32_t apic_id, uint32_t core_count)
{
	for (size_t n = 0; n < sizeof(views) / sizeof(views[0]); n++)
		for (uint32_t leaf = views[n].first; leaf <= views[n].last; leaf++)
			if (exists(leaf))
				show_view(identity, &views[n], leaf);
	find(identity, LEAF_FEATURES)->is.ebx |= apic_id << 24 | core_count << 16;
	find(identity, LEAF_FEATURES)->is.ecx |= FEATURE_HYPERVISOR;
	if (core_count > 1)
		show_cores(identity, core_count);
	if (exists(LEAF_TOPOLOGY))
		show_topology(identity, apic_id, core_count);
	if (exists(LEAF_XSAVE))
		show_xsave(identity);
	show(identity, LEAF_HYPERVISOR, X86_ANY_SUBLEAF, hypervisor);
}
