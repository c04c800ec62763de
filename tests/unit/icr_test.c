/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.ipi, BH-I3.forms. What a guest's write to the interrupt command register does: which cores it reaches, what reaches the hardware,
 * and what the sandbox's cores do to each other with INIT, STARTUP and NMI. hal/x86/apic/icr.c and hal/x86/pending_events.c, over a
 * processor that notes.
 */
#include <string.h>

#include "check.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

enum { CORES = 3, DELIVERY_MODES = 8 };

/* Own cores of two clusters, not in order. */
static struct hal_partition partition = { .core_count = CORES, .apic_id = { 3, 1, 0x21 } };
static struct hal_core cores[CORES];

/* What the processor was made to do since the last reset(). */
static struct {
	uint32_t sent; /* bit n: a fixed interrupt to core n */
	uint32_t foreign;
	uint32_t kicked, started, stopped; /* bit n: core n */
	uint8_t vector, startup_vector;
	uint32_t event; /* injected */
	bool busy;      /* an event waits already */
} seen;

static void note(uint32_t *cores_noted, const struct hal_core *core)
{
	*cores_noted |= UINT32_C(1) << core->slot;
}

void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
{
	CHECK_EQ(mode, APIC_FIXED);
	seen.vector = vector;
	seen.foreign |= apic_id != 3 && apic_id != 1 && apic_id != 0x21;
	for (uint32_t slot = 0; slot < CORES; slot++)
		if (partition.apic_id[slot] == apic_id)
			note(&seen.sent, &cores[slot]);
}

void x86_kick_core(const struct hal_core *core)
{
	note(&seen.kicked, core);
}

void x86_core_start(struct hal_core *core, uint8_t vector)
{
	note(&seen.started, core);
	seen.startup_vector = vector;
}

void x86_core_stop(struct hal_core *core)
{
	core->started = false;
	core->nmi = false;
	note(&seen.stopped, core);
}

static bool has_event(const struct hal_core *core)
{
	return seen.busy;
}

static void inject(struct hal_core *core, uint32_t event)
{
	CHECK(!seen.busy);
	seen.event = event;
}

static const struct x86_vendor vendor = { .has_event = has_event, .inject = inject };
const struct x86_vendor *x86_vendor = &vendor;

static void forget(void)
{
	memset(&seen, 0, sizeof(seen));
}

/* As start-up leaves them: the first core runs, the others are off. */
static void reset(void)
{
	memset(cores, 0, sizeof(cores));
	for (uint32_t slot = 0; slot < CORES; slot++) {
		cores[slot].partition = &partition;
		cores[slot].slot = slot;
		cores[slot].apic_id = partition.apic_id[slot];
		cores[slot].started = !slot;
		partition.core[slot] = &cores[slot];
		if (slot)
			x86_mark_off(&cores[slot]);
	}
	forget();
}

static enum hal_action write_icr(uint32_t from, uint64_t icr)
{
	return apic_write_icr(&cores[from], icr);
}

#define TO(destination)    ((uint64_t)(destination) << 32)
#define LOGICAL            UINT64_C(0x800)
#define SHORTHAND(n)       ((uint64_t)(n) << 18)
#define MODE(mode)         ((uint64_t)(mode) << 8 | 0x4000)
#define LEVEL              UINT64_C(0x8000)
#define FIXED(destination) (TO(destination) | 0x4055)

