/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells on ARM machines (BH-I4.doorbell): one bit of one register of the distributor, in one store, after all that was written; and the
 * guest that asked runs on at once, without its monitor. hal/arm/run.c, hal/arm/gic/gic_filter.c
 */
#include "hal/arm/decode.h"

#include <string.h>

#include "doorbell_scene.h"
#include "hal/arm/gic/gic_filter.h"
#include "hal/arm/gic/gicd.h"

/* GICD_ISPENDR<n> is at 0x200 + 4n of either version: ARM IHI 0048B, 4.3 "Distributor register descriptions"; ARM IHI 0069H, 12.9 "The GIC
 * Distributor register descriptions". */
enum { DISTRIBUTOR = 0x8000000, ISPENDR = DISTRIBUTOR + 0x200, LINE = 240, PC = 0x40001000 };
/* ARM ARM D24.2.37 "ESR_EL1": HVC #0, an instruction of 32 bits. */
enum { HVC = 0x16 << 26 | 1 << 25, SMC = 0x17 << 26 | 1 << 25 };

static struct hal_partition partition;
static uint64_t exits[BH_EXIT_REASONS];
static struct {
	unsigned count;
	uint64_t address;
	uint32_t value;
} written;
static unsigned decoded;

static unsigned doorbell_rings(void)
{
	return written.count;
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	CHECK(doorbell_barriers);
	written.count++;
	written.address = address;
	written.value = value;
}

/* ---- The guest: it calls once, and then does what its monitor has to look at; switch.S between them ------------------------- */

static struct {
	uint64_t syndrome;
	unsigned runs; /* that began or, behind a call that was answered at once, went on */
} guest;

unsigned guest_run(struct hal_core *core)
{
	if (!guest.runs++ && (guest.syndrome != SYNDROME_PLAIN_CALL || !guest_call(core)))
		return LEFT_SYNC;
	guest.runs = 2;
	guest.syndrome = SMC;
	return LEFT_SYNC;
}

uint64_t syndrome_read(void)
{
	return guest.syndrome;
}

uint32_t guest_function(const struct hal_core *core)
{
	return (uint32_t)core->guest.x[0];
}

uint64_t guest_read(const struct hal_core *core, unsigned n)
{
	return core->guest.x[n];
}

void guest_write(struct hal_core *core, unsigned n, uint64_t value)
{
	core->guest.x[n] = value;
}

void guest_skip(struct hal_core *core, uint64_t syndrome)
{
	core->guest.pc += 4;
}

static enum bh_exit_reason decode_call(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	decoded++;
	return BH_EXIT_CALL;
}

const struct syndrome_class syndrome_classes[] = { { 0x16, decode_call }, { 0x17, decode_call }, { 0, NULL } };

/* ---- What is not asked for ------------------------------------------------------------------------------------------------- */

#define NOT_ASKED(declaration) \
	declaration            \
	{                      \
		abort();       \
	}
NOT_ASKED(uint64_t syndrome_return_address(void))
NOT_ASKED(uint64_t syndrome_address(enum bh_access access))
NOT_ASKED(uint8_t arch_mmio_read8(uint64_t address))
NOT_ASKED(uint32_t arch_mmio_read32(uint64_t address))
NOT_ASKED(uint64_t arch_mmio_read64(uint64_t address))
NOT_ASKED(void arch_mmio_write8(uint64_t address, uint8_t value))
NOT_ASKED(bool decode_word_access(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit))
NOT_ASKED(bool gic_send_at_once(struct hal_core *core, uint64_t syndrome))
NOT_ASKED(bool gic_access_at_once(struct hal_core *core, const struct hal_exit *exit))
NOT_ASKED(enum hal_action hal_core_emulate(struct hal_core *core, const struct hal_exit *exit))
NOT_ASKED(void kick_clear(const struct hal_core *core))
NOT_ASKED(void guest_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value))
NOT_ASKED(uint64_t gic_read_type(const struct gic_access *access))
NOT_ASKED(void gic_write_targets(const struct gic_access *access, uint64_t value))
NOT_ASKED(void gic_settle(uint64_t frame))
NOT_ASKED(void gic_route(uint32_t line, uint64_t hardware_id))

