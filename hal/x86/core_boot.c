/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: guest cores, and the step from start-up into their monitor. */
#include "arch/x86_64/start.h"
#include "arch/x86_64/x86.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/apic/ioapic.h"
#include "hal/x86/core.h"
#include "hal/x86/disarm.h"

enum hal_status hal_core_create(struct hal_partition *partition, struct hal_arena *arena, uint32_t slot, const struct hal_entry *entry,
				struct hal_core **out)
{
	enum hal_status status;
	struct hal_core *core;

	if (slot >= partition->core_count)
		return HAL_E_RANGE;
	if (partition->core[slot])
		return HAL_E_OVERLAP;
	core = hal_arena_take(arena, 1);
	if (!core)
		return HAL_E_NOMEM;
	core->partition = partition;
	core->slot = slot;
	core->apic_id = partition->apic_id[slot];
	core->self = hal_lock_bit(partition->cores[slot]);
	core->box = &partition->kick_mailboxes[partition->cores[slot]];
	core->entry = *entry;
	core->registers.rdi = entry->arg;
	core->registers.rsi = entry->arg;
	core->started = !slot;
	if (slot)
		x86_mark_off(core);
	x86_identity_make(&core->identity, core->apic_id, partition->core_count);
	status = x86_vendor_boot->core_create(core, arena);
	if (status != HAL_OK)
		return status;
	x86_note_fields(core);
	partition->core[slot] = core;
	*out = core;
	return HAL_OK;
}

/*
 * From here on kickers send NMIs, which stay pending until the guest runs. Who came earlier sent none, but has counted: either
 * this core sees the request or its kicker sees `awake`. An NMI to oneself stands for such requests; the first run ends with it.
 */
static void accept_kicks(const struct hal_core *core)
{
	__atomic_store_n(&core->box->awake, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&core->box->requested, __ATOMIC_SEQ_CST) != core->box->acknowledged)
		apic_send(core->apic_id, APIC_NMI, 0);
}

bool hal_core_disarm(struct hal_core *core)
{
	if (!x86_disarm(&x86_this_processor))
		core->trap.rip = (uintptr_t)hal_core_disarm;
	return !core->trap.rip;
}

_Noreturn void hal_core_launch(struct hal_core *core, struct hal_space *space, void *stack_top, void (*resident)(struct hal_core *core))
{
	apic_init();
	x86_vendor_boot->enable(core, (uintptr_t)space->tables.root);
	x86_clear_breakpoints();
	x86_core_forget(core); /* what the firmware and the boot loader left */
	accept_kicks(core);
	x86_repeat_notice(core);
	ioapic_open(core);
	x86_space_enter((uintptr_t)space->tables.root, stack_top, (void (*)(void *))resident, core);
}