/* SDM vol. 3A, 11.12.9, 11.12.10; sent: bit n is own core n. Sender: core 0, whose APIC ID is 3. */
static const struct {
	const char *what;
	uint64_t icr;
	uint32_t sent;
	enum hal_action action;
} destinations[] = {
	{ "physical, oneself", FIXED(3), 1, HAL_SKIP },
	{ "physical, another", FIXED(1), 2, HAL_SKIP },
	{ "physical, the other cluster", FIXED(0x21), 4, HAL_SKIP },
	{ "physical, foreign", FIXED(2), 0, HAL_FAULT },
	{ "physical, absent", FIXED(0x9000), 0, HAL_FAULT },
	{ "physical, a slot is no ID", FIXED(0), 0, HAL_FAULT },
	{ "physical, broadcast", FIXED(0xffffffff), 7, HAL_SKIP },
	{ "logical, oneself", FIXED(1 << 3) | LOGICAL, 1, HAL_SKIP },
	{ "logical, two of a cluster", FIXED(1 << 3 | 1 << 1) | LOGICAL, 3, HAL_SKIP },
	{ "logical, own and foreign", FIXED(1 << 3 | 1 << 2) | LOGICAL, 0, HAL_FAULT },
	{ "logical, foreign alone", FIXED(1 << 0) | LOGICAL, 0, HAL_FAULT },
	{ "logical, the other cluster", FIXED(2 << 16 | 1 << 1) | LOGICAL, 4, HAL_SKIP },
	{ "logical, foreign in the other cluster", FIXED(2 << 16 | 1 << 3) | LOGICAL, 0, HAL_FAULT },
	{ "logical, a cluster without own cores", FIXED(1 << 16 | 1 << 3) | LOGICAL, 0, HAL_FAULT },
	{ "logical, a whole cluster", FIXED(0xffff) | LOGICAL, 0, HAL_FAULT },
	{ "logical, nobody", FIXED(0) | LOGICAL, 0, HAL_SKIP },
	{ "logical, broadcast", FIXED(0xffffffff) | LOGICAL, 7, HAL_SKIP },
	{ "called level-triggered, sent at once", FIXED(3) | LEVEL, 1, HAL_SKIP },
	{ "called level-triggered, by shorthand", SHORTHAND(1) | FIXED(2) | LEVEL, 1, HAL_SKIP },
	{ "shorthand, self", SHORTHAND(1) | FIXED(2), 1, HAL_SKIP },
	{ "shorthand, all", SHORTHAND(2) | FIXED(2), 7, HAL_SKIP },
	{ "shorthand, others", SHORTHAND(3) | FIXED(2), 6, HAL_SKIP },
	{ "shorthand, self, not the core named", SHORTHAND(1) | FIXED(1), 1, HAL_SKIP },
	{ "shorthand, others, not the core named", SHORTHAND(3) | FIXED(3), 6, HAL_SKIP },
};

static void test_destinations(void)
{
	for (size_t n = 0; n < sizeof(destinations) / sizeof(destinations[0]); n++) {
		check_context.subject = destinations[n].what;
		reset();
		CHECK_EQ(write_icr(0, destinations[n].icr), destinations[n].action);
		CHECK_EQ(seen.sent, destinations[n].sent);
		CHECK(!seen.foreign && !seen.kicked);
		CHECK_EQ(seen.vector, destinations[n].sent ? 0x55 : 0);
	}
}

/* Hardware sends none of these, and says so in the error status register. */
static void test_vectors(void)
{
	for (uint64_t vector = 0; vector < 256; vector++) {
		check_context.subject = "vector";
		check_context.round = (unsigned)vector;
		reset();
		CHECK_EQ(write_icr(0, TO(1) | 0x4000 | vector), HAL_SKIP);
		CHECK_EQ(seen.sent, vector < 16 ? 0 : 2);
		CHECK_EQ(seen.vector, vector < 16 ? 0 : vector);
		reset();
		CHECK_EQ(apic_send_fixed(&cores[0], TO(1) | 0x4000 | vector), vector >= 16);
		CHECK_EQ(seen.sent, vector < 16 ? 0 : 2);
	}
}

/* What is sent without the long way is what the long way sends: fixed, physical, to one own core. Everything else is left alone. */
static void test_sent_at_once(void)
{
	for (size_t n = 0; n < sizeof(destinations) / sizeof(destinations[0]); n++) {
		for (unsigned mode = 0; mode < DELIVERY_MODES; mode++) {
			uint64_t icr = (destinations[n].icr & ~MODE(7)) | MODE(mode);
			bool usual = !mode && !(icr & (LOGICAL | SHORTHAND(3))) && icr >> 32 != UINT32_MAX;

			check_context.subject = destinations[n].what;
			check_context.round = mode;
			reset();
			CHECK_EQ(apic_send_fixed(&cores[0], icr), usual && destinations[n].action == HAL_SKIP);
			CHECK_EQ(seen.sent, usual ? destinations[n].sent : 0);
			CHECK(!seen.foreign && !seen.kicked && !seen.stopped && !cores[0].pending);
		}
	}
}

