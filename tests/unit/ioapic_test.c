/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.device, BH-I3.forms, BH-I4.doorbell. What reaches the machine's I/O APIC of what a guest does to its own, over one that notes.
 * Sandbox of two cores (APIC IDs 3 and 1), with an edge line on pin 0, a level line, active low, on pin 10, and on pin 11 one whose vector
 * the guest chooses; every other pin is somebody else's.
 */
#include <setjmp.h>
#include <string.h>

#include "arch/arch.h"
#include "check.h"
#include "fake_arch.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/apic/ioapic_registers.h"
#include "hal/lock.h"
#include "hal/x86/core.h"
#include "hal/x86/decode.h"
#include "held_lock.h"

enum {
	EDGE = 0,
	LEVEL = 10,
	CHOSEN = 11,
	PINS = 24,
	EDGE_VECTOR = 0x34,
	LEVEL_VECTOR = 0xf2,
	CHOSEN_VECTOR = 0x3b,
	MASKED = REDIRECTION_MASKED,
	STATE = 0x5000
};
enum { LEVEL_WIRING = REDIRECTION_LEVEL | REDIRECTION_ACTIVE_LOW };

static uint32_t machine[IOREDTBL + 2 * PINS], selected, unlocked_accesses;
static unsigned until_trap; /* accesses; 0: none */
static jmp_buf trapped;
static struct hal_kick_mailbox shared[BH_MAX_CORES + HAL_LOCKS];
static struct hal_partition partition;
static struct hal_core cores[2];

static void note_lock(void)
{
	const struct hal_lock *lock = hal_lock_of(shared, HAL_LOCK_IOAPIC);

	unlocked_accesses += !lock->holder;
	if (until_trap == 1)
		longjmp(trapped, 1);
	if (until_trap)
		until_trap--;
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	note_lock();
	if (address == board.pc.ioapic + IOREGSEL)
		selected = value;
	else if (address == board.pc.ioapic + IOWIN)
		machine[selected] = value;
	else
		CHECK(false);
}

uint32_t arch_mmio_read32(uint64_t address)
{
	note_lock();
	CHECK_EQ(address, board.pc.ioapic + IOWIN);
	return machine[selected];
}

uint64_t arch_mmio_read64(uint64_t address)
{
	abort();
}

uint8_t arch_mmio_read8(uint64_t address)
{
	abort();
}

/* icr.c is linked for its idea of a destination. */
void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
{
	abort();
}

void x86_kick_core(const struct hal_core *core)
{
	abort();
}

void x86_core_start(struct hal_core *core, uint8_t vector)
{
	abort();
}

void x86_core_stop(struct hal_core *core)
{
	abort();
}

const struct x86_vendor *x86_vendor;

/* fetch.c is here for its registers alone. */
uint64_t x86_get(const struct hal_core *of, enum x86_field field)
{
	return 0;
}

bool x86_decode_filtered(struct hal_core *of, struct hal_exit *exit)
{
	abort();
}

/* Whatever was done was done under the lock, and nobody holds it. */
static void check_free(void)
{
	const struct hal_lock *lock = hal_lock_of(shared, HAL_LOCK_IOAPIC);

	CHECK_EQ(unlocked_accesses, 0);
	CHECK_EQ(lock->holder | lock->wanted, 0);
}

