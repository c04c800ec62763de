/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest's performance monitors (BH-I1.register): hal/arm/pmu.c and pmu_boot.c. On a core that has none, or not the architecture's, the
 * registers trap and nothing writes them, where they would be undefined; elsewhere a new life finds its counters, and no others, cleared.
 */
#include "pmu.h"

#include <string.h>

#include "check.h"
#include "hal/arm/stage2.h"

enum { COUNTERS = 6, CYCLES = 31 };
static bool there;
static unsigned granted, writes, selected, filters, counters, resets, users;
static uint32_t disabled, overflows;

void arch_isb(void) {}

void pmu_write(const char *name, uint32_t value)
{
	writes++;
	if (!strcmp(name, "PMSELR"))
		selected = value;
	else if (!strcmp(name, "PMXEVTYPER"))
		filters |= 1u << selected;
	else if (!strcmp(name, "PMXEVCNTR"))
		counters |= 1u << selected;
	else if (!strcmp(name, "PMCNTENCLR"))
		disabled |= value;
	else if (!strcmp(name, "PMUSERENR"))
		users += !value;
	else if (!strcmp(name, "PMCR"))
		resets += value == PMU_RESET;
	else
		CHECK(!name);
}

bool pmu_is_there(void)
{
	return there;
}

unsigned pmu_counters(void)
{
	CHECK(there); /* else there is no register to ask */
	return COUNTERS;
}

unsigned pmu_granted(void)
{
	return granted;
}

void pmu_clear_overflow(uint32_t which)
{
	writes++;
	overflows |= which;
}

static void clear(unsigned word)
{
	granted = word;
	writes = filters = counters = disabled = overflows = resets = users = 0;
	guest_clear_counters();
}

static void test_none(void)
{
	check_context.subject = "none";
	there = false;
	CHECK_EQ(pmu_grant(), PMU_TPM | PMU_TPMCR);
	clear(pmu_grant() | 1 << 9); /* other controls share the word */
	CHECK_EQ(writes, 0);
}

/* So many event counters, and that of cycles; what is left of the machine's is not the guest's. */
static void check_cleared(unsigned n)
{
	const uint32_t events = (1u << n) - 1, all = UINT32_C(1) << CYCLES | events;

	CHECK_EQ(filters, all);
	CHECK_EQ(counters, events);
	CHECK_EQ(disabled, all);
	CHECK_EQ(overflows, all);
	CHECK_EQ(resets, 1);
	CHECK_EQ(users, 1);
	CHECK_EQ(selected, 0);
}

static void test_granted(void)
{
	check_context.subject = "granted";
	there = true;
	CHECK_EQ(pmu_grant(), COUNTERS);
	clear(pmu_grant());
	check_cleared(COUNTERS);
	clear(1 << 9 | (COUNTERS - 2));
	check_cleared(COUNTERS - 2);
	clear(0);
	check_cleared(0);
}

int main(void)
{
	test_none();
	test_granted();
	return 0;
}
