/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: kicks are NMIs, which the guest below never sees. A mailbox counts requests before the NMI leaves, so whoever takes
 * an NMI finds every request it stands for, and coalesced ones are answered together. A core that is not awake yet could
 * not survive an NMI; it looks into its mailbox when it has woken (core_boot.c), and needs none.
 */
#include "hal/doorbell.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

/* Whoever is not awake yet looks at everything before its first run. */
void x86_kick_core(const struct hal_core *core)
{
	if (__atomic_load_n(&core->box->awake, __ATOMIC_SEQ_CST))
		apic_send(core->apic_id, APIC_NMI, 0);
}

void hal_kick_siblings(struct hal_core *self)
{
	for (uint32_t slot = 0; slot < self->partition->core_count; slot++)
		x86_kick_core(self->partition->core[slot]);
}

/*
 * Who has been kicked has forgotten all translations when its guest runs next (BH-D1116), this core too. What was a hole nobody has kept:
 * APM vol. 2, 5.5.3 "TLB Management"; SDM vol. 3C, 29.4.2 "Creating and Using Cached Translation Information".
 */
void hal_gate_turn(struct hal_core *self, const struct hal_gate *gate, bool open)
{
	pt_gate_turn(gate, open);
	if (!open)
		hal_kick_siblings(self);
}

uint32_t hal_kick_send(struct hal_core *self, uint32_t target)
{
	const struct x86_kick_target *to = &self->partition->kick[target];
	uint32_t ticket;

	if (!to->box)
		return 0;
	ticket = __atomic_add_fetch(&to->box->requested, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&to->box->awake, __ATOMIC_SEQ_CST))
		apic_send(to->apic_id, APIC_NMI, 0);
	return ticket;
}

bool hal_kick_answered(const struct hal_core *self, uint32_t target, uint32_t ticket)
{
	const struct hal_kick_mailbox *box = self->partition->kick[target].box;

	return box && (int32_t)(__atomic_load_n(&box->acknowledged, __ATOMIC_ACQUIRE) - ticket) >= 0;
}

void hal_notice_send(const struct hal_core *self)
{
	for (const struct x86_kick_target *to = self->partition->told; to->box; to++) {
		__atomic_store_n(&to->box->noticed, 1, __ATOMIC_SEQ_CST);
		apic_send(to->apic_id, APIC_FIXED, BH_NOTICE_VECTOR);
	}
}

void x86_repeat_notice(const struct hal_core *core)
{
	if (__atomic_load_n(&core->box->noticed, __ATOMIC_SEQ_CST))
		x86_wrmsr(APIC_SELF_IPI, BH_NOTICE_VECTOR);
}

/* Which vector and core a guest has chosen for a line may change meanwhile: both old and new ones are its own. */
int64_t hal_doorbell_ring(struct hal_core *self, uint64_t n)
{
	struct hal_doorbell *doorbell;
	uint32_t vector;
	int64_t result;
	bool rings;

	if (n >= BH_MAX_CHANNELS)
		return BH_E_DENIED;
	doorbell = &self->doorbells[n];
	result = hal_doorbell_claim(doorbell, &rings);
	if (!rings)
		return result;
	vector = __atomic_load_n(&doorbell->told->vector, __ATOMIC_ACQUIRE);
	if (vector)
		apic_send(doorbell->told->core, APIC_FIXED, (uint8_t)vector);
	return result;
}

uint32_t hal_kick_take(struct hal_core *core)
{
	uint32_t requested = __atomic_load_n(&core->box->requested, __ATOMIC_ACQUIRE);
	uint32_t answered = requested - core->box->acknowledged;

	__atomic_store_n(&core->box->acknowledged, requested, __ATOMIC_RELEASE);
	return answered;
}
