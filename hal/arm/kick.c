/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kick (BH-I4.kick). Whatever a core runs, it must fetch: so a kick takes the valid bit from every used entry of the victim's
 * stage-2 root, and the victim's next fetch ends in its monitor, however it has set up its interrupts. A reserved SGI, the signal,
 * only ends a sleep: GICv3 delivers it to the monitor as an FIQ, on GICv2 it is cleared at the distributor. A guest could close
 * its CPU interface to it, so where somebody may kick, sleeping is the monitor's (HCR.TWI).
 *
 *   kicker                                  victim, a sandbox's first core, after every exit
 *   requested++                             requested != acknowledged?
 *   poison root, TLB of its VMID              wait until sent == requested, within a bound
 *   unless it is acknowledged by then:        acknowledged = requested; clear the signal
 *     signal; SEV for a sleep in WFE          heal the root; requested again? poison it again
 *   sent++
 *
 * All cores of a sandbox share the root, so a kick stops all of them. One that is not the victim waits, within a bound, until
 * the victim has acknowledged and healed, and tries its instruction again. It heals only what nobody has healed within the bound: while it
 * did, another kicker's signal would find the victim's guest with a whole root. Poisoning twice is poisoning once, and so is healing.
 *
 * Nothing is lost, because nobody heals without a second look. A kicker's `requested` is visible before the first entry changes,
 * so whoever heals over its poison reads, after a barrier, what it has requested: either the victim has acknowledged that by
 * then, and the kick is answered, or the root is poisoned again. A poison that comes later than that stands: the next fetch ends
 * in a monitor, which heals whether or not anything is left to acknowledge. Nothing would be lost by not waiting for `sent`;
 * waiting spares a guest the late signal, which on GICv2 it would take as an interrupt that nobody explains, and Linux would never end.
 * A victim that has waited in vain does not wait for that signal again: a kicker whose monitor trapped half-way costs it the bound once.
 * Kickers never wait for each other.
 *
 * When a sandbox ends, or begins again, the root stays poisoned (`closed`): its other cores come into their monitor and stay there.
 */
#include "arch/arch.h"
#include "hal/arm/stage2.h"
#include "tlb.h"

enum { VALID = 1, POLLS = 1 << 22, RETRIES = 64 };