static void prepare(void)
{
	memset(machine, 0, sizeof(machine));
	memset(shared, 0, sizeof(shared));
	machine[IOAPICVER] = (PINS - 1) << IOAPICVER_ENTRIES_SHIFT | 0x20;
	for (unsigned pin = 0; pin < PINS; pin++) {
		machine[IOREDTBL + 2 * pin] = 0x5fa0 + pin;
		machine[IOREDTBL + 2 * pin + 1] = 0xee000000;
	}
	partition = (struct hal_partition){
		.core_count = 2, .apic_id = { 3, 1 }, .line_target = { 3 << 24, 1 << 24 }, .kick_mailboxes = shared
	};
	for (uint32_t slot = 0; slot < 2; slot++)
		cores[slot] = (struct hal_core){ .partition = &partition, .slot = slot, .self = hal_lock_bit(5 + slot) };
	CHECK(ioapic_grant(&partition.ioapic, EDGE, 0, EDGE_VECTOR, BH_LINE_MASKED, shared));
	CHECK(ioapic_grant(&partition.ioapic, LEVEL, 1, LEVEL_VECTOR, BH_LINE_LEVEL | BH_LINE_ACTIVE_LOW, shared));
	CHECK(ioapic_grant(&partition.ioapic, CHOSEN, 0, CHOSEN_VECTOR, BH_LINE_LEVEL | BH_LINE_MASKED, shared));
	CHECK(!ioapic_grant(&partition.ioapic, PINS, 0, EDGE_VECTOR, 0, shared));
	unlocked_accesses = 0;
	ioapic_reset(&partition, cores[0].self);
	check_free();
}

static enum hal_action access(unsigned slot, uint64_t offset, enum bh_access kind, uint64_t value)
{
	cores[slot].registers.rax = UINT64_MAX;
	const struct hal_exit exit = {
		.kind = BH_EXIT_DEVICE, .access = kind, .gpa = board.pc.ioapic + offset, .width = 4, .value = value
	};

	return ioapic_emulate(&cores[slot], &exit);
}

static uint64_t read_register(uint32_t index)
{
	CHECK_EQ(access(0, IOREGSEL, BH_ACCESS_WRITE, index), HAL_SKIP);
	CHECK_EQ(access(1, IOREGSEL, BH_ACCESS_READ, 0), HAL_SKIP); /* the sandbox's cores share it */
	CHECK_EQ(cores[1].registers.rax, index);
	CHECK_EQ(access(1, IOWIN, BH_ACCESS_READ, 0), HAL_SKIP);
	return cores[1].registers.rax;
}

static enum hal_action write_register(uint32_t index, uint32_t value)
{
	CHECK_EQ(access(0, IOREGSEL, BH_ACCESS_WRITE, index), HAL_SKIP);
	return access(0, IOWIN, BH_ACCESS_WRITE, value);
}

static uint32_t low(unsigned pin)
{
	return IOREDTBL + 2 * pin;
}

/* The register by which the guest knows it: lines that it is to open are pins 1, 3, 4, ... in the order of their grants. */
static uint32_t shown(unsigned pin)
{
	return low(pin == EDGE ? 1 : pin == CHOSEN ? 4 : pin);
}

static void check_waited(const char *who)
{
	held_check_waited(who);
	check_free();
}

static void test_waits(void)
{
	held_by_another(hal_lock_of(shared, HAL_LOCK_IOAPIC));
	ioapic_reset(&partition, cores[0].self);
	check_waited("reset waits for the lock");
	held_by_another(hal_lock_of(shared, HAL_LOCK_IOAPIC));
	ioapic_open(&cores[1]);
	check_waited("opening waits for the lock");
	held_by_another(hal_lock_of(shared, HAL_LOCK_IOAPIC));
	CHECK_EQ(access(0, IOWIN, BH_ACCESS_READ, 0), HAL_SKIP);
	check_waited("an access waits for the lock");
}

static void one_of_each(void)
{
	CHECK_EQ(write_register(shown(LEVEL), MASKED | LEVEL_VECTOR), HAL_SKIP);
	CHECK_EQ(write_register(shown(CHOSEN), CHOSEN_VECTOR), HAL_SKIP);
	read_register(shown(LEVEL));
	ioapic_reset(&partition, cores[0].self);
	ioapic_open(&cores[1]);
}

/*
 * A monitor that traps at any of its accesses, under the lock: when it begins anew, another sandbox's core finds the lock free and the
 * machine as it needs it. What of the own entries was written is within the grant, and the own sandbox's end masks them as ever.
 */
