/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: model-specific registers that exit (BH-I1.register; msr_boot.c has those that do not). A register without a row does not
 * exist, and touching it is #GP, as on a processor that never had it; kernels probe and live with that.
 */
#include "arch/x86_64/x86.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

void x86_decode_msr(const struct hal_core *core, bool write, struct hal_exit *exit)
{
	exit->gpa = (uint32_t)core->registers.rcx;
	exit->kind = write && exit->gpa == APIC_ICR ? BH_EXIT_IPI : BH_EXIT_REGISTER;
	exit->access = write ? BH_ACCESS_WRITE : BH_ACCESS_READ;
	exit->width = 8;
	exit->value = write ? core->registers.rdx << 32 | (uint32_t)core->registers.rax : 0;
}

/* false: #GP. A read stores *value, a write carries it out. */
typedef bool (*msr_access)(struct hal_core *core, uint32_t msr, uint64_t *value);

/* The x2APIC, enabled, where it always is; the first core of a sandbox is its boot core. APM vol. 2, 16.9. */
static bool read_apic_base(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	*value = UINT64_C(0xfee00c00) | (core->slot ? 0 : 1 << 8);
	return true;
}

static bool write_apic_base(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	uint64_t fixed;

	return read_apic_base(core, msr, &fixed) && *value == fixed;
}

/* What the guest may choose; the rest, SVME above all, is not its to see. APM vol. 2, 3.1.7. */
enum { EFER_CHOICE = EFER_SCE | EFER_LME | EFER_NXE };

static bool read_efer(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	*value = x86_get(core, X86_EFER) & (EFER_CHOICE | EFER_LMA);
	return true;
}

/* LME cannot change while paging is on; LMA is the processor's and writes to it are ignored. */
static bool write_efer(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	uint64_t old = x86_get(core, X86_EFER);
	bool paging = x86_get(core, X86_CR0) & CR0_PG;

	if (*value & ~(uint64_t)(EFER_CHOICE | EFER_LMA) || (paging && (*value ^ old) & EFER_LME))
		return false;
	x86_vendor->set(core, X86_EFER, (old & ~(uint64_t)EFER_CHOICE) | (*value & EFER_CHOICE));
	return true;
}

static bool read_pat(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	*value = x86_get(core, X86_PAT);
	return true;
}

/* Memory types 0, 1 and 4 to 7 exist. APM vol. 2, 7.8.1 "PAT Register". */
static bool write_pat(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint64_t type = *value >> shift & 0xff;

		if (type > 7 || type >> 1 == 1)
			return false;
	}
	x86_vendor->set(core, X86_PAT, *value);
	return true;
}

/* No ranges, and everything write-back: the memory types of a sandbox are stage 2's. APM vol. 2, 7.7.2, 7.7.3. */
static bool read_mtrr(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	enum { MTRRS_ENABLED = 1 << 11, WRITE_BACK = 6 };

	*value = msr == MSR_MTRRCAP ? 0 : MTRRS_ENABLED | WRITE_BACK;
	return true;
}

/* Intel's kernels read these early, before they could bear a #GP. SDM vol. 4, table 2-2: BTS and PEBS unavailable, fast strings. */
static bool read_misc_enable(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	*value = 1 << 12 | 1 << 11 | 1 << 0;
	return true;
}

/* The revision of the microcode, which a kernel asks for by writing 0. SDM vol. 3A, 10.11.7.1 "Determining the Signature". */
static bool read_zero(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	*value = 0;
	return true;
}

static bool write_zero(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	return !*value;
}

/* SDM vol. 1, 13.3: AVX needs SSE, AVX-512 AVX and is whole or not at all. Whatever else is refused here would be a #GP of ours. */
static bool write_xcr0(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	uint64_t offered = x86_cpuid(LEAF_XSAVE, 0).eax & X86_XCR0_SHOWN;
	uint64_t avx512 = *value & XCR0_AVX512;

	if (*value & ~offered || !(*value & XCR0_X87) || (*value & (XCR0_AVX | XCR0_SSE)) == XCR0_AVX)
		return false;
	if (avx512 && (avx512 != XCR0_AVX512 || !(*value & XCR0_AVX)))
		return false;
	x86_xsetbv(0, *value);
	return true;
}

static bool ignore(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	return true;
}

static const struct msr_rule {
	uint32_t first, last;
	msr_access read, write;
} rules[] = {
	{ APIC_LVT_CMCI, APIC_LVT_ERROR, NULL, apic_write_lvt },
	{ MSR_EFER, MSR_EFER, read_efer, write_efer },
	{ MSR_PAT, MSR_PAT, read_pat, write_pat },
	{ MSR_APIC_BASE, MSR_APIC_BASE, read_apic_base, write_apic_base },
	{ MSR_MTRRCAP, MSR_MTRRCAP, read_mtrr, NULL },
	{ MSR_MISC_ENABLE, MSR_MISC_ENABLE, read_misc_enable, NULL },
	{ MSR_BIOS_SIGN_ID, MSR_BIOS_SIGN_ID, read_zero, write_zero },
	{ MSR_MTRRDEFTYPE, MSR_MTRRDEFTYPE, read_mtrr, ignore },
};

/* XCR0 has a number that no register has, and only writes come here. */
static msr_access find(const struct hal_exit *exit)
{
	if (exit->gpa == X86_XCR(0))
		return write_xcr0;
	for (size_t n = 0; n < sizeof(rules) / sizeof(rules[0]); n++)
		if (exit->gpa >= rules[n].first && exit->gpa <= rules[n].last)
			return exit->access == BH_ACCESS_WRITE ? rules[n].write : rules[n].read;
	return NULL;
}

enum hal_action x86_emulate_msr(struct hal_core *core, const struct hal_exit *exit)
{
	msr_access access = find(exit);
	uint64_t value = exit->value;

	if (exit->gpa == X86_CR(0)) /* the vendor has done its part */
		return HAL_RESUME;
	if (!access || !access(core, (uint32_t)exit->gpa, &value))
		return HAL_REFUSE;
	if (exit->access == BH_ACCESS_READ) {
		core->registers.rax = (uint32_t)value;
		core->registers.rdx = value >> 32;
	}
	return HAL_SKIP;
}
