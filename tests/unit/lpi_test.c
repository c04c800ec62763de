/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GICv3 that a loader left translating and reading its tables (BH-I3.forms): hal/arm/gic/gicv3_disarm_boot.c over a machine of three
 * redistributors, the middle one with virtual LPIs. Offsets and bits are written down from ARM IHI 0069H, chapter 12.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "check.h"
#include "hal/arm/gic/gic.h"
#include "hal/arm/gic/gicd.h"
#include "hal/arm/disarm.h"

enum { REDISTRIBUTORS = 3, WAITS = 5 };
#define ITS         0x08080000u
#define DISTRIBUTOR 0x08000000u
#define PLPIS       1u
#define VLPIS       3u
#define LAST        0x10u
#define QUIESCENT   0x80000000u
#define VALID       0x8000000000000000u
#define DIRTY       0x1000000000000000u
#define FAR_FRAME   (frames[1] + 0x20000)

static const uint64_t frames[REDISTRIBUTORS] = { 0x080a0000, 0x080c0000, 0x08100000 };
static uint32_t lpis, types[REDISTRIBUTORS], its, controls[REDISTRIBUTORS], busy;
static uint64_t resident;
static uint64_t sticky;    /* the address of the register that keeps what it has */
static uint32_t after_its; /* redistributors that were written before the translation service was off */

const struct disarm_control disarm_controls[1];
struct gic_at gic_at = { .distributor = DISTRIBUTOR };

void arch_relax(void) {}

static unsigned frame_at(uint64_t address, uint64_t offset)
{
	for (unsigned n = 0; n < REDISTRIBUTORS; n++)
		if (address == frames[n] + offset)
			return n;
	abort(); /* an external abort, at start-up */
}

/* Quiescent, and RWP's end, are seen some reads later. */
static bool is_busy(void)
{
	return busy && busy--;
}

uint32_t arch_mmio_read32(uint64_t address)
{
	if (address == DISTRIBUTOR + 4) /* GICD_TYPER */
		return lpis;
	if (address == ITS)
		return its | (its & 1 || is_busy() ? 0 : QUIESCENT);
	return controls[frame_at(address, 0)] | (is_busy() ? 1 << 3 : 0);
}

uint64_t arch_mmio_read64(uint64_t address)
{
	if (address == FAR_FRAME + 0x78)
		return resident | (is_busy() ? DIRTY : 0);
	return types[frame_at(address, 8)];
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	busy = WAITS;
	if (address == ITS) {
		its = sticky == ITS ? its : value & 1;
		return;
	}
	after_its += its & 1;
	if (address != sticky)
		controls[frame_at(address, 0)] = value & 1;
}

void arch_mmio_write64(uint64_t address, uint64_t value)
{
	CHECK_EQ(address, FAR_FRAME + 0x78);
	busy = WAITS;
	if (address != sticky)
		resident = value;
}

static const char *disarm_with(uint64_t sticks)
{
	sticky = sticks;
	busy = 0;
	its = 1;
	resident = VALID;
	types[0] = PLPIS;
	types[1] = VLPIS;
	types[2] = PLPIS | LAST;
	for (unsigned n = 0; n < REDISTRIBUTORS; n++)
		controls[n] = 1;
	return gic_disarm();
}

static bool names(const char *why, const char *name)
{
	return why && !strncmp(why, name, strlen(name));
}

int main(void)
{
	lpis = 1 << 17;
	CHECK(!disarm_with(0));
	CHECK_EQ(its | controls[0] | controls[1] | controls[2] | resident | after_its, 0);
	CHECK(names(disarm_with(ITS), "GITS_CTLR.Enabled at 0x8080000 "));
	CHECK(names(disarm_with(frames[0]), "GICR_CTLR.EnableLPIs at 0x80a0000 "));
	CHECK(names(disarm_with(frames[2]), "GICR_CTLR.EnableLPIs at 0x8100000 "));
	CHECK(names(disarm_with(FAR_FRAME + 0x78), "GICR_VPENDBASER.Valid at 0x80e0078 "));
	lpis = 0;
	CHECK(!disarm_with(0));
	CHECK_EQ(its, 1); /* nobody is there: not touched */
	return 0;
}