static void test_trap(void)
{
	struct hal_lock *lock = hal_lock_of(shared, HAL_LOCK_IOAPIC);
	volatile unsigned traps = 0;

	for (volatile unsigned n = 1;; n++) {
		struct hal_partition other = { .core_count = 1, .apic_id = { 7 }, .line_target = { 7 << 24 }, .kick_mailboxes = shared };
		struct hal_core neighbour = { .partition = &other, .self = HELD_BY };
		bool went_through = false;

		check_context.subject = "a trap under the lock";
		check_context.round = n;
		prepare();
		CHECK(ioapic_grant(&other.ioapic, 4, 0, 0xf4, BH_LINE_LEVEL, shared));
		unlocked_accesses = 0;
		if (!setjmp(trapped)) {
			until_trap = n;
			one_of_each();
			went_through = true;
		}
		until_trap = 0;
		if (went_through)
			break;
		traps++;
		CHECK(lock->holder);
		hal_lock_leave(lock, lock->holder);
		check_free();
		ioapic_reset(&other, neighbour.self);
		ioapic_open(&neighbour);
		CHECK_EQ(machine[low(4)], REDIRECTION_LEVEL | 0xf4);
		CHECK_EQ(machine[low(4) + 1], 7u << DESTINATION_SHIFT);
		for (unsigned pin = 0; pin < PINS; pin++)
			if (pin == EDGE || pin == LEVEL || pin == CHOSEN)
				CHECK(machine[low(pin)] & MASKED || machine[low(pin) + 1] >> DESTINATION_SHIFT < 4);
			else if (pin != 4)
				CHECK_EQ(machine[low(pin)], 0x5fa0 + pin);
		ioapic_reset(&partition, cores[0].self);
		CHECK(machine[low(EDGE)] & machine[low(LEVEL)] & machine[low(CHOSEN)] & MASKED);
	}
	CHECK(traps > 10);
}

/* It is never waited for, and nobody waits. */
static void test_without_lines(void)
{
	const struct hal_lock *lock = hal_lock_of(shared, HAL_LOCK_IOAPIC);
	uint32_t before[sizeof(machine) / sizeof(machine[0])];

	partition.ioapic = (struct ioapic_view){ .lock = &partition.pci.own };
	memset(shared, 0, sizeof(shared));
	memcpy(before, machine, sizeof(machine));
	check_context.subject = "without lines";
	ioapic_reset(&partition, cores[0].self);
	CHECK_EQ(lock->holder | lock->wanted, 0);
	ioapic_open(&cores[0]);
	for (uint32_t index = 0; index < 0x100; index++) {
		check_context.round = index;
		CHECK_EQ(write_register(index, 0x55), HAL_SKIP);
		CHECK_EQ(read_register(index), index == IOAPICVER ? IOAPICVER_82093AA : index < IOREDTBL || index & 1 ? 0 : MASKED);
	}
	CHECK_EQ(lock->holder | lock->wanted, 0);
	CHECK(!memcmp(before, machine, sizeof(machine)));
}

static void test_start(void)
{
	check_context.subject = "start";
	CHECK_EQ(machine[low(EDGE)], MASKED);
	CHECK_EQ(machine[low(LEVEL)], MASKED);
	ioapic_open(&cores[0]);
	CHECK_EQ(machine[low(EDGE)], MASKED); /* its guest is to open it */
	CHECK_EQ(machine[low(LEVEL)], MASKED);
	ioapic_open(&cores[1]);
	CHECK_EQ(machine[low(LEVEL)], LEVEL_WIRING | LEVEL_VECTOR);
	CHECK_EQ(machine[low(LEVEL) + 1], 1u << DESTINATION_SHIFT);
	CHECK_EQ(read_register(shown(LEVEL)), LEVEL_WIRING | LEVEL_VECTOR);

	check_context.subject = "opened behind its guest's back";
	prepare();
	CHECK_EQ(write_register(shown(LEVEL), MASKED | LEVEL_VECTOR), HAL_SKIP);
	ioapic_open(&cores[1]);
	CHECK(machine[low(LEVEL)] & MASKED);
	ioapic_reset(&partition, cores[0].self);
	ioapic_open(&cores[1]);
	CHECK_EQ(machine[low(LEVEL)], LEVEL_WIRING | LEVEL_VECTOR);
}

