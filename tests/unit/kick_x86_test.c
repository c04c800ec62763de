/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kicks on PCs (BH-I4.kick): hal/x86/kick.c. Whoever takes an NMI finds every request it stands for, so the request is counted before
 * the NMI leaves; a core that is not awake yet gets none. No two cores share more here than counters, so no turns have to be taken.
 */
#include <string.h>

#include "check.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

enum { VICTIM = 2, STRANGER = 3, CORES = 3, VICTIM_ID = 40, TOLD_ID = 50, TOLD_LAST = 4, TOLD_LAST_ID = 51 };

static struct hal_kick_mailbox boxes[BH_MAX_CORES];
static struct hal_partition kickers, victims;
static struct hal_core kicker, cores[CORES];
static struct {
	unsigned count, vector;
	uint64_t ids; /* a bit each */
	enum apic_mode mode;
	uint32_t requested; /* of the victim, when the last left */
	uint32_t noticed;   /* interrupts whose target's mailbox told of them when they left */
} sent;

void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
{
	sent.count++;
	sent.ids |= UINT64_C(1) << apic_id;
	sent.mode = mode;
	sent.vector = vector;
	sent.requested = boxes[VICTIM].requested;
	sent.noticed += boxes[apic_id == TOLD_LAST_ID ? TOLD_LAST : VICTIM].noticed;
}

static void prepare(bool awake)
{
	memset(boxes, 0, sizeof(boxes));
	memset(&sent, 0, sizeof(sent));
	boxes[VICTIM].awake = awake;
	kickers = (struct hal_partition){ .core_count = 1 };
	kickers.kick[VICTIM] = (struct x86_kick_target){ &boxes[VICTIM], VICTIM_ID };
	kicker = (struct hal_core){ .partition = &kickers };
	victims = (struct hal_partition){ .core_count = CORES };
	for (unsigned slot = 0; slot < CORES; slot++) {
		cores[slot] = (struct hal_core){ .partition = &victims, .box = &boxes[VICTIM + slot], .slot = slot, .apic_id = slot };
		victims.core[slot] = &cores[slot];
		victims.apic_id[slot] = slot;
	}
}

static void test_order(void)
{
	uint32_t ticket;

	check_context.subject = "one kick";
	prepare(true);
	ticket = hal_kick_send(&kicker, VICTIM);
	CHECK_EQ(sent.count, 1);
	CHECK_EQ(sent.ids, UINT64_C(1) << VICTIM_ID);
	CHECK_EQ(sent.mode, APIC_NMI);
	CHECK_EQ(sent.requested, 1);
	CHECK(!hal_kick_answered(&kicker, VICTIM, ticket));
	CHECK_EQ(hal_kick_take(&cores[0]), 1);
	CHECK(hal_kick_answered(&kicker, VICTIM, ticket));
	CHECK_EQ(hal_kick_take(&cores[0]), 0);
	CHECK_EQ(boxes[VICTIM].acknowledged, 1);
}

/* It will look into its box when it has woken. */
static void test_not_awake(void)
{
	check_context.subject = "not awake";
	prepare(false);
	CHECK_EQ(hal_kick_send(&kicker, VICTIM), 1);
	CHECK_EQ(sent.count, 0);
	CHECK_EQ(hal_kick_take(&cores[0]), 1);
}

/* Coalesced requests are answered together, whatever number counting has come to. */
static void test_together(void)
{
	uint32_t first, second, third;

	check_context.subject = "together";
	prepare(true);
	boxes[VICTIM].requested = boxes[VICTIM].acknowledged = UINT32_MAX - 1;
	first = hal_kick_send(&kicker, VICTIM);
	second = hal_kick_send(&kicker, VICTIM);
	CHECK_EQ(second, 0);
	CHECK(!hal_kick_answered(&kicker, VICTIM, first));
	CHECK_EQ(hal_kick_take(&cores[0]), 2);
	CHECK(hal_kick_answered(&kicker, VICTIM, first));
	CHECK(hal_kick_answered(&kicker, VICTIM, second));
	third = hal_kick_send(&kicker, VICTIM);
	CHECK(!hal_kick_answered(&kicker, VICTIM, third));
	CHECK_EQ(hal_kick_take(&cores[0]), 1);
}