/* A mode that passes no further is refused whomever it names; one that names a foreign core is a fault in every other mode. */
static void test_modes(void)
{
	static const bool refused[DELIVERY_MODES] = {
		[APIC_LOWEST] = true, [APIC_SMI] = true, [APIC_RESERVED] = true, [APIC_EXTINT] = true
	};

	for (unsigned mode = 0; mode < DELIVERY_MODES; mode++) {
		check_context.subject = "delivery mode";
		check_context.round = mode;
		reset();
		CHECK_EQ(write_icr(0, TO(2) | MODE(mode) | 0x55), refused[mode] ? HAL_REFUSE : HAL_FAULT);
		CHECK_EQ(write_icr(0, TO(3) | MODE(mode) | 0x55), refused[mode] ? HAL_REFUSE : HAL_SKIP);
		CHECK_EQ(seen.sent, mode == APIC_FIXED);
		CHECK(!seen.kicked && !seen.stopped);
		CHECK(hal_core_ready(&cores[0]));
		CHECK_EQ(seen.event, mode == APIC_NMI ? X86_EVENT_NMI : 0);
	}
}

static void start(uint32_t slot, uint8_t vector)
{
	forget();
	CHECK_EQ(write_icr(0, TO(partition.apic_id[slot]) | MODE(APIC_STARTUP) | vector), HAL_SKIP);
	CHECK_EQ(seen.kicked, UINT32_C(1) << slot);
	CHECK(hal_core_ready(&cores[slot]));
}

/* INIT, STARTUP, STARTUP: the second finds a core that runs, and does not even stir it. */
static void test_start(void)
{
	check_context.subject = "start";
	reset();
	CHECK(hal_core_ready(&cores[0]) && !hal_core_ready(&cores[1]) && !hal_core_ready(&cores[2]));
	write_icr(0, TO(1) | MODE(APIC_INIT));
	CHECK(!hal_core_ready(&cores[1]));
	CHECK_EQ(seen.kicked, 2);
	start(1, 0x9a);
	CHECK_EQ(seen.started, 2);
	CHECK_EQ(seen.startup_vector, 0x9a);
	forget();
	write_icr(0, TO(1) | MODE(APIC_STARTUP) | 0x12);
	CHECK(hal_core_ready(&cores[1]));
	CHECK(!seen.kicked && !seen.started && !seen.stopped);
}

/* The target sees both at once, or only the last of several. */
static void test_events_that_meet(void)
{
	check_context.subject = "events that meet";
	reset();
	start(1, 1);
	forget();
	write_icr(0, TO(1) | MODE(APIC_NMI));
	write_icr(2, TO(1) | MODE(APIC_INIT));
	write_icr(0, TO(1) | MODE(APIC_NMI));
	write_icr(0, TO(1) | MODE(APIC_STARTUP) | 0x20);
	CHECK(hal_core_ready(&cores[1]));
	CHECK_EQ(seen.stopped, 2);
	CHECK_EQ(seen.started, 2);
	CHECK_EQ(seen.startup_vector, 0x20);
	CHECK_EQ(seen.event, 0);

	write_icr(0, TO(1) | MODE(APIC_INIT));
	write_icr(0, TO(1) | MODE(APIC_STARTUP) | 0x30);
	write_icr(0, TO(1) | MODE(APIC_INIT));
	CHECK(!hal_core_ready(&cores[1]));
}

static void test_init(void)
{
	check_context.subject = "INIT";
	reset();
	start(1, 1);
	start(2, 1);
	forget();
	write_icr(0, TO(1) | APIC_INIT << 8 | 0x8000); /* "de-assert" */
	CHECK(hal_core_ready(&cores[1]));
	CHECK(!seen.kicked && !seen.stopped);
	write_icr(1, SHORTHAND(2) | MODE(APIC_INIT));
	CHECK_EQ(seen.kicked, 5);
	CHECK(!hal_core_ready(&cores[0]) && hal_core_ready(&cores[1]) && !hal_core_ready(&cores[2]));
	CHECK_EQ(seen.stopped, 5);
	CHECK(!hal_core_ready(&cores[0]));
}

/* It waits while another event does, and makes that run end; several are one. */
static void test_nmi(void)
{
	check_context.subject = "NMI";
	reset();
	write_icr(0, TO(1) | MODE(APIC_NMI)); /* off: nothing */
	CHECK(!seen.kicked && !hal_core_ready(&cores[1]));
	start(1, 1);
	CHECK_EQ(seen.event, 0);
	forget();
	write_icr(0, TO(1) | MODE(APIC_NMI));
	write_icr(2, TO(1) | MODE(APIC_NMI));
	CHECK_EQ(seen.kicked, 2);
	seen.kicked = 0;
	seen.busy = true;
	CHECK(hal_core_ready(&cores[1]));
	CHECK_EQ(seen.kicked, 2);
	CHECK_EQ(seen.event, 0);
	seen.busy = false;
	CHECK(hal_core_ready(&cores[1]));
	CHECK_EQ(seen.event, X86_EVENT_NMI);
	forget();
	CHECK(hal_core_ready(&cores[1]));
	CHECK_EQ(seen.event, 0);
}