/* Every register but those of granted entries. */
static void test_foreign(void)
{
	check_context.subject = "foreign";
	CHECK_EQ(read_register(IOAPICVER), LEVEL << IOAPICVER_ENTRIES_SHIFT | IOAPICVER_82093AA);
	for (uint32_t index = 0; index < 0x100; index++) {
		uint32_t before[sizeof(machine) / sizeof(machine[0])];

		if ((index & ~1u) == shown(EDGE) || (index & ~1u) == shown(LEVEL) || (index & ~1u) == shown(CHOSEN) || index == IOAPICVER)
			continue;
		check_context.round = index;
		memcpy(before, machine, sizeof(machine));
		CHECK_EQ(write_register(index, 0x55), HAL_SKIP);
		CHECK(!memcmp(before, machine, sizeof(machine)));
		CHECK_EQ(read_register(index), index < IOREDTBL || index & 1 ? 0 : MASKED);
	}
}

/* Low word, high word before it, what the machine gets; 0: refused. */
static const struct {
	const char *what;
	uint32_t pin, low, high, machine_low, machine_id;
} entries[] = {
	{ "edge, first core", EDGE, 0x55, 3u << 24, 0x55, 3 },
	{ "edge, second core", EDGE, 0x55, 1u << 24, 0x55, 1 },
	{ "its vector is the guest's", EDGE, 0xff, 1u << 24, 0xff, 1 },
	{ "wired as configured", EDGE, 0xa055, 3u << 24, 0x55, 3 },
	{ "lowest priority", EDGE, 0x155, 3u << 24, 0x55, 3 },
	{ "logical, one core", EDGE, 0x855, 1u << 25, 0x55, 1 },
	{ "logical, both: the first", EDGE, 0x855, 0x0au << 24, 0x55, 3 },
	{ "state bits do not count", EDGE, 0x5055, 3u << 24, 0x55, 3 },
	{ "level, its own vector", LEVEL, 0xf2, 3u << 24, LEVEL_WIRING | 0xf2, 3 },
	{ "level, another vector", LEVEL, 0xf3, 3u << 24, 0, 0 },
	{ "level, a vector of those who choose", LEVEL, 0x3a, 3u << 24, 0, 0 },
	{ "level, chosen", CHOSEN, 0x55, 1u << 24, REDIRECTION_LEVEL | 0x55, 1 },
	{ "level, the last to choose", CHOSEN, 0xef, 1u << 24, REDIRECTION_LEVEL | 0xef, 1 },
	{ "level, another sandbox's vector", CHOSEN, 0x80f2, 1u << 24, 0, 0 },
	{ "the same, called edge-triggered", CHOSEN, 0xf2, 1u << 24, 0, 0 },
	{ "level, chosen from the processor's own", CHOSEN, 0x1f, 1u << 24, 0, 0 },
	{ "vector of the processor's own", EDGE, 0x1f, 3u << 24, 0, 0 },
	{ "SMI", EDGE, 0x255, 3u << 24, 0, 0 },
	{ "reserved mode", EDGE, 0x355, 3u << 24, 0, 0 },
	{ "NMI", EDGE, 0x455, 3u << 24, 0, 0 },
	{ "INIT", EDGE, 0x555, 3u << 24, 0, 0 },
	{ "another reserved mode", EDGE, 0x655, 3u << 24, 0, 0 },
	{ "ExtINT", EDGE, 0x755, 3u << 24, 0, 0 },
	{ "foreign core", EDGE, 0x55, 2u << 24, 0, 0 },
	{ "everybody", EDGE, 0x55, 0xffu << 24, 0, 0 },
	{ "logical, own and foreign", EDGE, 0x855, 0x0eu << 24, 0, 0 },
	{ "logical, everybody", EDGE, 0x855, 0xffu << 24, 0, 0 },
	{ "logical, nobody", EDGE, 0x855, 0, 0, 0 },
};

