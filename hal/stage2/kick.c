/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kick (BH-I4.kick). Whatever a core runs, it must fetch: so a kick takes the valid bit from every entry of the victim's stage-2
 * root, and the victim's next fetch ends in its monitor, however it has set up its interrupts. A reserved SGI, the signal,
 * only ends a sleep: GICv3 delivers it to the monitor as an FIQ; on GICv2, where the CPU interface is the guest's, sleeping
 * is the monitor's (HCR.TWI), and the signal is cleared at the distributor.
 *
 *   kicker                                  victim, behind every exit
 *   requested++                             requested != acknowledged?
 *   poison root, TLB of its VMID              wait until sent == requested, within a bound
 *   signal; SEV for a sleep in WFE            clear the signal, heal the root
 *   sent++                                    acknowledged = requested; look again: another may have poisoned meanwhile
 *
 * The order is what counts: `requested` is visible before the first entry changes, and the victim reads what it acknowledges
 * after it has healed, so whoever poisons later than that poisons for good: the next fetch ends in the monitor, which heals
 * whether or not anything is left to acknowledge. Nothing is lost by not waiting for `sent`; waiting spares a guest the late
 * signal. A kicker whose monitor trapped half-way costs its victims that bound, no more. Kickers never wait for each other.
 * Poisoning twice is poisoning once, and so is healing.
 */
#include "arch/arch.h"
#include "hal/stage2/stage2.h"
#include "tlb.h"

enum { ROOT_ENTRIES = 512, VALID = 1, SENT_POLLS = 1 << 20 };

/* Holes are 0 and stay so. */
static void set_valid(uint64_t *root, uint64_t valid)
{
	for (unsigned n = 0; n < ROOT_ENTRIES; n++) {
		uint64_t entry = __atomic_load_n(&root[n], __ATOMIC_RELAXED);

		if (entry)
			__atomic_store_n(&root[n], (entry & ~(uint64_t)VALID) | valid, __ATOMIC_RELAXED);
	}
}

static void poison(uint64_t *root)
{
	set_valid(root, 0);
}

static void heal(uint64_t *root)
{
	set_valid(root, VALID);
}

uint32_t hal_kick_send(struct hal_core *self, uint32_t target)
{
	const struct kick_target *victim = &self->partition->targets[target];
	struct hal_kick_box *box = &self->partition->boxes[victim->core];
	uint32_t ticket = __atomic_add_fetch(&box->requested, 1, __ATOMIC_ACQ_REL);

	arch_barrier();
	poison(victim->root);
	stage2_invalidate(victim->vttbr, self->partition->vttbr);
	gic_signal(victim->hardware_id);
	stage2_wake();
	__atomic_add_fetch(&box->sent, 1, __ATOMIC_ACQ_REL);
	return ticket;
}

bool hal_kick_answered(const struct hal_core *self, uint32_t target, uint32_t ticket)
{
	const struct hal_kick_box *box = &self->partition->boxes[self->partition->targets[target].core];

	return (int32_t)(__atomic_load_n(&box->acknowledged, __ATOMIC_ACQUIRE) - ticket) >= 0;
}

void kick_clear(const struct hal_core *core)
{
	gic_clear_signal();
	heal(core->partition->stage2.root);
	arch_barrier();
}

/* The requests whose signal is on its way: all, unless a kicker takes too long. */
static uint32_t await_sent(const struct hal_kick_box *box)
{
	for (unsigned polls = 0; polls < SENT_POLLS; polls++) {
		if (__atomic_load_n(&box->requested, __ATOMIC_ACQUIRE) == __atomic_load_n(&box->sent, __ATOMIC_ACQUIRE))
			break;
		arch_relax();
	}
	return __atomic_load_n(&box->sent, __ATOMIC_ACQUIRE);
}

uint32_t hal_kick_take(struct hal_core *core)
{
	struct hal_kick_box *box = kick_box_of(core);
	uint32_t before = box->acknowledged, requested = before, sent = before;

	if (__atomic_load_n(&box->requested, __ATOMIC_ACQUIRE) == before)
		return 0;
	for (unsigned round = 0; round < BH_MAX_SANDBOXES && (!round || requested != sent); round++) {
		sent = await_sent(box);
		kick_clear(core);
		requested = __atomic_load_n(&box->requested, __ATOMIC_ACQUIRE);
		__atomic_store_n(&box->acknowledged, requested, __ATOMIC_RELEASE);
	}
	return requested - before;
}
