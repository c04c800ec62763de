/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kicks on ARM (BH-I4.kick, BH-I8.bounded): hal/arm/kick.c, with kickers that stall wherever another core could see the difference, and
 * a victim that meanwhile answers, waits, or waits in vain. A kicker is a thread that runs only while the victim stands still, so every
 * test takes the same turns.
 *
 *   counts the request ─ COUNTED ─ poisons ─ POISONED ─ invalidates ─ looks ─ DECIDED ─ signals ─ SIGNALLED ─ counts it sent
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "check.h"
#include "fake_arch.h"
#include "hal/arm/stage2.h"
#include "tlb.h"

enum stall { COUNTED, POISONED, DECIDED, SIGNALLED, NOWHERE };
enum { POLLS = 1 << 22, RETRIES = 64, VICTIM = 1, MACHINE_CORE = 3, HARDWARE_ID = 0x100, SIBLING_ID = 0x101, IN_VAIN = POLLS };
enum { VTTBR = 0x2000, KICKER_VTTBR = 0x1000, TOLD = 5, TOLD_ID = 0x200, TOLD_LAST = 6, TOLD_LAST_ID = 0x300 };

/* The victim: its root leads somewhere by these entries alone. Bit 0 says that an entry is valid, the others must stay. */
static const unsigned used[] = { 1, 63, 64, 511 };
enum { USED = sizeof(used) / sizeof(used[0]) };
#define ENTRY(index) (UINT64_C(0x40000003) + ((uint64_t)(index) << 12))

static uint64_t entries[STAGE2_ROOT_ENTRIES];
static struct hal_kick_mailbox boxes[BH_MAX_CORES];
static struct hal_partition victims, kickers;
static struct hal_core victim, sibling;
static struct {
	bool translated; /* some core still has a translation from before */
	bool signalled;  /* the signal waits at the victim's interface */
	unsigned late;   /* signals that its guest had to explain */
	unsigned relaxed, signals, wakes, noticed;
	uint64_t signalled_id, noticed_id, noticed_before;
} machine;

static struct kicker {
	pthread_t thread;
	sem_t go, stopped;
	struct hal_core core;
	enum stall stall;
	bool done;
	uint32_t ticket;
} first, second;
static _Thread_local struct kicker *running; /* NULL: the victim */
static struct kicker *awaited;               /* goes on when the victim has waited for so long */
static unsigned patience;

static void stop_at(enum stall point)
{
	if (!running || running->stall != point)
		return;
	sem_post(&running->stopped);
	sem_wait(&running->go);
}

static void *kick(void *argument)
{
	running = argument;
	running->ticket = hal_kick_send(&running->core, VICTIM);
	running->done = true;
	sem_post(&running->stopped);
	return NULL;
}

/* Comes back when it has stalled, or is done. */
static void start(struct kicker *kicker, enum stall stall)
{
	*kicker = (struct kicker){ .core = { .partition = &kickers }, .stall = stall };
	sem_init(&kicker->go, 0, 0);
	sem_init(&kicker->stopped, 0, 0);
	CHECK_EQ(pthread_create(&kicker->thread, NULL, kick, kicker), 0);
	sem_wait(&kicker->stopped);
}

static void finish(struct kicker *kicker)
{
	if (!kicker->done) {
		sem_post(&kicker->go);
		sem_wait(&kicker->stopped);
	}
	pthread_join(kicker->thread, NULL);
}

static void relax(void)
{
	CHECK(!running); /* kickers wait for nobody */
	CHECK(++machine.relaxed <= POLLS);
	if (awaited && machine.relaxed == patience) {
		sem_post(&awaited->go);
		sem_wait(&awaited->stopped);
	}
}

static void barrier(void)
{
	stop_at(COUNTED);
}

/* Of the used entries alone, and of them the valid bit alone. */
static bool is_whole(void)
{
	unsigned valid = 0;

	for (unsigned n = 0; n < USED; n++) {
		CHECK_EQ(entries[used[n]] | 1, ENTRY(used[n]));
		valid += entries[used[n]] & 1;
	}
	CHECK_EQ(entries[0], 0);
	CHECK_EQ(entries[2], ENTRY(2));
	CHECK(valid == 0 || valid == USED);
	return valid;
}

/* Its guest fetches all the while. */
void stage2_invalidate(uint64_t vttbr, uint64_t own)
{
	CHECK_EQ(vttbr, VTTBR);
	CHECK_EQ(own, running ? KICKER_VTTBR : VTTBR);
	stop_at(POISONED);
	machine.translated = is_whole();
}

