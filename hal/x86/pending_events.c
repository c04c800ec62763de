/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: what a sandbox's cores do to each other with INIT, STARTUP and NMI. None of these reaches the hardware, which would
 * stop the monitor as well as the guest. The sender notes a pending core event in the target's `pending` and kicks it (apic/icr.c).
 * The target carries it out before its guest runs again.
 *
 *                 INIT: OFF | RESET                  STARTUP: OFF away
 *     runs ─────────────────────────────► waits ─────────────────────────► x86_core_start, runs
 *       ▲  NMI: once no other injection waits    │ INIT, NMI: nothing
 *
 * INIT clears every event before it. STARTUP to a core that is not off is ignored, so of INIT, STARTUP, STARTUP the last
 * costs the target nothing. SDM vol. 3A, 9.4.4 "MP Initialization Example", 11.6.1 "Interrupt Command Register (ICR)".
 */
#include "hal/x86/core.h"

enum { PENDING_OFF = 1 << 0, PENDING_RESET = 1 << 1, PENDING_NMI = 1 << 2 };

static bool is_off(const struct hal_core *core)
{
	return __atomic_load_n(&core->pending, __ATOMIC_SEQ_CST) & PENDING_OFF;
}

void x86_mark_off(struct hal_core *core)
{
	__atomic_store_n(&core->pending, PENDING_OFF, __ATOMIC_SEQ_CST);
}

void x86_mark_on(struct hal_core *core)
{
	__atomic_store_n(&core->pending, 0, __ATOMIC_SEQ_CST);
}

bool x86_post_init(struct hal_core *core)
{
	__atomic_store_n(&core->pending, PENDING_OFF | PENDING_RESET, __ATOMIC_SEQ_CST);
	return true;
}

/* The vector is stored before the event. If two cores send at once, the vector of either counts. */
bool x86_post_startup(struct hal_core *core, uint8_t vector)
{
	if (!is_off(core))
		return false;
	__atomic_store_n(&core->startup_vector, vector, __ATOMIC_RELAXED);
	__atomic_fetch_and(&core->pending, ~(uint32_t)PENDING_OFF, __ATOMIC_SEQ_CST);
	return true;
}

bool x86_post_nmi(struct hal_core *core)
{
	if (is_off(core))
		return false;
	__atomic_fetch_or(&core->pending, PENDING_NMI, __ATOMIC_SEQ_CST);
	return true;
}

/*
 * NMIs coalesce, and none takes the place of another injection. In either case the next run ends at once: what had to wait has its
 * turn then, and QEMU's TCG, which may deliver an injected interrupt a second time later on, forgets it.
 */
static void deliver_nmi(struct hal_core *core)
{
	x86_kick_core(core);
	if (x86_vendor->has_event(core))
		return;
	core->nmi = false;
	x86_vendor->inject(core, X86_EVENT_NMI);
}

bool hal_core_ready(struct hal_core *core)
{
	uint32_t pending = __atomic_fetch_and(&core->pending, PENDING_OFF, __ATOMIC_SEQ_CST);

	if (core->trap.rip)
		return true;
	if (pending & PENDING_RESET)
		x86_core_stop(core);
	if (pending & PENDING_OFF)
		return false;
	if (!core->started)
		x86_core_start(core, __atomic_load_n(&core->startup_vector, __ATOMIC_RELAXED));
	core->started = true;
	core->nmi |= (pending & PENDING_NMI) != 0;
	if (core->nmi)
		deliver_nmi(core);
	return true;
}
