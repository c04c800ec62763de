/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F5.alike. What is below hal/x86 for contract.h: a vendor that has frames of its own and no processor, an I/O APIC of 24 pins. */
#include <stdlib.h>

#include "contract_pci.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/apic/ioapic_registers.h"
#include "hal/x86/core.h"
#include "hal/x86/disarm.h"

enum { MACHINE_LINE = 4, MACHINE_NO_LINE = 24, MACHINE_VECTOR = 0xf0, MACHINE_HAS_PORTS = 1, MACHINE_HAS_ECAM = BOARD_PCI_ECAM != 0 };
enum { MACHINE_SHARES_LINES = 1, MACHINE_RUNG = BH_FIRST_RUNG_LINE };

#ifndef CONTRACT_FORMAT
#define CONTRACT_FORMAT pt_npt
#endif

static unsigned machine_signals;

static const struct hal_lock *machine_lock(const struct hal_partition *partition)
{
	return partition->ioapic.lock;
}

/* Whether entries of the I/O APIC have been told how its cores are reached. */
static bool machine_admits_lines(const struct hal_partition *partition)
{
	return partition->line_target[0] || partition->line_target[1];
}

/* Where a guest's addresses end, below. */
static uint64_t machine_end(const struct hal_partition *partition)
{
	return UINT64_C(1) << partition->stage2.oa_bits;
}

static void machine_reset(void)
{
	machine_signals = 0;
}

/* As a processor of few addresses does: the tables could translate more. */
static void narrow(struct pt *stage2)
{
	stage2->oa_bits = 36;
}

/* In the end it wants a frame, as vendors do. */
static enum hal_status core_create(struct hal_core *core, struct hal_arena *arena)
{
	core->control = hal_arena_take(arena, 1);
	return core->control ? HAL_OK : HAL_E_NOMEM;
}

static const struct x86_vendor_boot machine_vendor = {
	.stage2 = &CONTRACT_FORMAT, .msr_map_frames = 2, .narrow = narrow, .core_create = core_create
};
const struct x86_vendor_boot *x86_vendor_boot = &machine_vendor;
const struct x86_processor x86_this_processor;
const struct iommu_boot *iommu_backend(void)
{
	return NULL;
}

void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
{
	machine_signals++;
}

uint32_t ioapic_read(uint32_t index)
{
	return index == IOAPICVER ? 23u << IOAPICVER_ENTRIES_SHIFT : 0;
}

void ioapic_write(uint32_t index, uint32_t value) {}

void ioapic_reset(struct hal_partition *partition, uint32_t self) {}

/* ---- Of no part in this ---- */

void x86_allow_msrs(struct hal_partition *partition) {}

void x86_unprotect(struct hal_partition *partition) {}

void x86_identity_make(struct x86_identity *identity, uint32_t apic_id, uint32_t core_count) {}

void x86_note_fields(struct hal_core *core) {}

void x86_mark_off(struct hal_core *core) {}

bool x86_disarm(const struct x86_processor *processor)
{
	return true;
}

void apic_init(void)
{
	abort();
}

void ioapic_open(const struct hal_core *core)
{
	abort();
}

void x86_core_forget(struct hal_core *core)
{
	abort();
}

_Noreturn void x86_space_enter(uint64_t root, void *stack_top, void (*function)(void *argument), void *argument)
{
	abort();
}

#include "contract.h"
