/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F5.alike. What is below hal/arm for contract.h: a distributor of 64 lines, and an interrupt controller that counts what is sent. */
#include "contract_pci.h"
#include "fake_arch.h"
#include "hal/arm/gic/gic_filter.h"
#include "hal/arm/gic/gicd.h"
#include "hal/arm/stage2.h"
#include "tlb.h"

enum { MACHINE_LINE = 40, MACHINE_NO_LINE = 64, MACHINE_VECTOR = 0, MACHINE_HAS_PORTS = 0, MACHINE_HAS_ECAM = 1, MACHINE_SHARES_LINES = 0 };
enum { MACHINE_RUNG = 50 };

struct gic_at gic_at = { .distributor = 0x8000000 };
static unsigned machine_signals;

/* The distributor asks nobody how it reaches a core. */
static bool machine_admits_lines(const struct hal_partition *partition)
{
	return false;
}

static const struct hal_lock *machine_lock(const struct hal_partition *partition)
{
	return partition->pci.lock;
}

static uint64_t machine_end(const struct hal_partition *partition)
{
	return UINT64_C(1) << partition->stage2.format->ia_bits;
}

static void machine_reset(void)
{
	machine_signals = 0;
}

uint32_t arch_mmio_read32(uint64_t address)
{
	return address == gic_at.distributor + GICD_TYPER ? 1 : 0; /* ITLinesNumber: two words of lines */
}

void arch_mmio_write32(uint64_t address, uint32_t value) {}

void arch_mmio_write8(uint64_t address, uint8_t value) {}

void gic_route(uint32_t line, uint64_t hardware_id) {}

void gic_create_view(struct hal_partition *partition) {}

enum hal_status gic_map(struct hal_space *space, const struct hal_partition *partition)
{
	return HAL_OK;
}

void gic_signal(uint64_t hardware_id)
{
	machine_signals++;
}

void gic_clear_signal(void) {}

void gic_notice(uint64_t hardware_id)
{
	machine_signals++;
}

void stage2_invalidate(uint64_t vttbr, uint64_t other) {}

void stage2_wake(void) {}

#include "contract.h"
