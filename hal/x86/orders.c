/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: what a sandbox's cores do to each other with INIT, STARTUP and NMI. None of these reaches the hardware, which would
 * stop the monitor as well as the guest: the sender writes an order into the target's core and kicks it (apic/icr.c); the target
 * carries it out before its guest runs again.
 *
 *                 INIT: OFF | RESET                  STARTUP: OFF away
 *     runs ─────────────────────────────► waits ─────────────────────────► x86_core_start, runs
 *       ▲  NMI: as soon as no other event waits  │ INIT, NMI: nothing
 *
 * INIT wipes every order before it. STARTUP to a core that is not off is ignored, so of INIT, STARTUP, STARTUP the last
 * costs the target nothing. SDM vol. 3A, 9.4.4 "MP Initialization Example", 11.6.1 "Interrupt Command Register (ICR)".
 */
#include "hal/x86/core.h"

enum { ORDER_OFF = 1 << 0, ORDER_RESET = 1 << 1, ORDER_NMI = 1 << 2 };

static bool is_off(const struct hal_core *core)
{
	return __atomic_load_n(&core->orders, __ATOMIC_SEQ_CST) & ORDER_OFF;
}

void x86_order_off(struct hal_core *core)
{
	__atomic_store_n(&core->orders, ORDER_OFF, __ATOMIC_SEQ_CST);
}

void x86_order_on(struct hal_core *core)
{
	__atomic_store_n(&core->orders, 0, __ATOMIC_SEQ_CST);
}

bool x86_order_init(struct hal_core *core)
{
	__atomic_store_n(&core->orders, ORDER_OFF | ORDER_RESET, __ATOMIC_SEQ_CST);
	return true;
}

/* The vector is there before the order. Of two cores that send at once, either's counts. */
bool x86_order_startup(struct hal_core *core, uint8_t vector)
{
	if (!is_off(core))
		return false;
	__atomic_store_n(&core->startup_vector, vector, __ATOMIC_RELAXED);
	__atomic_fetch_and(&core->orders, ~(uint32_t)ORDER_OFF, __ATOMIC_SEQ_CST);
	return true;
}

bool x86_order_nmi(struct hal_core *core)
{
	if (is_off(core))
		return false;
	__atomic_fetch_or(&core->orders, ORDER_NMI, __ATOMIC_SEQ_CST);
	return true;
}

/*
 * NMIs coalesce, and none takes the place of another event. In either case the next run ends at once: what had to wait has its
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
	uint32_t orders = __atomic_fetch_and(&core->orders, ORDER_OFF, __ATOMIC_SEQ_CST);

	if (core->trap.rip)
		return true;
	if (orders & ORDER_RESET)
		x86_core_stop(core);
	if (orders & ORDER_OFF)
		return false;
	if (!core->started)
		x86_core_start(core, (uint8_t)__atomic_load_n(&core->startup_vector, __ATOMIC_RELAXED));
	core->started = true;
	core->nmi |= (orders & ORDER_NMI) != 0;
	if (core->nmi)
		deliver_nmi(core);
	return true;
}
