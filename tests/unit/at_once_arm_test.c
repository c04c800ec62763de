/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses to the distributor that are answered at once (BH-I1.device): hal/arm/abort.c says which are words, fully described, of a
 * guest that is served, hal/arm/gic/gicv2.c and gic_filter.c what becomes of them. Whatever is anything else goes the long way, and nothing
 * is done.
 */
#include <string.h>

#include "check.h"
#include "hal/arm/gic/gicv2.h"
#include "hal/arm/decode.h"

/* ARM ARM D24.2.37 "ESR_EL1", ISS of a data abort: a load of a word into register 5 that finds nothing at level 3. */
enum { WORD_LOAD = 1 << 24 | 2 << 22 | 5 << 16 | 0x07, WRITES = 1 << 6 };
enum {
	DISTRIBUTOR = 0x8000000,
	GPA = DISTRIBUTOR + 0x104,
	GVA = 0x1104,
	VALUE = 0x80000fff,
	OWN_LINES = 0x80000f0f,
	WORDS = 2,
	INTERFACES = 3
};

static struct hal_partition partition;
static struct hal_core core = { .partition = &partition };
static uint64_t exits[BH_EXIT_REASONS];
static bool served;
static struct {
	unsigned reads, writes;
	uint64_t address, value;
} mmio;
static uint64_t loaded;
static unsigned loads;

uint64_t syndrome_address(enum bh_access access)
{
	return GVA;
}

uint64_t syndrome_page(void)
{
	return GPA >> 12 << 4;
}

bool guest_is_served(const struct hal_core *of)
{
	return served;
}

uint64_t guest_translate(const struct hal_core *of, uint64_t gva)
{
	abort();
}

bool kick_explains(struct hal_core *of)
{
	abort();
}

uint32_t pci_place(const struct pci_view *view, uint64_t gpa)
{
	abort();
}

uint64_t guest_read(const struct hal_core *of, unsigned n)
{
	CHECK_EQ(n, 5);
	return UINT64_C(0xffffffff00000000) | VALUE;
}

void guest_write(struct hal_core *of, unsigned n, uint64_t value)
{
	CHECK_EQ(n, 5);
	loads++;
	loaded = value;
}

uint8_t arch_mmio_read8(uint64_t address)
{
	abort();
}

uint32_t arch_mmio_read32(uint64_t address)
{
	mmio.reads++;
	mmio.address = address;
	return UINT32_MAX;
}

uint64_t arch_mmio_read64(uint64_t address)
{
	abort();
}

void arch_mmio_write8(uint64_t address, uint8_t value)
{
	abort();
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	mmio.writes++;
	mmio.address = address;
	mmio.value = value;
}

void arch_wfi(void)
{
	abort();
}

static void prepare(void)
{
	memset(&mmio, 0, sizeof(mmio));
	memset(exits, 0, sizeof(exits));
	loads = 0;
	core.exits = exits;
	partition.gic = (struct gic_view){ .words = WORDS, .interfaces = INTERFACES, .reachable = INTERFACES };
	partition.gic.lines[1] = OWN_LINES;
	served = true;
}

static bool decodes(uint32_t syndrome, struct hal_exit *exit)
{
	*exit = (struct hal_exit){ .kind = BH_EXIT_ERROR };
	return decode_word_access(&core, syndrome, exit);
}

static void test_words(void)
{
	struct hal_exit exit;

	check_context.subject = "words";
	prepare();
	CHECK(decodes(WORD_LOAD, &exit));
	CHECK_EQ(exit.access, BH_ACCESS_READ);
	CHECK_EQ(exit.gpa, GPA);
	CHECK_EQ(exit.width, 4);
	CHECK_EQ(exit.target, 5);
	CHECK_EQ(exit.raw[0], WORD_LOAD);
	CHECK(decodes(WORD_LOAD | WRITES, &exit));
	CHECK_EQ(exit.access, BH_ACCESS_WRITE);
	CHECK_EQ(exit.value, VALUE);
	CHECK(decodes(WORD_LOAD ^ 1, &exit)); /* level 2 */

	check_context.subject = "a guest that is not served";
	served = false;
	CHECK(!decodes(WORD_LOAD, &exit));
}