void gic_signal(uint64_t hardware_id)
{
	stop_at(DECIDED);
	machine.signalled_id = hardware_id;
	machine.signalled |= hardware_id == HARDWARE_ID;
	machine.signals++;
}

void stage2_wake(void)
{
	stop_at(SIGNALLED);
	machine.wakes++;
}

static void (*on_clear)(void);

void gic_clear_signal(void)
{
	machine.signalled = false;
	if (on_clear)
		on_clear();
}

void gic_notice(uint64_t hardware_id)
{
	machine.noticed++;
	machine.noticed_before = machine.noticed_id;
	machine.noticed_id = hardware_id;
}

static void prepare(void)
{
	memset(entries, 0, sizeof(entries));
	memset(boxes, 0, sizeof(boxes));
	memset(&machine, 0, sizeof(machine));
	machine.translated = true;
	victims = (struct hal_partition){ .root.entries = entries, .vttbr = VTTBR, .box = &boxes[MACHINE_CORE], .core_count = 2 };
	victims.hardware_id[0] = HARDWARE_ID;
	victims.hardware_id[1] = SIBLING_ID;
	for (unsigned n = 0; n < USED; n++) {
		entries[used[n]] = ENTRY(used[n]);
		victims.root.used[used[n] / ROOT_BITS] |= (uintptr_t)1 << used[n] % ROOT_BITS;
	}
	entries[2] = ENTRY(2); /* valid, and not noted: nobody's to touch */
	kickers = (struct hal_partition){ .vttbr = KICKER_VTTBR };
	kickers.targets[VICTIM] = (struct kick_target){
		.root = victims.root, .vttbr = VTTBR, .hardware_id = HARDWARE_ID, .box = &boxes[MACHINE_CORE]
	};
	victim = (struct hal_core){ .partition = &victims };
	sibling = (struct hal_core){ .partition = &victims, .slot = 1 };
	awaited = NULL;
	on_clear = NULL;
	fake_arch = (struct fake_arch){ .on_relax = relax, .on_barrier = barrier };
}

static uint32_t take(void)
{
	machine.relaxed = 0;
	return hal_kick_take(&victim);
}

/* The guest goes on: it fetches, and comes back as often as its root is poisoned. The requests that were answered. */
static uint32_t run_guest(void)
{
	uint32_t answered = 0;

	for (unsigned fetches = 0; !machine.translated && !is_whole(); fetches++) {
		CHECK(fetches < 4 && kick_explains(&victim));
		kick_clear(&victim);
		answered += take();
	}
	machine.translated = true;
	machine.late += machine.signalled;
	machine.signalled = false;
	return answered;
}

static void check_settled(uint32_t requests)
{
	const struct hal_kick_mailbox *box = &boxes[MACHINE_CORE];

	CHECK(is_whole());
	CHECK_EQ(box->requested, requests);
	CHECK_EQ(box->sent, requests);
	CHECK_EQ(box->acknowledged, requests);
	CHECK(!kick_is_pending(&victim));
}

/*
 * One kick. The victim comes by itself, or is in its monitor just then; the kicker goes on when the victim has waited this long for it, or
 * has done so in vain and runs its guest again. One order of events alone lets a guest see the signal: decided, then answered, then sent.
 */
static void kick_once(enum stall stall, bool looks, unsigned waits)
{
	const bool in_vain = waits == IN_VAIN;
	uint32_t answered;

	check_context.round = stall * 100 + looks * 10 + (in_vain ? 9 : waits);
	prepare();
	start(&first, stall);
	awaited = in_vain || stall == NOWHERE ? NULL : &first;
	patience = waits;
	answered = looks ? take() : 0;
	answered += run_guest();
	awaited = NULL;
	finish(&first);
	answered += run_guest();
	CHECK_EQ(answered, 1);
	CHECK(hal_kick_answered(&first.core, VICTIM, first.ticket));
	CHECK_EQ(machine.late, stall == DECIDED && in_vain);
	check_settled(1);
}

static void test_every_point(void)
{
	static const unsigned waits[] = { 1, 2, IN_VAIN };

	check_context.subject = "one kick";
	for (enum stall stall = COUNTED; stall <= NOWHERE; stall++)
		for (unsigned n = 0; n < sizeof(waits) / sizeof(waits[0]); n++) {
			kick_once(stall, false, waits[n]);
			kick_once(stall, true, waits[n]);
		}
}

