/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F5.board. Cores that wait on a word of RAM: hal/arm/spin_table_boot.c writes the right one, after the number that the core will look
 * for, and both are in memory before the core is woken. A core that the board has no word for is not started, and nothing is written.
 */
#include <string.h>

#include "check.h"
#include "fake_arch.h"
#include "hal/arm/spin_table.h"
#include "tlb.h"

enum { CORES = 3 };

char core_start_released[1];

static uint64_t words[CORES];
static struct {
	const void *cleaned[4];
	unsigned cleans, wakes;
	unsigned cleans_at_wake, barriers_at_wake;
	bool number_first;
} seen;

static void on_clean(const void *start, size_t size)
{
	CHECK_EQ(size, sizeof(uint64_t));
	if (!seen.cleans)
		seen.number_first = !words[0] && !words[1] && !words[2];
	seen.cleaned[seen.cleans++] = start;
}

void stage2_wake(void)
{
	seen.wakes++;
	seen.cleans_at_wake = seen.cleans;
	seen.barriers_at_wake = fake_arch.barriers;
}

void stage2_invalidate(uint64_t vttbr, uint64_t own) {}

static void prepare(void)
{
	memset(words, 0, sizeof(words));
	memset(spin_table_cores, 0, sizeof(spin_table_cores));
	memset(&seen, 0, sizeof(seen));
	fake_arch = (struct fake_arch){ .on_clean = on_clean };
}

int main(void)
{
	const struct board_release at[CORES] = { { 1, (uintptr_t)&words[0] },
						 { 0x102, (uintptr_t)&words[1] },
						 { 3, (uintptr_t)&words[2] } };
	const struct board_releases releases = { at, CORES };

	check_context.subject = "a core with a word";
	prepare();
	CHECK_EQ(spin_table_start(releases, 0x102, 5), HAL_OK);
	CHECK_EQ(words[1], (uintptr_t)core_start_released);
	CHECK_EQ(words[0] | words[2], 0);
	CHECK_EQ(spin_table_cores[5], 0x102);
	CHECK(seen.number_first);
	CHECK(seen.cleaned[0] == &spin_table_cores[5] && seen.cleaned[1] == &words[1]);
	CHECK_EQ(seen.wakes, 1);
	CHECK_EQ(seen.cleans_at_wake, 2);
	CHECK(seen.barriers_at_wake >= 2);

	check_context.subject = "a core without a word";
	prepare();
	CHECK_EQ(spin_table_start(releases, 2, 1), HAL_E_UNSUPPORTED);
	CHECK_EQ(words[0] | words[1] | words[2] | spin_table_cores[1], 0);
	CHECK_EQ(seen.cleans + seen.wakes, 0);
	return 0;
}