static void test_entries(void)
{
	for (unsigned n = 0; n < sizeof(entries) / sizeof(entries[0]); n++) {
		uint32_t at = low(entries[n].pin), own = shown(entries[n].pin);

		check_context.subject = entries[n].what;
		prepare();
		CHECK_EQ(write_register(own + 1, entries[n].high), HAL_SKIP); /* masked: anything */
		CHECK_EQ(read_register(own + 1), entries[n].high);
		CHECK_EQ(write_register(own, MASKED | entries[n].low), HAL_SKIP);
		CHECK(machine[at] & MASKED);
		CHECK_EQ(machine[at + 1], 0xee000000);
		CHECK_EQ(write_register(own, entries[n].low), entries[n].machine_low ? HAL_SKIP : HAL_FAULT);
		if (entries[n].machine_low) {
			CHECK_EQ(machine[at], entries[n].machine_low);
			CHECK_EQ(machine[at + 1], entries[n].machine_id << DESTINATION_SHIFT);
			CHECK_EQ(read_register(own), entries[n].low & ~(uint32_t)STATE);
		} else
			CHECK(machine[at] & MASKED);
	}
}

/* An unmasked entry moves between own cores and nowhere else; what the machine says of its state is told. */
static void test_open_entry(void)
{
	check_context.subject = "open entry";
	CHECK_EQ(write_register(shown(EDGE), 0x55), HAL_SKIP);
	CHECK_EQ(write_register(shown(EDGE) + 1, 1u << 24), HAL_SKIP);
	CHECK_EQ(machine[low(EDGE) + 1], 1u << DESTINATION_SHIFT);
	CHECK_EQ(write_register(shown(EDGE) + 1, 2u << 24), HAL_FAULT);
	CHECK_EQ(machine[low(EDGE) + 1], 1u << DESTINATION_SHIFT);
	CHECK_EQ(read_register(shown(EDGE) + 1), 1u << 24);
	machine[low(EDGE)] |= REDIRECTION_STATUS;
	CHECK_EQ(read_register(shown(EDGE)), 0x55 | REDIRECTION_STATUS);

	check_context.subject = "masked and called edge-triggered";
	CHECK_EQ(write_register(shown(LEVEL), MASKED | LEVEL_VECTOR), HAL_SKIP);
	CHECK_EQ(machine[low(LEVEL)], MASKED | REDIRECTION_ACTIVE_LOW | LEVEL_VECTOR);
}

/* Which vectors the machine has for an open level-triggered line; masked with another, the entry has none and hears of nobody's ends. */
static void check_level_vectors(const char *what, unsigned pin, uint32_t first, uint32_t last)
{
	check_context.subject = what;
	for (uint32_t vector = 0; vector <= REDIRECTION_VECTOR; vector++) {
		bool granted = vector >= first && vector <= last;

		check_context.round = vector;
		CHECK_EQ(write_register(shown(pin), MASKED | REDIRECTION_LEVEL | vector), HAL_SKIP);
		CHECK_EQ(machine[low(pin)] & (MASKED | REDIRECTION_VECTOR), MASKED | (granted ? vector : 0));
		CHECK_EQ(write_register(shown(pin) + 1, 3u << 24), HAL_SKIP);
		CHECK_EQ(write_register(shown(pin), REDIRECTION_LEVEL | vector), granted ? HAL_SKIP : HAL_FAULT);
		CHECK_EQ(machine[low(pin)] & (MASKED | REDIRECTION_VECTOR), granted ? vector : MASKED);
		CHECK(machine[low(pin)] & REDIRECTION_LEVEL);
	}
}

static void test_level_vectors(void)
{
	check_level_vectors("vectors of a grant", LEVEL, LEVEL_VECTOR, LEVEL_VECTOR);
	check_level_vectors("vectors to choose", CHOSEN, 0x20, BH_FIRST_LEVEL_VECTOR - 1);
}

