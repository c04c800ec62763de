/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: is everything here that sandboxes on x86 need, and nothing on that they must not have? Chooses the vendor; enables nothing. */
#include "arch/x86_64/start.h"
#include "arch/x86_64/x86.h"
#include "board.h"
#include "hal/x86/core.h"
#include "hal/x86/disarm.h"

const struct x86_vendor_boot *x86_vendor_boot;

static const struct x86_vendor_boot *const vendors[] = { &svm_vendor_boot, &vmx_vendor_boot };

enum { PM_TIMER_READS = 10000, LEAF_COUNTERS = 0xa };
#define LEAF_EXTENDED_FEATURES 0x80000001
#define FEATURE_DEBUG_STORE    (UINT32_C(1) << 21)
#define FEATURES_COUNTING      (UINT32_C(1) << 10 | UINT32_C(1) << 15 | UINT32_C(1) << 23) /* IBS, LWP, PerfCtrExtCore */

static bool has_x2apic(void)
{
	return x86_cpuid(1, 0).ecx >> 21 & 1;
}

/* With it there is TSC_AUX, which guests may use and monitors clear. APM vol. 3, CPUID Fn8000_0001_EDX[RDTSCP]; entry_boot.S has found the
 * leaf. */
static bool has_rdtscp(void)
{
	return x86_cpuid(0x80000001, 0).edx >> 27 & 1;
}

/* It ticks every 279 ns. */
static bool has_pm_timer(void)
{
	uint32_t first = x86_in32(board.pc.pm_timer_port);

	for (unsigned reads = PM_TIMER_READS; reads; reads--)
		if (x86_in32(board.pc.pm_timer_port) != first)
			return true;
	return false;
}

static struct x86_cpuid this_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct x86_cpuid is = x86_cpuid(leaf, subleaf);

	if (!board.pc.counters_only_shown)
		return is;
	if (leaf == LEAF_COUNTERS)
		is.eax = 0;
	if (leaf == LEAF_FEATURES)
		is.edx &= ~FEATURE_DEBUG_STORE;
	if (leaf == LEAF_EXTENDED_FEATURES)
		is.ecx &= ~FEATURES_COUNTING;
	return is;
}

const struct x86_processor x86_this_processor = { this_cpuid, x86_rdmsr, x86_wrmsr };

static bool has_no_tracing(void)
{
	return x86_disarm(&x86_this_processor);
}

static const struct {
	bool (*has)(void);
	const char *missing;
} features[] = {
	{ has_x2apic, "the processor has no x2APIC; use a newer one, or in QEMU -cpu max" },
	{ has_rdtscp, "the processor has no RDTSCP; use a newer one, or in QEMU -cpu max" },
	{ has_no_tracing, "the firmware keeps tracing or performance counters of the processor on; switch them off there" },
	{ has_pm_timer, "no ACPI timer runs at the port the board names; correct pm_timer_port in its board.h" },
};

static const struct x86_vendor_boot *find_vendor(void)
{
	for (size_t n = 0; n < sizeof(vendors) / sizeof(vendors[0]); n++)
		if (vendors[n]->present())
			return vendors[n];
	return NULL;
}

enum hal_status hal_probe(const char **missing)
{
	const struct x86_vendor_boot *vendor = find_vendor();
	const char *why;

	if (!vendor) {
		*missing = "the processor offers no virtualization (AMD SVM or Intel VT-x); enable it in the firmware, or in QEMU use -cpu "
			   "max";
		return HAL_E_UNSUPPORTED;
	}
	for (size_t n = 0; n < sizeof(features) / sizeof(features[0]); n++)
		if (!features[n].has()) {
			*missing = features[n].missing;
			return HAL_E_UNSUPPORTED;
		}
	x86_vendor_boot = vendor;
	x86_vendor = vendor->resident;
	x86_gate_set(VECTOR_NMI, vendor->nmi);
	if (vendor->probe(missing) != HAL_OK)
		return HAL_E_UNSUPPORTED;
	why = iommu_missing();
	if (why)
		*missing = why;
	return why ? HAL_E_UNSUPPORTED : HAL_OK;
}