static uint32_t load(const uint32_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static void set_valid(const struct root *root, uint64_t valid)
{
	for (unsigned word = 0; word < ROOT_WORDS; word++)
		for (uintptr_t left = root->used[word]; left; left &= left - 1) {
			uint64_t *entry = &root->entries[word * ROOT_BITS + (unsigned)__builtin_ctzl(left)];

			__atomic_store_n(entry, (__atomic_load_n(entry, __ATOMIC_RELAXED) & ~(uint64_t)VALID) | valid, __ATOMIC_RELAXED);
		}
}

static bool is_whole(const struct root *root)
{
	for (unsigned word = 0; word < ROOT_WORDS; word++)
		for (uintptr_t left = root->used[word]; left; left &= left - 1)
			if (!(__atomic_load_n(&root->entries[word * ROOT_BITS + (unsigned)__builtin_ctzl(left)], __ATOMIC_RELAXED) & VALID))
				return false;
	return true;
}

HAL_OUTLINE static void invalidate(uint64_t vttbr, uint64_t own_vttbr)
{
	stage2_invalidate(vttbr, own_vttbr);
}

static void poison(const struct root *root, uint64_t vttbr, uint64_t own_vttbr)
{
	set_valid(root, 0);
	invalidate(vttbr, own_vttbr);
}

static void poison_own(const struct hal_partition *partition)
{
	poison(&partition->root, partition->vttbr, partition->vttbr);
}

static bool is_acknowledged(const struct hal_kick_mailbox *box, uint32_t ticket)
{
	return (int32_t)(load(&box->acknowledged) - ticket) >= 0;
}

/* A victim that would not wait any longer, await_sent, gets no signal: on GICv2 its guest would take it for an interrupt of its own. */
uint32_t hal_kick_send(struct hal_core *self, uint32_t target)
{
	const struct kick_target *victim = &self->partition->targets[target];
	struct hal_kick_mailbox *box = victim->box;
	uint32_t ticket;

	if (!victim->root.entries)
		return 0;
	ticket = __atomic_add_fetch(&box->requested, 1, __ATOMIC_ACQ_REL);
	arch_barrier();
	poison(&victim->root, victim->vttbr, self->partition->vttbr);
	if (!is_acknowledged(box, ticket)) {
		gic_signal(victim->hardware_id);
		stage2_wake();
	}
	__atomic_add_fetch(&box->sent, 1, __ATOMIC_ACQ_REL);
	return ticket;
}

bool hal_kick_answered(const struct hal_core *self, uint32_t target, uint32_t ticket)
{
	const struct kick_target *victim = &self->partition->targets[target];

	return victim->root.entries && is_acknowledged(victim->box, ticket);
}

void hal_kick_siblings(struct hal_core *self)
{
	struct hal_partition *partition = self->partition;

	__atomic_store_n(&partition->closed, true, __ATOMIC_RELEASE);
	arch_barrier();
	poison_own(partition);
	for (uint32_t slot = 0; slot < partition->core_count; slot++)
		if (slot != self->slot)
			gic_signal(partition->hardware_id[slot]);
	stage2_wake();
}

void hal_gate_turn(struct hal_core *self, const struct hal_gate *gate, bool open)
{
	uint64_t vttbr = self->partition->vttbr;

	pt_gate_turn(gate, open);
	invalidate(vttbr, vttbr);
}

void hal_notice_send(const struct hal_core *self)
{
	for (const struct told *to = self->partition->told; to->box; to++) {
		__atomic_store_n(&to->box->noticed, 1, __ATOMIC_RELEASE);
		arch_barrier();
		gic_notice(to->hardware_id);
	}
}

void kick_repeat_notice(const struct hal_core *core)
{
	arch_barrier();
	if (!core->slot && load(&core->partition->box->noticed))
		gic_notice(core->partition->hardware_id[0]);
}

static bool is_unanswered(const struct hal_partition *partition)
{
	const struct hal_kick_mailbox *box = partition->box;

	return load(&box->requested) != load(&box->acknowledged);
}

static bool is_closed(const struct hal_partition *partition)
{
	return __atomic_load_n(&partition->closed, __ATOMIC_ACQUIRE);
}

/* Somebody wants the sandbox stopped: for the victim's answer, or until it begins again. */
static bool is_wanted(const struct hal_partition *partition)
{
	return is_unanswered(partition) || is_closed(partition);
}

/* Waits, no longer than POLLS, until the victim has answered and healed, or the sandbox ends. Returns whether anything is left to heal. */
static bool is_left_over(const struct hal_partition *partition)
{
	unsigned polls = 0;

	while (is_unanswered(partition) || !is_whole(&partition->root)) {
		if (polls++ == POLLS || is_closed(partition))
			return true;
		arch_relax();
	}
	return false;
}

void kick_clear(const struct hal_core *core)
{
	const struct hal_partition *partition = core->partition;

	gic_clear_signal();
	if ((core->slot && !is_left_over(partition)) || is_wanted(partition))
		return;
	set_valid(&partition->root, VALID);
	arch_barrier();
	if (is_wanted(partition))
		poison_own(partition);
}

void kick_reopen(struct hal_core *core)
{
	__atomic_store_n(&core->partition->closed, false, __ATOMIC_RELEASE);
	kick_clear(core);
}

/* Signals not sent for what is requested. `sent` is read first: what is equal to it a moment later has been sent in full. */
static uint32_t missing(const struct hal_kick_mailbox *box)
{
	uint32_t sent = load(&box->sent);

	return load(&box->requested) - sent;
}

/* Until the signal of each request is on its way, but for those that were waited for in vain before, and no longer than POLLS. */
static void await_sent(struct hal_core *core, const struct hal_kick_mailbox *box)
{
	unsigned polls = 0;

	while (missing(box) > core->kick_lost && polls++ < POLLS && !is_closed(core->partition))
		arch_relax();
	if (polls > POLLS)
		core->kick_lost = missing(box);
}

bool kick_is_pending(const struct hal_core *core)
{
	return !core->slot && is_unanswered(core->partition);
}

/*
 * BH-I8.bounded. One request stops a core once, or a few times while siblings heal. An access that fails for ever, whoever asks or
 * not, is no kick's doing: a machine that tells addresses incompletely makes a hole look like a poisoned entry. Each request allows
 * as many tries again, so while others kick, such an access may go on; every try answers them, and only the sandbox itself waits.
 * What closes the root for a restart or the end stops each core once, and the phase keeps it.
 */
bool kick_explains(struct hal_core *core)
{
	uint32_t requested = load(&core->partition->box->requested);

	if (core->kick_seen != requested)
		core->kick_retries = 0;
	core->kick_seen = requested;
	return is_closed(core->partition) || core->kick_retries++ < RETRIES;
}

/* Who comes while earlier ones are answered is answered in another round; who comes then has poisoned the root again. */
uint32_t hal_kick_take(struct hal_core *core)
{
	struct hal_kick_mailbox *box = core->partition->box;
	uint32_t before = box->acknowledged, lost;

	if (core->slot)
		return 0;
	for (unsigned round = 0; load(&box->requested) != box->acknowledged && round < BH_MAX_SANDBOXES; round++) {
		uint32_t requested = load(&box->requested);

		await_sent(core, box);
		__atomic_store_n(&box->acknowledged, requested, __ATOMIC_RELEASE);
		kick_clear(core);
	}
	lost = missing(box);
	if (lost < core->kick_lost)
		core->kick_lost = lost;
	return box->acknowledged - before;
}
