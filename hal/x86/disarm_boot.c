/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up (BH-I3.forms): tracing writes to memory by addresses of its own, and counters that overflow interrupt. Both may be on when a
 * loader hands over, and INIT leaves them so. What writes comes first, then what it writes with.
 */
#include "hal/x86/disarm.h"

#include <stddef.h>

/* SDM vol. 4, table 2-2 "IA-32 Architectural MSRs"; APM vol. 2, Appendix A "MSR Cross-Reference". */
enum {
	IA32_PERFEVTSEL0 = 0x186,
	IA32_DEBUGCTL = 0x1d9,
	IA32_FIXED_CTR_CTRL = 0x38d,
	IA32_PERF_GLOBAL_CTRL = 0x38f,
	IA32_PEBS_ENABLE = 0x3f1,
	IA32_RTIT_CTL = 0x570,
	IA32_DS_AREA = 0x600,
};
#define LWP_CFG          0xc0000105u
#define LWP_CBADDR       0xc0000106u
#define PERF_CNTR_GLOBAL 0xc0000301u
#define PERF_CTL0        0xc0010200u
#define IBS_FETCH_CTL    0xc0011030u
#define IBS_OP_CTL       0xc0011033u
enum { LEAF_COUNTERS = 0xa };
enum { PERF_CTLS = 6, PERF_CTL_STEP = 2 };

static bool has_leaf(const struct x86_processor *p, uint32_t leaf)
{
	return p->cpuid(leaf & 0x80000000, 0).eax >= leaf;
}

/* How many registers of a kind there are. SDM vol. 2A, CPUID; APM vol. 3, Appendix E. */
static unsigned count_traces(const struct x86_processor *p)
{
	return has_leaf(p, 7) ? p->cpuid(7, 0).ebx >> 25 & 1 : 0;
}

static unsigned count_debug_stores(const struct x86_processor *p)
{
	return p->cpuid(1, 0).edx >> 21 & 1;
}

/* With a debug store, MISC_ENABLE tells whether it takes samples. */
static unsigned count_samplers(const struct x86_processor *p)
{
	return count_debug_stores(p) && !(p->read(MSR_MISC_ENABLE) >> 12 & 1);
}

static uint32_t counters(const struct x86_processor *p)
{
	return has_leaf(p, LEAF_COUNTERS) ? p->cpuid(LEAF_COUNTERS, 0).eax : 0;
}

static unsigned count_selectors(const struct x86_processor *p)
{
	return counters(p) & 0xff ? counters(p) >> 8 & 0xff : 0;
}

static unsigned count_global_controls(const struct x86_processor *p)
{
	return (counters(p) & 0xff) >= 2;
}

static uint32_t extended_features(const struct x86_processor *p)
{
	return has_leaf(p, 0x80000001) ? p->cpuid(0x80000001, 0).ecx : 0;
}

static unsigned count_sampling(const struct x86_processor *p)
{
	return extended_features(p) >> 10 & 1;
}

static unsigned count_profiling(const struct x86_processor *p)
{
	return extended_features(p) >> 15 & 1;
}

static unsigned count_extended_controls(const struct x86_processor *p)
{
	return extended_features(p) >> 23 & 1 ? PERF_CTLS : 0;
}

static unsigned count_amd_global_controls(const struct x86_processor *p)
{
	return has_leaf(p, 0x80000022) && p->cpuid(0x80000022, 0).eax & 1;
}

static const struct {
	uint32_t msr, step;
	unsigned (*count)(const struct x86_processor *p);
} controls[] = {
	{ IA32_RTIT_CTL, 1, count_traces },
	{ IA32_PERF_GLOBAL_CTRL, 1, count_global_controls },
	{ IA32_PEBS_ENABLE, 1, count_samplers },
	{ IA32_DEBUGCTL, 1, count_debug_stores },
	{ IA32_DS_AREA, 1, count_debug_stores },
	{ IA32_FIXED_CTR_CTRL, 1, count_global_controls },
	{ IA32_PERFEVTSEL0, 1, count_selectors },
	{ LWP_CBADDR, 1, count_profiling },
	{ LWP_CFG, 1, count_profiling },
	{ PERF_CNTR_GLOBAL, 1, count_amd_global_controls },
	{ IBS_FETCH_CTL, 1, count_sampling },
	{ IBS_OP_CTL, 1, count_sampling },
	{ PERF_CTL0, PERF_CTL_STEP, count_extended_controls },
};

static bool clear(const struct x86_processor *p, uint32_t msr)
{
	p->write(msr, 0);
	return !p->read(msr);
}

bool x86_disarm(const struct x86_processor *p)
{
	bool all = true;

	for (size_t n = 0; n < sizeof(controls) / sizeof(controls[0]); n++)
		for (unsigned left = controls[n].count(p), msr = controls[n].msr; left; left--, msr += controls[n].step)
			all = clear(p, msr) && all;
	return all;
}
