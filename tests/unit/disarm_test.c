/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What start-up switches off (BH-I3.forms): hal/x86/disarm_boot.c, over processors that have some registers and no others, every one of
 * them left on. Numbers are written down from SDM vol. 4, table 2-2, and APM vol. 2, Appendix A.
 */
#include "hal/x86/disarm.h"

#include <stdlib.h>

#include "check.h"

enum { MOST = 24 };
#define NONE UINT32_MAX

struct model {
	const char *name;
	uint32_t edx_1, ebx_7, eax_a, ecx_80000001, eax_80000022;
	uint64_t misc_enable;
	uint32_t has[MOST]; /* ended by 0 */
};

/* clang-format off: columns. */
static const struct model models[] = {
	{ "nothing", 0, 0, 0, 0, 0, 0, { 0 } },
	{ "Intel, everything",
	  1u << 21,
	  1u << 25,
	  0x07300404,
	  0,
	  0,
	  0,
	  { 0x570, 0x38f, 0x3f1, 0x1d9, 0x600, 0x38d, 0x186, 0x187, 0x188, 0x189 } },
	{ "Intel, no samples",
	  1u << 21,
	  0,
	  0x07300801,
	  0,
	  0,
	  1 << 12,
	  { 0x1d9, 0x600, 0x186, 0x187, 0x188, 0x189, 0x18a, 0x18b, 0x18c, 0x18d } },
	{ "Intel, traces alone", 0, 1u << 25, 0, 0, 0, 0, { 0x570 } },
	{ "AMD, everything",
	  0,
	  0,
	  0,
	  1u << 10 | 1u << 15 | 1u << 23,
	  1,
	  0,
	  { 0xc0000106, 0xc0000105, 0xc0000301, 0xc0011030, 0xc0011033, 0xc0010200, 0xc0010202, 0xc0010204, 0xc0010206, 0xc0010208,
	    0xc001020a } },
	{ "AMD, counters", 0, 0, 0, 1u << 23, 0, 0, { 0xc0010200, 0xc0010202, 0xc0010204, 0xc0010206, 0xc0010208, 0xc001020a } },
};
/* clang-format on */

static const struct model *model;
static uint64_t values[MOST];
static uint32_t sticky;

static struct x86_cpuid cpuid(uint32_t leaf, uint32_t subleaf)
{
	switch (leaf) {
	case 0:
		return (struct x86_cpuid){ .eax = 0xd };
	case 1:
		return (struct x86_cpuid){ .edx = model->edx_1 };
	case 7:
		return (struct x86_cpuid){ .ebx = model->ebx_7 };
	case 0xa:
		return (struct x86_cpuid){ .eax = model->eax_a };
	case 0x80000000:
		return (struct x86_cpuid){ .eax = model->eax_80000022 ? 0x80000022 : 0x80000008 };
	case 0x80000001:
		return (struct x86_cpuid){ .ecx = model->ecx_80000001 };
	case 0x80000022:
		return (struct x86_cpuid){ .eax = model->eax_80000022 };
	default:
		abort();
	}
}

/* Any other is a general-protection fault, at start-up. */
static uint64_t *find(uint32_t msr)
{
	for (unsigned n = 0; model->has[n]; n++)
		if (model->has[n] == msr)
			return &values[n];
	abort();
}

static uint64_t read(uint32_t msr)
{
	return msr == 0x1a0 ? model->misc_enable : *find(msr);
}

static void write(uint32_t msr, uint64_t value)
{
	*find(msr) = msr == sticky ? 1 : value;
}

static const struct x86_processor processor = { cpuid, read, write };

static bool disarm(uint32_t sticks)
{
	sticky = sticks;
	for (unsigned n = 0; n < MOST; n++)
		values[n] = UINT64_MAX;
	return x86_disarm(&processor);
}

static void test(void)
{
	unsigned n;

	check_context.subject = model->name;
	CHECK(disarm(NONE));
	for (n = 0; model->has[n]; n++)
		CHECK_EQ(values[n], 0);
	for (n = 0; model->has[n]; n++) {
		check_context.round = model->has[n];
		CHECK(!disarm(model->has[n]));
	}
}

int main(void)
{
	for (model = models; model < models + sizeof(models) / sizeof(models[0]); model++)
		test();
	return 0;
}