void hal_lock_leave(struct hal_lock *lock, uint32_t self) {}

/* ---- Tests ------------------------------------------------------------------------------------------------------------------- */

static void prepare(void)
{
	memset(&written, 0, sizeof(written));
	memset(exits, 0, sizeof(exits));
	memset(&guest, 0, sizeof(guest));
	decoded = 0;
	doorbell_barriers = 0;
	for (unsigned n = 0; n <= BH_MAX_CHANNELS; n++)
		doorbells[n] = (struct hal_doorbell){ .gap = GAP, .line = LINE + n };
	for (unsigned n = 0; n < 2; n++) {
		doorbell_cores[n] = (struct hal_core){ .partition = &partition };
		hal_core_begin(&doorbell_cores[n], exits, doorbells);
	}
}

static void test_lines(void)
{
	check_context.subject = "lines";
	for (uint32_t line = GIC_FIRST_SPI; line < 1020; line++) {
		check_context.round = line;
		prepare();
		doorbells[0].line = line;
		check_ring(0, GAP, BH_OK);
		CHECK_EQ(written.address, ISPENDR + line / 32 * 4);
		CHECK_EQ(written.value, UINT32_C(1) << line % 32);
	}
	check_context.round = 0;
}

/* A guest's call as it leaves the guest. Returns what it finds in its register; the run ends with the SMC after it. */
static uint64_t call(uint64_t function, uint64_t number, uint32_t immediate)
{
	struct hal_core *core = &doorbell_cores[0];
	struct hal_exit exit;

	core->guest.x[0] = function;
	core->guest.x[1] = number;
	core->guest.pc = PC + 4; /* HVC returns to the instruction after itself */
	guest.syndrome = HVC | immediate;
	guest.runs = 0;
	hal_core_run(core, &exit);
	CHECK_EQ(exit.kind, BH_EXIT_CALL);
	return core->guest.x[0];
}

static void check_at_once(uint64_t number, uint64_t now, int64_t result)
{
	unsigned before = written.count;
	uint64_t calls = exits[BH_EXIT_CALL];

	doorbell_now = now;
	CHECK_EQ(call(BH_CALL_DOORBELL, number, 0), (uint64_t)result);
	CHECK_EQ(written.count - before, result == BH_OK);
	CHECK_EQ(guest.runs, 2);
	CHECK_EQ(decoded, 1); /* the SMC */
	CHECK_EQ(exits[BH_EXIT_CALL] - calls, 1);
	CHECK_EQ(doorbell_cores[0].guest.pc, PC + 4);
	decoded = 0;
}

static void test_at_once(void)
{
	check_context.subject = "at once";
	check_at_once(0, GAP, BH_OK);
	CHECK_EQ(written.address, ISPENDR + LINE / 32 * 4);
	check_at_once(0, GAP, BH_E_LATER);
	doorbells[1].gap = 0;
	check_at_once(1, GAP, BH_E_DENIED);
	check_at_once(UINT64_MAX, GAP, BH_E_DENIED);

	check_context.subject = "with an immediate";
	call(BH_CALL_DOORBELL, 2, 1);
	CHECK_EQ(guest.runs, 1);
	CHECK_EQ(decoded, 1);
	CHECK_EQ(written.count, 1);

	check_context.subject = "another call";
	call(BH_CALL_KICK, 2, 0);
	CHECK_EQ(guest.runs, 1);
	CHECK_EQ(decoded, 2);
	CHECK_EQ(written.count, 1);

	check_context.subject = "the version";
	doorbell_barriers = 0;
	CHECK_EQ(call(BH_CALL_VERSION, 2, 0), BH_INFO_VERSION);
	CHECK_EQ(written.count, 1);
}

int main(void)
{
	gic_at.distributor = DISTRIBUTOR;
	test_all_doorbells(prepare);
	test_lines();
	prepare();
	test_at_once();
	return 0;
}