/* A monitor that trapped reports it, whatever its guest is told to do. */
static void test_trap(void)
{
	check_context.subject = "trap";
	reset();
	cores[1].trap.rip = 1;
	CHECK(hal_core_ready(&cores[1]));
	CHECK(!seen.started);
}

/* The most cores that a sandbox may have are as many as a logical destination names. */
static void test_most_cores(void)
{
	static struct hal_partition wide = { .core_count = BH_MAX_SANDBOX_CORES };
	const uint32_t cluster = UINT32_C(1) << 16;

	check_context.subject = "most cores";
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++)
		wide.apic_id[slot] = 16 + slot;
	CHECK_EQ(apic_named(&wide, cluster | 0xffff, true), 0xffff);
	CHECK(apic_named(&wide, 2 * cluster | 0xffff, true) & APIC_FOREIGN);
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) {
		CHECK_EQ(apic_named(&wide, cluster | UINT32_C(1) << slot, true), UINT32_C(1) << slot);
		CHECK_EQ(apic_named(&wide, 16 + slot, false), UINT32_C(1) << slot);
	}
	wide.apic_id[15]++;
	CHECK(apic_named(&wide, cluster | 0xffff, true) & APIC_FOREIGN);
}

/* A cluster's number has sixteen bits. One more, or the lowest eight of it, are another cluster's. */
static void test_high_clusters(void)
{
	static struct hal_partition high = { .core_count = BH_MAX_SANDBOX_CORES };
	const uint32_t cluster = 0x1234;

	check_context.subject = "high clusters";
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++)
		high.apic_id[slot] = cluster << 4 | slot;
	CHECK_EQ(apic_named(&high, cluster << 16 | 0xffff, true), 0xffff);
	CHECK_EQ(apic_named(&high, cluster << 16 | 1 << 9, true), 1 << 9);
	CHECK(apic_named(&high, (cluster & 0xff) << 16 | 1, true) & APIC_FOREIGN);
	CHECK(apic_named(&high, (cluster + 0x100) << 16 | 1, true) & APIC_FOREIGN);
	CHECK_EQ(apic_named(&high, cluster << 4 | 9, false), 1 << 9);
	CHECK(apic_named(&high, (cluster & 0xff) << 4 | 9, false) & APIC_FOREIGN);
}

/* From each of sixteen cores: what goes to all reaches all of its sandbox, to others all but itself, and nobody else. */
static void test_all_of_sixteen(void)
{
	static struct hal_partition wide = { .core_count = BH_MAX_SANDBOX_CORES };
	static struct hal_core many[BH_MAX_SANDBOX_CORES];
	const uint32_t all = (1u << BH_MAX_SANDBOX_CORES) - 1;

	check_context.subject = "all of sixteen";
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) {
		many[slot] = (struct hal_core){ .partition = &wide, .slot = slot, .apic_id = 0x40 + slot, .started = true };
		wide.apic_id[slot] = 0x40 + slot;
		wide.core[slot] = &many[slot];
	}
	for (uint32_t slot = 0; slot < BH_MAX_SANDBOX_CORES; slot++) {
		const uint32_t self = 1u << slot;
		const struct {
			uint64_t to;
			uint32_t expected;
		} rows[] = { { TO(0xffffffff), all }, { SHORTHAND(1), self }, { SHORTHAND(2), all }, { SHORTHAND(3), all & ~self } };

		for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
			check_context.round = slot * 4 + n;
			for (uint32_t to = 0; to < BH_MAX_SANDBOX_CORES; to++)
				x86_mark_on(&many[to]);
			forget();
			CHECK_EQ(apic_write_icr(&many[slot], rows[n].to | MODE(APIC_NMI)), HAL_SKIP);
			CHECK_EQ(seen.kicked, rows[n].expected & ~self); /* a core kicks others, not itself */
			for (uint32_t to = 0; to < BH_MAX_SANDBOX_CORES; to++)
				CHECK_EQ(many[to].pending != 0, rows[n].expected >> to & 1);
		}
	}
	check_context.round = 0;
}

int main(void)
{
	test_destinations();
	test_vectors();
	test_sent_at_once();
	test_modes();
	test_start();
	test_events_that_meet();
	test_init();
	test_nmi();
	test_trap();
	test_most_cores();
	test_high_clusters();
	test_all_of_sixteen();
	return 0;
}
