/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in which two cores of the sandbox do something at once, or one after the other (pair.h). */
#include "probe/pair.h"

#include <stdatomic.h>

#include "abi/guest.h"
#include "arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/idle.h"
#include "kernel/core/smp.h"
#include "kernel/core/space.h"

#define NOT_CLEARED __attribute__((section(".noinit")))
enum { MARK = 0x6b65726e };

static _Alignas(BH_PAGE_BYTES) union {
	uint8_t bytes[BH_PAGE_BYTES];
	uint32_t mark;
} page NOT_CLEARED;

/* ---- A page that kernel_space alone maps, above what grants and attacks are mapped at ------------------------------------ */

static uint64_t page_at(void)
{
	return space_format.end - (1ULL << 30) - sizeof(page);
}

static bool map_page(void)
{
	page.mark = MARK;
	return space_map(&kernel_space, page_at(), (uintptr_t)&page, sizeof(page), SPACE_DATA) == SPACE_OK;
}

static uint64_t read_word(uint64_t a, uint64_t b)
{
	return arch_mmio_read32(a);
}

/* 0: a fault. */
static uint64_t look(void)
{
	uint64_t value = 0;

	return cpu_attempt(read_word, page_at(), 0, &value) ? value : 0;
}

static _Atomic bool looked;

static bool has_looked(void)
{
	return atomic_load(&looked);
}

void run_look(const struct command_line *line)
{
	console_say("core %ju reads 0x%jx", (uint64_t)cpu_slot(), look());
	atomic_store(&looked, true);
}

static void have_look(unsigned slot)
{
	atomic_store(&looked, false);
	if (smp_run(slot, "look"))
		idle_until(has_looked);
	else
		console_say("core %ju is off or busy", (uint64_t)slot);
}

void run_start_away(const struct command_line *line)
{
	unsigned slot = (unsigned)line->operand[0];
	struct space other;

	if (!map_page() || space_create(&other) != SPACE_OK) {
		console_say("start-away: out of page tables");
		return;
	}
	space_activate(&other);
	if (!smp_stop(slot) || !smp_start(slot))
		console_say("core %ju did not start", (uint64_t)slot);
	space_activate(&kernel_space);
	space_forget(&other);
	have_look(slot);
	console_say("start-away: away space destroyed %ju", (uint64_t)(space_destroy(&other) == SPACE_OK));
}

/* The statuses are 0 for what was done (space.h); then what is read here, and by the other core when it is on again. */
void run_unmap_beside(const struct command_line *line)
{
	unsigned slot = (unsigned)line->operand[0];
	enum space_status beside, alone;

	if (!map_page()) {
		console_say("unmap-beside: out of page tables");
		return;
	}
	beside = space_unmap(&kernel_space, page_at(), sizeof(page));
	if (!smp_stop(slot))
		console_say("core %ju did not stop", (uint64_t)slot);
	alone = space_unmap(&kernel_space, page_at(), sizeof(page));
	console_say("unmapped beside a core %ju, beside none %ju, reads 0x%jx", (uint64_t)(beside == SPACE_OK),
		    (uint64_t)(alone == SPACE_OK), look());
	if (!map_page() || !smp_start(slot))
		console_say("core %ju did not start", (uint64_t)slot);
	have_look(slot);
}

/* ---- What two cores do, step by step ------------------------------------------------------------------------------------- */

enum phase { IDLE, FIRST_WITHIN, OTHER_DONE, OTHER_LEFT, UNMAPPED, OTHER_BACK };
static _Atomic enum phase phase;

static void await_phase(enum phase awaited)
{
	while (atomic_load(&phase) != awaited)
		arch_relax();
}

/* ---- A core that has left kernel_space, and has not gone off yet --------------------------------------------------------- */

static uint64_t read_before, read_after;

void run_leave(const struct command_line *line)
{
	read_before = look(); /* the TLB has it now */
	cpu_interrupts_disable();
	space_leave_core();
	atomic_store(&phase, OTHER_LEFT);
	await_phase(UNMAPPED);
	read_after = look();
	space_activate(&kernel_space);
	cpu_interrupts_enable();
	atomic_store(&phase, OTHER_BACK);
}

void run_unmap_left(const struct command_line *line)
{
	enum space_status status;

	atomic_store(&phase, IDLE);
	if (!map_page() || !smp_run((unsigned)line->operand[0], "leave")) {
		console_say("unmap-left: out of page tables, or core %ju is off or busy", line->operand[0]);
		return;
	}
	await_phase(OTHER_LEFT);
	status = space_unmap(&kernel_space, page_at(), sizeof(page));
	atomic_store(&phase, UNMAPPED);
	await_phase(OTHER_BACK);
	console_say("unmapped beside core %ju, which left, %ju, read 0x%jx, then 0x%jx", line->operand[0], (uint64_t)(status == SPACE_OK),
		    read_before, read_after);
}

/* ---- Two attempts, one within the time of the other ---------------------------------------------------------------------- */

static uint64_t address_of_other;

/* A hole for each slot. */
static uint64_t hole_of(unsigned slot)
{
	return page_at() - (uint64_t)(slot + 1) * sizeof(page);
}

static uint64_t fault_last_of_two(uint64_t a, uint64_t b)
{
	atomic_store(&phase, FIRST_WITHIN);
	await_phase(OTHER_DONE);
	return arch_mmio_read32(a);
}

static uint64_t address_of_fault(uint64_t (*attempt)(uint64_t a, uint64_t b))
{
	uint64_t nothing;

	return cpu_attempt(attempt, hole_of(cpu_slot()), 0, &nothing) ? 0 : fault_last()->address;
}

void run_attempt_within(const struct command_line *line)
{
	await_phase(FIRST_WITHIN);
	address_of_other = address_of_fault(read_word);
	atomic_store(&phase, OTHER_DONE);
}

void run_attempts(const struct command_line *line)
{
	unsigned slot = (unsigned)line->operand[0];
	uint64_t own;

	atomic_store(&phase, IDLE);
	if (!smp_run(slot, "attempt-within")) {
		console_say("core %ju is off or busy", (uint64_t)slot);
		return;
	}
	own = address_of_fault(fault_last_of_two);
	console_say("attempts ended by their own faults %ju, %ju", (uint64_t)(own == hole_of(cpu_slot())),
		    (uint64_t)(address_of_other == hole_of(slot)));
}