/* Who comes late and finds the answer given sends nothing; who is in time sends one signal and wakes. */
static void test_late(void)
{
	check_context.subject = "a kicker that comes late";
	prepare();
	start(&first, POISONED);
	CHECK_EQ(take(), 1);
	CHECK_EQ(machine.relaxed, POLLS);
	CHECK_EQ(victim.kick_lost, 1);
	finish(&first);
	CHECK_EQ(machine.signals, 0);
	run_guest();
	check_settled(1);

	check_context.subject = "a kicker in time";
	prepare();
	start(&first, NOWHERE);
	finish(&first);
	CHECK_EQ(machine.signals, 1);
	CHECK_EQ(machine.wakes, 1);
	CHECK_EQ(machine.signalled_id, HARDWARE_ID);
	CHECK(!hal_kick_answered(&first.core, VICTIM, first.ticket));
	CHECK(!is_whole());
	CHECK_EQ(take(), 1);
	CHECK_EQ(machine.relaxed, 0);
	check_settled(1);
}

/* A signal that was waited for in vain is not waited for again, until it has been sent; others' are. */
static void test_lost(void)
{
	check_context.subject = "a lost signal";
	prepare();
	start(&first, DECIDED);
	CHECK_EQ(take(), 1);
	CHECK_EQ(machine.relaxed, POLLS);
	start(&second, NOWHERE);
	finish(&second);
	CHECK_EQ(take(), 1);
	CHECK_EQ(machine.relaxed, 0);
	CHECK_EQ(victim.kick_lost, 1);

	check_context.subject = "another's signal";
	start(&second, DECIDED);
	awaited = &second;
	patience = 3;
	CHECK_EQ(take(), 1);
	CHECK_EQ(machine.relaxed, patience);
	finish(&second);

	check_context.subject = "a signal found again";
	awaited = NULL;
	finish(&first);
	take();
	CHECK_EQ(victim.kick_lost, 0);
	start(&first, DECIDED);
	awaited = &first;
	CHECK_EQ(take(), 1);
	CHECK_EQ(machine.relaxed, patience);
	finish(&first);
	run_guest();
	check_settled(4);
}

/* Two kicks, one answer; each ticket has it. */
static void test_together(void)
{
	check_context.subject = "two kickers";
	prepare();
	start(&first, SIGNALLED);
	start(&second, NOWHERE);
	finish(&second);
	CHECK(!hal_kick_answered(&first.core, VICTIM, first.ticket + 1));
	awaited = &first;
	patience = 2;
	CHECK_EQ(run_guest(), 2);
	finish(&first);
	CHECK(hal_kick_answered(&first.core, VICTIM, first.ticket));
	CHECK(hal_kick_answered(&second.core, VICTIM, second.ticket));
	CHECK(!hal_kick_answered(&second.core, VICTIM, 3));
	check_settled(2);
}

static unsigned storms;

static void storm(void)
{
	CHECK(++storms <= BH_MAX_SANDBOXES);
	start(&first, NOWHERE);
	finish(&first);
}

/* Somebody kicks whenever the victim is about to heal: it comes to an end, and the rest is answered at its next fetch. */
static void test_storm(void)
{
	check_context.subject = "a kick in every answer";
	prepare();
	storm();
	on_clear = storm;
	storms = 0;
	CHECK_EQ(take(), BH_MAX_SANDBOXES);
	on_clear = NULL;
	CHECK(!is_whole());
	CHECK_EQ(run_guest(), 1);
	check_settled(BH_MAX_SANDBOXES + 1);
}

/* Between the first look and the second another kick, over whose poison the healing has gone. */
static void kick_and_heal(void)
{
	if (running || storms++)
		return;
	start(&first, NOWHERE);
	finish(&first);
	for (unsigned n = 0; n < USED; n++)
		entries[used[n]] |= 1;
	machine.translated = true;
}

static void test_second_look(void)
{
	check_context.subject = "the second look";
	prepare();
	fake_arch.on_barrier = kick_and_heal;
	storms = 0;
	kick_clear(&victim);
	CHECK(!is_whole());
	CHECK(!machine.translated);
	CHECK_EQ(run_guest(), 1);
	check_settled(1);
}

static void answer(void)
{
	CHECK(++machine.relaxed <= POLLS);
	if (machine.relaxed == 3)
		CHECK_EQ(hal_kick_take(&victim), 1);
}

static void heals(void)
{
	CHECK(!"a root that somebody else heals is healed");
}