static void test_not_allowed(void)
{
	check_context.subject = "not allowed";
	prepare(true);
	CHECK_EQ(hal_kick_send(&kicker, STRANGER), 0);
	CHECK_EQ(sent.count, 0);
	CHECK(!hal_kick_answered(&kicker, STRANGER, 0));
}

/* All that are awake, and oneself, whose gates may have been closed. */
static void test_siblings(void)
{
	check_context.subject = "siblings";
	prepare(true);
	boxes[VICTIM + 1].awake = boxes[VICTIM + 2].awake = 1;
	hal_kick_siblings(&cores[1]);
	CHECK_EQ(sent.ids, 1 << 0 | 1 << 1 | 1 << 2);
	CHECK_EQ(sent.mode, APIC_NMI);
	boxes[VICTIM + 2].awake = 0;
	sent.ids = 0;
	hal_kick_siblings(&cores[1]);
	CHECK_EQ(sent.ids, 1 << 0 | 1 << 1);
}

/* What is behind a gate comes and goes in one store; who closes it kicks every core, which forgets what it knew of it. */
static void test_gates(void)
{
	uint64_t entry = 0;
	const struct hal_gate gate = { &entry, 0x123067 };

	check_context.subject = "gates";
	prepare(true);
	boxes[VICTIM + 1].awake = boxes[VICTIM + 2].awake = 1;
	hal_gate_turn(&cores[1], &gate, true);
	CHECK(entry == 0x123067 && sent.count == 0);
	hal_gate_turn(&cores[1], &gate, false);
	CHECK_EQ(entry, 0);
	CHECK_EQ(sent.ids, 1 << 0 | 1 << 1 | 1 << 2);
	hal_gate_turn(&cores[1], &gate, false); /* it was */
	CHECK_EQ(entry, 0);
}

/* Sixteen cores, whoever asks: each once, and only those that are awake. */
static void test_many_siblings(void)
{
	static struct hal_partition wide = { .core_count = BH_MAX_SANDBOX_CORES };
	static struct hal_core many[BH_MAX_SANDBOX_CORES];
	const uint64_t all = (UINT64_C(1) << BH_MAX_SANDBOX_CORES) - 1;

	check_context.subject = "many siblings";
	prepare(false);
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) {
		many[slot] = (struct hal_core){ .partition = &wide, .box = &boxes[slot], .slot = slot, .apic_id = slot };
		wide.core[slot] = &many[slot];
		boxes[slot].awake = 1;
	}
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) {
		check_context.round = slot;
		memset(&sent, 0, sizeof(sent));
		hal_kick_siblings(&many[slot]);
		CHECK_EQ(sent.count, BH_MAX_SANDBOX_CORES);
		CHECK_EQ(sent.ids, all);
		CHECK_EQ(sent.mode, APIC_NMI);
		boxes[slot].awake = 0;
		memset(&sent, 0, sizeof(sent));
		hal_kick_siblings(&many[(slot + 1) % BH_MAX_SANDBOX_CORES]);
		CHECK_EQ(sent.count, BH_MAX_SANDBOX_CORES - 1);
		boxes[slot].awake = 1;
	}
	check_context.round = 0;
}

/* Noted first: whoever begins meanwhile looks there. */
static void test_notice(void)
{
	check_context.subject = "notice";
	prepare(true);
	hal_notice_send(&kicker);
	x86_repeat_notice(&cores[0]); /* there is nothing to tell: it would write a register that this program must not */
	CHECK_EQ(sent.count, 0);
	kickers.told[0] = (struct x86_kick_target){ &boxes[VICTIM], TOLD_ID };
	kickers.told[1] = (struct x86_kick_target){ &boxes[TOLD_LAST], TOLD_LAST_ID };
	hal_notice_send(&kicker);
	CHECK_EQ(sent.count, 2);
	CHECK_EQ(sent.ids, UINT64_C(1) << TOLD_ID | UINT64_C(1) << TOLD_LAST_ID);
	CHECK_EQ(sent.mode, APIC_FIXED);
	CHECK_EQ(sent.vector, BH_NOTICE_VECTOR);
	CHECK_EQ(sent.noticed, 2);
	CHECK_EQ(boxes[VICTIM].requested, 0);
}

int main(void)
{
	test_order();
	test_not_awake();
	test_together();
	test_not_allowed();
	test_siblings();
	test_gates();
	test_many_siblings();
	test_notice();
	return 0;
}
