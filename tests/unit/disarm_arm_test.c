/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What start-up switches off on ARM cores (BH-I3.forms): hal/arm/disarm_boot.c with the list of the architecture this is compiled for,
 * over cores that have some registers and no others, every one of them left on. Numbers are op0, op1, CRn, CRm, op2 of ARM ARM D24, and
 * opc1, CRn, CRm, opc2 of ARMv7 ARM B3.17, as a syndrome packs them.
 */
#include "hal/arm/disarm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST = 16 };
#define NONE  UINT32_MAX
#define EVERY 0u

struct model {
	const char *name;
	uint64_t identity;       /* ID_AA64DFR0_EL1, ID_DFR0 */
	uint64_t trbidr, pmbidr; /* P: bit 4 */
	uint32_t has[MOST];      /* in the order in which they have to be switched off; ended by 0 */
};

/* clang-format off: columns. */
#ifdef ARMV7
enum { IDENTITY = 0x40002, TRBIDR = 1, PMBIDR = 1 };
#define COUNTERS 0x2418, 0x42418, 0x4241c, 0x62418
static const uint32_t cleared_by_ones[] = { 0x42418, 0x4241c, 0x62418, 0 };
static const struct model models[] = {
	{ "nothing", 0, 0, 0, { 0 } },
	{ "Cortex-A15", 0x02010555, 0, 0, { COUNTERS } },
	{ "counters of the implementer's own", 0x0f000000, 0, 0, { 0 } },
};
#else
enum { IDENTITY = 0x30000a, TRBIDR = 0x3e2416, PMBIDR = 0x3e2414 };
#define FILTER   0x330404, 0x320404
#define TRACE    0x302416, 0x362416
#define SAMPLES  0x312412, 0x302412, 0x302414, 0x362414
#define COUNTERS 0x30e418, 0x34e418, 0x34241c, 0x36e418
static const uint32_t cleared_by_ones[] = { 0x34e418, 0x34241c, 0x36e418, 0 };
static const struct model models[] = {
	{ "nothing", 0, 0, 0, { 0 } },
	{ "Cortex-A57", 0x10305106, 0, 0, { COUNTERS } },
	{ "counters of the implementer's own", 0xf00, 0, 0, { 0 } },
	{ "everything", UINT64_C(0x111100001100), 0, 0, { FILTER, TRACE, SAMPLES, COUNTERS } },
	{ "profiling is the firmware's", UINT64_C(0x110100000100), 0, 1 << 4, { FILTER, TRACE, COUNTERS } },
	{ "tracing is the firmware's", UINT64_C(0x110100000000), 1 << 4, 0, { FILTER, SAMPLES } },
};
#endif
/* clang-format on */

static const struct model *model;
static uint64_t values[MOST];
static uint32_t sticky, written;

/* Any other is undefined at start-up. */
static unsigned find(uint32_t number)
{
	for (unsigned n = 0; n < MOST && model->has[n]; n++)
		if (model->has[n] == number)
			return n;
	abort();
}

static uint64_t read(uint32_t number)
{
	if (number == IDENTITY)
		return model->identity;
	if (number == TRBIDR)
		return model->trbidr;
	return number == PMBIDR ? model->pmbidr : values[find(number)];
}

static bool takes_ones(uint32_t number)
{
	for (const uint32_t *one = cleared_by_ones; *one; one++)
		if (*one == number)
			return true;
	return false;
}

static void write(uint32_t number, uint64_t value)
{
	unsigned n = find(number);

	CHECK_EQ(n, written++);
	if (number != sticky && sticky != EVERY)
		values[n] = takes_ones(number) ? values[n] & ~value : value;
}

static const struct disarm_core core = { read, write };

static const struct disarm_control *disarm_with(uint32_t sticks)
{
	sticky = sticks;
	written = 0;
	for (unsigned n = 0; n < MOST; n++)
		values[n] = UINT32_MAX;
	return disarm(&core);
}

static void test(void)
{
	unsigned n;

	check_context.subject = model->name;
	CHECK(!disarm_with(NONE));
	for (n = 0; n < MOST && model->has[n]; n++)
		CHECK_EQ(values[n], 0);
	CHECK_EQ(written, n);
	for (n = 0; n < MOST && model->has[n]; n++) {
		const struct disarm_control *on = disarm_with(model->has[n]);

		check_context.round = n;
		CHECK(on && on->number == model->has[n] && on->name[0]);
	}
	if (n)
		CHECK_EQ(disarm_with(EVERY)->number, model->has[0]);
}

static void test_refusal(void)
{
	const char rest[] = " stays on, so that something goes on writing to memory or interrupting; let the boot loader leave it off";
	const char *text = disarm_refusal("PMCR", 0);

	CHECK(!strncmp(text, "PMCR", 4) && !strcmp(text + 4, rest));
	text = disarm_refusal("GICR_CTLR.EnableLPIs", 0x80a0000);
	CHECK(!strncmp(text, "GICR_CTLR.EnableLPIs at 0x80a0000", 33) && !strcmp(text + 33, rest));
}

int main(void)
{
	for (model = models; model < models + sizeof(models) / sizeof(models[0]); model++)
		test();
	test_refusal();
	return 0;
}