/* Each a bit from a word's: ISV, the size, EA, CM, S1PTW; and every other status. */
static void test_other_accesses(void)
{
	static const uint8_t bits[] = { 24, 23, 22, 9, 8, 7 };
	struct hal_exit exit;

	check_context.subject = "a bit more or less";
	prepare();
	for (unsigned n = 0; n < sizeof(bits); n++) {
		check_context.round = bits[n];
		CHECK(!decodes(WORD_LOAD ^ 1u << bits[n], &exit));
	}
	check_context.subject = "status";
	for (uint32_t status = 0; status < 64; status++) {
		check_context.round = status;
		CHECK_EQ(decodes((WORD_LOAD & ~0x3fu) | status, &exit), status == 6 || status == 7);
	}
}

static bool answers(uint32_t offset, enum bh_access access)
{
	const struct hal_exit exit = {
		.access = access, .width = 4, .target = 5, .gpa = DISTRIBUTOR + offset, .value = VALUE, .raw = { WORD_LOAD }
	};

	prepare();
	return gic_access_at_once(&core, &exit);
}

static void check_nothing_done(void)
{
	CHECK_EQ(mmio.reads + mmio.writes + loads, 0);
	CHECK_EQ(exits[BH_EXIT_DEVICE] + exits[BH_EXIT_IPI], 0);
}

/* Own lines alone, read and written; foreign words as if nothing were there. */
static void test_bits(void)
{
	check_context.subject = "bits";
	for (uint32_t offset = GICD_ISENABLER; offset < GICD_IPRIORITYR; offset += 4) {
		uint32_t own = offset % 0x80 == 4 ? OWN_LINES : 0;

		check_context.round = offset;
		CHECK(answers(offset, BH_ACCESS_WRITE));
		CHECK_EQ(mmio.writes, own != 0);
		CHECK(!own || (mmio.address == DISTRIBUTOR + offset && mmio.value == (VALUE & OWN_LINES)));
		CHECK_EQ(exits[BH_EXIT_DEVICE], 1);
		CHECK(answers(offset, BH_ACCESS_READ));
		CHECK_EQ(loads, 1);
		CHECK_EQ(loaded, own);
	}
}

static void test_beside(void)
{
	check_context.subject = "not aligned";
	for (uint32_t offset = GICD_ISENABLER; offset < GICD_IPRIORITYR; offset++)
		if (offset & 3) {
			check_context.round = offset;
			CHECK(!answers(offset, BH_ACCESS_WRITE));
			check_nothing_done();
			CHECK(!answers(offset, BH_ACCESS_READ));
			check_nothing_done();
		}
	check_context.subject = "other registers";
	for (uint32_t offset = 0; offset < GICD_BYTES; offset += 4)
		if ((offset < GICD_ISENABLER || offset >= GICD_IPRIORITYR) && offset != GICD_SGIR) {
			check_context.round = offset;
			CHECK(!answers(offset, BH_ACCESS_WRITE));
			check_nothing_done();
		}
}

/* SGIR is to be written: a read of it sends nothing. VALUE names other cores, and the kick. */
static void test_sgir(void)
{
	const struct hal_exit own = { .access = BH_ACCESS_WRITE, .width = 4, .gpa = DISTRIBUTOR + GICD_SGIR, .value = 1 << 17 | 9 };
	struct hal_exit read = own;

	check_context.subject = "SGIR";
	prepare();
	CHECK(gic_access_at_once(&core, &own));
	CHECK_EQ(mmio.address, DISTRIBUTOR + GICD_SGIR);
	CHECK_EQ(mmio.value, 1 << 17 | 9);
	CHECK_EQ(exits[BH_EXIT_IPI], 1);
	CHECK(!answers(GICD_SGIR, BH_ACCESS_WRITE));
	check_nothing_done();

	check_context.subject = "SGIR, read";
	prepare();
	read.access = BH_ACCESS_READ;
	CHECK(!gic_access_at_once(&core, &read));
	check_nothing_done();
}

int main(void)
{
	gic_at.distributor = DISTRIBUTOR;
	test_words();
	test_other_accesses();
	test_bits();
	test_beside();
	test_sgir();
	return 0;
}