static void test_form(void)
{
	check_context.subject = "form";
	for (uint32_t width = 1; width <= 8; width *= 2)
		for (uint64_t offset = 0; offset < 0x20; offset++) {
			const struct hal_exit exit = { .access = BH_ACCESS_READ, .gpa = board.pc.ioapic + offset, .width = width };

			CHECK_EQ(ioapic_emulate(&cores[0], &exit), width == 4 && !(offset & 3) ? HAL_SKIP : HAL_FAULT);
		}
	CHECK_EQ(access(0, IOREGSEL, BH_ACCESS_WRITE, 0x100 | IOAPICVER), HAL_SKIP); /* eight bits */
	CHECK_EQ(access(0, IOREGSEL, BH_ACCESS_READ, 0), HAL_SKIP);
	CHECK_EQ(cores[0].registers.rax, IOAPICVER);
	CHECK_EQ(access(0, 0x40, BH_ACCESS_WRITE, LEVEL_VECTOR), HAL_SKIP); /* no EOI register: an 82093AA has none */
	CHECK_EQ(access(0, 0x40, BH_ACCESS_READ, 0), HAL_SKIP);
	CHECK_EQ(cores[0].registers.rax, 0);
}

/* Whatever firmware left; and no view holds more lines than it has room for. */
static void test_boot(void)
{
	struct ioapic_view view = { 0 };

	check_context.subject = "boot";
	for (unsigned pin = 0; pin < PINS; pin++)
		machine[low(pin)] = 0x8000 + pin;
	ioapic_mask_all();
	for (unsigned pin = 0; pin < PINS; pin++)
		CHECK_EQ(machine[low(pin)], MASKED);
	for (unsigned n = 0; n < IOAPIC_LINES; n++)
		CHECK(ioapic_grant(&view, EDGE, 0, EDGE_VECTOR, 0, shared));
	CHECK(!ioapic_grant(&view, EDGE, 0, EDGE_VECTOR, 0, shared));
	CHECK_EQ(view.count, IOAPIC_LINES);
	unlocked_accesses = 0; /* start-up is alone */
}

/*
 * With VT-d entries name what start-up has made for their vector, core and trigger mode: VT-d, 5.1.5.1 "I/OxAPIC Programming": format in
 * bit 48, index in 63:49. Literal words: cores 5 and 6 of the machine.
 */
static void test_redirection(void)
{
	static const struct {
		unsigned pin;
		uint32_t low, destination, low_word, high_word;
	} rows[] = {
		{ EDGE, EDGE_VECTOR, 3, EDGE_VECTOR, 0x14690000 },
		{ EDGE, 0x41, 1, 0x41, 0x18830000 },
		{ LEVEL, LEVEL_VECTOR, 1, LEVEL_WIRING | LEVEL_VECTOR, 0x1be50000 },
		{ CHOSEN, 0x31, 3, REDIRECTION_LEVEL | 0x31, 0x16630000 },
	};

	check_context.subject = "redirection";
	prepare();
	partition.line_target[0] = 0x14010000;
	partition.line_target[1] = 0x18010000;
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		CHECK_EQ(write_register(shown(rows[n].pin) + 1, rows[n].destination << DESTINATION_SHIFT), HAL_SKIP);
		CHECK_EQ(write_register(shown(rows[n].pin), rows[n].low), HAL_SKIP);
		CHECK_EQ(machine[low(rows[n].pin)], rows[n].low_word);
		CHECK_EQ(machine[low(rows[n].pin) + 1], rows[n].high_word);
		CHECK_EQ(read_register(shown(rows[n].pin) + 1), rows[n].destination << DESTINATION_SHIFT);
	}
}

#include "ioapic_rung.h"

int main(void)
{
	if (board.iommu.kind == BH_IOMMU_VTD) {
		test_redirection();
		test_rung();
		return 0;
	}
	void (*const tests[])(
		void) = { test_waits,      test_trap,          test_without_lines, test_start, test_foreign, test_entries,
			  test_open_entry, test_level_vectors, test_form,          test_boot,  test_rung,    test_rung_grants };

	for (unsigned n = 0; n < sizeof(tests) / sizeof(tests[0]); n++) {
		check_context.round = 0;
		prepare();
		tests[n]();
		check_free();
	}
	return 0;
}