/* A core that is not the first answers nothing, waits until that one has answered and healed, within a bound, and heals what is left. */
static void test_sibling(void)
{
	check_context.subject = "sibling";
	prepare();
	start(&first, NOWHERE);
	finish(&first);
	CHECK_EQ(hal_kick_take(&sibling), 0);
	CHECK(!kick_is_pending(&sibling));
	CHECK(kick_is_pending(&victim));
	fake_arch.on_relax = answer;
	kick_clear(&sibling);
	CHECK_EQ(machine.relaxed, 3);
	check_settled(1);

	check_context.subject = "sibling, nothing left";
	fake_arch.on_barrier = heals; /* between healing and the second look; a kicker's poison may come before it */
	kick_clear(&sibling);
	fake_arch.on_barrier = barrier;

	check_context.subject = "sibling, nothing requested";
	prepare();
	for (unsigned n = 0; n < USED; n++)
		entries[used[n]] &= ~UINT64_C(1);
	kick_clear(&sibling);
	CHECK_EQ(machine.relaxed, POLLS); /* the first may be about to heal */
	CHECK(is_whole());
	prepare();
	entries[used[1]] &= ~UINT64_C(1);
	kick_clear(&sibling);
	CHECK(is_whole());

	check_context.subject = "sibling, no answer";
	prepare();
	start(&first, NOWHERE);
	finish(&first);
	kick_clear(&sibling);
	CHECK_EQ(machine.relaxed, POLLS);
	CHECK(!is_whole());
}

static void check_poisoned(void)
{
	if (!running)
		CHECK(!is_whole());
}

/* Whichever way a gate turns, who looks at its entry finds it, and what was known of it is not. */
static void test_gates(void)
{
	uint64_t entry = 0;
	const struct hal_gate gate = { &entry, 0x4567ff };

	check_context.subject = "gates";
	for (unsigned round = 0; round < 4; round++) {
		prepare();
		machine.translated = false;
		hal_gate_turn(&victim, &gate, round % 2 == 0);
		CHECK_EQ(entry, round % 2 ? 0 : 0x4567ff);
		CHECK(machine.translated && is_whole()); /* anew */
	}
}

/* A sandbox that ends stops all its cores, keeps its root poisoned, answers kicks, and waits for nobody; until it is opened again. */
static void test_closed(void)
{
	check_context.subject = "closed";
	prepare();
	hal_kick_siblings(&victim);
	CHECK(!is_whole() && !machine.translated);
	CHECK_EQ(machine.signals, 1);
	CHECK_EQ(machine.wakes, 1);
	CHECK_EQ(machine.signalled_id, SIBLING_ID);
	fake_arch.on_barrier = check_poisoned; /* nor whole for a moment */
	kick_clear(&victim);
	kick_clear(&sibling);
	CHECK(!is_whole());
	fake_arch.on_barrier = barrier;
	for (unsigned n = 0; n < 2 * RETRIES; n++)
		CHECK(kick_explains(&sibling));
	start(&first, DECIDED);
	kick_clear(&sibling);
	CHECK_EQ(machine.relaxed, 0);
	CHECK_EQ(take(), 1);
	kick_clear(&sibling);
	CHECK_EQ(machine.relaxed, 0);
	CHECK_EQ(victim.kick_lost, 0);
	finish(&first);
	CHECK(!is_whole());
	kick_reopen(&victim);
	check_settled(1);
}

/* An access that fails for ever is not a kick's doing. Each kick allows as many tries again. */
static void test_retries(void)
{
	check_context.subject = "tries";
	prepare();
	for (unsigned kicks = 0; kicks < 3; kicks++) {
		for (unsigned n = 0; n < RETRIES; n++)
			CHECK(kick_explains(&sibling));
		CHECK(!kick_explains(&sibling));
		start(&first, NOWHERE);
		finish(&first);
		take();
	}
}

static void test_notice(void)
{
	check_context.subject = "notice";
	prepare();
	hal_notice_send(&victim);
	kick_repeat_notice(&victim);
	CHECK_EQ(machine.noticed, 0);
	victims.told[0] = (struct told){ &boxes[TOLD], TOLD_ID };
	victims.told[1] = (struct told){ &boxes[TOLD_LAST], TOLD_LAST_ID };
	hal_notice_send(&victim);
	CHECK_EQ(machine.noticed, 2);
	CHECK_EQ(machine.noticed_before, TOLD_ID);
	CHECK_EQ(machine.noticed_id, TOLD_LAST_ID);
	CHECK_EQ(boxes[TOLD].noticed, 1);
	CHECK_EQ(boxes[TOLD_LAST].noticed, 1);
	victims.box = &boxes[TOLD];
	kick_repeat_notice(&sibling);
	CHECK_EQ(machine.noticed, 2);
	kick_repeat_notice(&victim);
	CHECK_EQ(machine.noticed, 3);
	CHECK_EQ(machine.noticed_id, HARDWARE_ID);
}

int main(void)
{
	test_every_point();
	test_late();
	test_lost();
	test_together();
	test_storm();
	test_second_look();
	test_sibling();
	test_gates();
	test_closed();
	test_retries();
	test_notice();
	return 0;
}
