/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kick of a GICv3 with one security state: SGI 15 in group 0, which is an FIQ, which is the monitor's, whatever the
 * guest masks. It ends a WFI too. Signals coalesce; the counters in the box do not.
 */
#include "gicv3.h"

#include "hal/stage2/stage2.h"

uint32_t hal_kick_send(struct hal_core *self, uint32_t target)
{
	const struct kick_target *victim = &self->partition->targets[target];
	uint32_t ticket = __atomic_add_fetch(&self->partition->boxes[victim->core].requested, 1, __ATOMIC_RELEASE);

	arch_barrier();
	SYSREG_WRITE(ICC_SGI0R_EL1, icc_sgi_to(victim->hardware_id, GIC_KICK_SGI));
	arch_isb();
	return ticket;
}

/* A signal that arrives after its request has been answered here ends in one exit with nothing to do. */
uint32_t hal_kick_take(struct hal_core *core)
{
	struct hal_kick_box *box = kick_box_of(core);
	uint32_t requested = __atomic_load_n(&box->requested, __ATOMIC_ACQUIRE);
	uint32_t answered = requested - box->acknowledged;

	if (answered)
		__atomic_store_n(&box->acknowledged, requested, __ATOMIC_RELEASE);
	return answered;
}
