/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write filter of PCI functions (BH-I1.device) over a model of two functions: whatever a guest writes, in whatever order,
 * widths and places, its function decodes at the granted addresses only, masters only if an IOMMU stands behind it, and the other function,
 * its neighbour, stays as it was.
 */
#include <stdbool.h>
#include <setjmp.h>
#include <string.h>

#include "check.h"
#include "fake_arch.h"
#include "hal/pci/config.h"
#include "hal/pci/pci.h"
#include "held_lock.h"

enum {
	SELF = 1 << 3 /* its core's bit */,
	OWN = 0x18,
	FOREIGN = 0x19,
	WORDS = PCI_PAGE_BYTES / 4,
	ROUNDS = 50000,
	HEALS = 40,
	CAPABILITY = 0x40
};

/* What software may change of each double word; the rest keeps what it has. The status' bits are cleared by ones. */
struct model {
	uint32_t word[WORDS], writable[WORDS];
};
static struct model own, foreign;

static const uint32_t granted[BH_PCI_FUNCTION_BARS] = { 0x10000000, 0x2001, 0x20000004, 0x1, 0x3000000c, 0x0 };
static const uint32_t size_mask[BH_PCI_FUNCTION_BARS] = { 0xfff00000, 0xffffff01, 0xffff0004, 0xffffffff, 0xf000000c, 0xffffffff };
static const uint32_t kinds[BH_PCI_FUNCTION_BARS] = { 0, 1, 4, 0, 0xc, 0 };

static struct model *model_of(uint32_t place)
{
	uint32_t id = place >> PCI_REGISTER_BITS;

	CHECK(id == OWN || id == FOREIGN);
	return id == OWN ? &own : &foreign;
}

static struct pci_view view;
static unsigned until_trap; /* accesses; 0: none */
static jmp_buf trapped;

static void count_down(void)
{
	if (until_trap == 1)
		longjmp(trapped, 1);
	if (until_trap)
		until_trap--;
}

static bool masters;    /* an IOMMU stands behind the own function */
static bool interrupts; /* by its line */

/* MSI with 64 bits and masks, and the control of MSI-X. */
static const struct pci_stretch messages[PCI_MESSAGES] = { { 0x50, 24, 0 }, { 0x70, 4, 0 } };

static bool is_message(uint32_t offset)
{
	return masters && ((offset >= 0x50 && offset < 0x68) || (offset >= 0x70 && offset < 0x74));
}

static uint32_t most(void)
{
	return PCI_COMMAND_DECODE | (masters ? PCI_COMMAND_MASTER : 0);
}

static uint32_t always(void)
{
	return interrupts ? 0 : PCI_COMMAND_INTX_DISABLE;
}

/* One guest's access is one hold of the lock: on other cores nothing comes between its check and its write. */
static void check_locked(void)
{
	CHECK_EQ(view.own.holder, SELF);
}

/* And the next holder finds what this one left: after its last register comes a barrier, and only then the lock is given. */
static bool is_fenced = true;

static void note_barrier(void)
{
	check_locked();
	is_fenced = true;
}

/* A command is on its way until its function has been read. Until then nothing may be done that relies on it: a base address would move. */
static bool is_posted;

/* What was written last, in this order. */
static struct written {
	uint32_t place, value;
} written[16];
static unsigned writes;

uint32_t pci_config_read(uint32_t place)
{
	check_locked();
	count_down();
	is_fenced = false;
	is_posted = false;
	CHECK(place % 4 == 0);
	return model_of(place)->word[place % PCI_PAGE_BYTES / 4];
}

void pci_config_write(uint32_t place, uint32_t value)
{
	struct model *model = model_of(place);
	uint32_t offset = place % PCI_PAGE_BYTES, n = offset / 4, cleared = offset == PCI_COMMAND ? value & 0xffff0000 : 0;

	check_locked();
	count_down();
	is_fenced = false;
	CHECK(offset % 4 == 0);
	CHECK(!is_posted || offset == PCI_COMMAND);
	is_posted = offset == PCI_COMMAND;
	written[writes++ % (sizeof(written) / sizeof(written[0]))] = (struct written){ place, value };
	model->word[n] = ((model->word[n] & ~model->writable[n]) | (value & model->writable[n])) & ~cleared;
}

static void reset(struct model *model)
{
	memset(model, 0, sizeof(*model));
	memset(model->writable, 0xff, sizeof(model->writable));
	model->word[0] = 0x11e81234;
	model->writable[0] = 0;
	model->word[PCI_COMMAND / 4] = 0xf9100000 | PCI_COMMAND_DECODE;
	model->writable[PCI_COMMAND / 4] = 0x0547;
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++) {
		model->word[PCI_BASE_ADDRESS / 4 + n] = granted[n];
		model->writable[PCI_BASE_ADDRESS / 4 + n] = size_mask[n] & ~kinds[n];
	}
	for (uint32_t n = CAPABILITY / 4; n < WORDS; n++)
		model->word[n] = 0xc0de0000 + n;
	model->word[PCI_INTERRUPT_LINE / 4] = 0x100;
	model->writable[PCI_INTERRUPT_LINE / 4] = 0xff;
}

static void start(void)
{
	reset(&own);
	reset(&foreign);
	view = (struct pci_view){ .count = 1 };
	view.functions[0] = (struct pci_function){ .place = OWN << PCI_REGISTER_BITS,
						   .may = (uint8_t)most(),
						   .always = (uint16_t)always() };
	own.word[PCI_COMMAND / 4] |= always();
	if (masters)
		memcpy(view.functions[0].messages, messages, sizeof(messages));
	memcpy(view.functions[0].bar, granted, sizeof(granted));
	view.lock = &view.own;
}

static uint32_t at(uint32_t id, uint32_t offset)
{
	return id << PCI_REGISTER_BITS | offset;
}

static uint32_t peek(uint32_t offset)
{
	uint32_t value = 0;

	CHECK_EQ(pci_read(&view, SELF, at(OWN, offset), 4, &value), HAL_SKIP);
	return value;
}

static void poke(uint32_t offset, uint32_t value)
{
	CHECK_EQ(pci_write(&view, SELF, at(OWN, offset), 4, value), HAL_SKIP);
}

/* What must hold of the own function after any write, and of the other at any time. */
static void check_sound(void)
{
	struct model untouched;
	bool placed = true;

	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++) {
		uint32_t bar = own.word[PCI_BASE_ADDRESS / 4 + n];

		CHECK(bar == granted[n] || bar == size_mask[n]);
		placed = placed && bar == granted[n];
	}
	CHECK(placed || !(own.word[PCI_COMMAND / 4] & PCI_COMMAND_DECODE));
	CHECK_EQ(own.word[PCI_COMMAND / 4] & ~(most() | PCI_COMMAND_INTX_DISABLE), 0xf9100000);
	CHECK(interrupts || own.word[PCI_COMMAND / 4] & PCI_COMMAND_INTX_DISABLE);
	CHECK_EQ(own.word[PCI_INTERRUPT_LINE / 4] & ~0xffu, 0x100);
	reset(&untouched);
	CHECK(!memcmp(&foreign, &untouched, sizeof(foreign)));
	for (uint32_t n = 0; n < WORDS; n++)
		if (n != PCI_COMMAND / 4 && n != PCI_INTERRUPT_LINE / 4 && (n < 4 || n >= 4 + BH_PCI_FUNCTION_BARS) && !is_message(n * 4))
			CHECK_EQ(own.word[n], untouched.word[n]);
	CHECK_EQ(view.own.holder | view.own.wanted, 0);
	CHECK(is_fenced);
}

/* Numerical Recipes, "Quick and dirty": its low bits are not used. */
static uint32_t random32(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

/* Values that mean something, as often as ones that do not. */
static uint32_t some_value(void)
{
	switch (random32() % 6) {
	case 0:
		return UINT32_MAX;
	case 1:
		return granted[random32() % BH_PCI_FUNCTION_BARS];
	case 2:
		return random32() % 8;
	case 3:
		return 0;
	default:
		return random32();
	}
}

/* Mostly in the header, mostly of the own function. */
static uint32_t some_place(void)
{
	uint32_t id = random32() % 4 ? OWN : random32() % 2 ? FOREIGN : random32() % 0x100;

	return at(id, random32() % (random32() % 4 ? 0x40 : PCI_PAGE_BYTES) & (random32() % 4 ? ~UINT32_C(3) : UINT32_MAX));
}

/* As a kernel that has found out what it wanted. */
static void heal(void)
{
	poke(PCI_COMMAND, 0);
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++)
		poke(PCI_BASE_ADDRESS + 4 * n, granted[n]);
	poke(PCI_COMMAND, random32() % 2 ? PCI_COMMAND_DECODE : 0);
}

static void test_any_writes(void)
{
	uint64_t decoding = 0, sizing = 0;

	check_context.subject = "any writes";
	start();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t place = some_place();
		uint32_t width = 1u << random32() % 4;
		bool possible = width <= 4 && !(place & (width - 1));
		unsigned given;

		check_context.round = round;
		if (round % HEALS == 0)
			heal();
		given = fake_arch.barriers;
		CHECK_EQ(pci_write(&view, SELF, place, width, some_value()), possible ? HAL_SKIP : HAL_FAULT);
		CHECK(fake_arch.barriers - given <= 1); /* one hold, which ends in a barrier */
		check_sound();
		decoding += !!(own.word[PCI_COMMAND / 4] & PCI_COMMAND_DECODE);
		sizing += own.word[PCI_BASE_ADDRESS / 4] != granted[0];
	}
	CHECK(decoding > ROUNDS / 100); /* the test has been where it matters */
	CHECK(sizing > ROUNDS / 100);
}

static void test_kernels_do_this(void)
{
	check_context.subject = "sizing";
	start();
	poke(PCI_COMMAND, 0);
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++) {
		poke(PCI_BASE_ADDRESS + 4 * n, UINT32_MAX);
		CHECK_EQ(peek(PCI_BASE_ADDRESS + 4 * n), size_mask[n]);
		poke(PCI_COMMAND, PCI_COMMAND_DECODE);
		CHECK_EQ(peek(PCI_COMMAND) & PCI_COMMAND_DECODE, 0);
		poke(PCI_BASE_ADDRESS + 4 * n, granted[n]);
	}
	poke(PCI_COMMAND, 0xffff);
	CHECK_EQ(peek(PCI_COMMAND), 0xf9100000 | most() | PCI_COMMAND_INTX_DISABLE);
	CHECK_EQ(pci_write(&view, SELF, at(OWN, PCI_INTERRUPT_LINE), 1, 0x2a), HAL_SKIP);
	CHECK_EQ(peek(PCI_INTERRUPT_LINE), 0x12a);
	check_sound();
}

static void test_reads(void)
{
	uint32_t value = 0;

	check_context.subject = "reads";
	start();
	CHECK_EQ(pci_read(&view, SELF, at(OWN, 2), 2, &value), HAL_SKIP);
	CHECK_EQ(value & 0xffff, 0x11e8);
	CHECK_EQ(pci_read(&view, SELF, at(OWN, 3), 1, &value), HAL_SKIP);
	CHECK_EQ(value & 0xff, 0x11);
	CHECK_EQ(pci_read(&view, SELF, at(FOREIGN, 0), 4, &value), HAL_SKIP);
	CHECK_EQ(value, UINT32_MAX);
	CHECK_EQ(pci_read(&view, SELF, at(OWN, 1), 2, &value), HAL_FAULT);
	CHECK_EQ(pci_read(&view, SELF, at(OWN, 0), 8, &value), HAL_FAULT);
	CHECK_EQ(pci_read(&view, SELF, at(OWN, 0), 0, &value), HAL_FAULT);
}

/* Whatever the last life did to them. */
static void test_reset(void)
{
	check_context.subject = "reset";
	start();
	poke(PCI_COMMAND, 0);
	poke(PCI_BASE_ADDRESS, UINT32_MAX);
	poke(PCI_COMMAND, PCI_COMMAND_INTX_DISABLE);
	pci_reset(&view, SELF, PCI_COMMAND_DECODE);
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++)
		CHECK_EQ(peek(PCI_BASE_ADDRESS + 4 * n), granted[n]);
	CHECK_EQ(peek(PCI_COMMAND), 0xf9100000 | PCI_COMMAND_DECODE | always());
	check_sound();
}

/* A function that decodes would answer at addresses on the way: it does not while they are written, and does after them. */
static void test_reset_order(void)
{
	check_context.subject = "order of a reset";
	start();
	writes = 0;
	pci_reset(&view, SELF, PCI_COMMAND_DECODE);
	CHECK_EQ(writes, 1 + BH_PCI_FUNCTION_BARS + 1);
	CHECK_EQ(written[0].place, at(OWN, PCI_COMMAND));
	CHECK_EQ(written[0].value, always());
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++) {
		CHECK_EQ(written[1 + n].place, at(OWN, PCI_BASE_ADDRESS + 4 * n));
		CHECK_EQ(written[1 + n].value, granted[n]);
	}
	CHECK_EQ(written[1 + BH_PCI_FUNCTION_BARS].place, at(OWN, PCI_COMMAND));
	CHECK_EQ(written[1 + BH_PCI_FUNCTION_BARS].value, PCI_COMMAND_DECODE | always());
}

/* Silent, it neither decodes nor masters, whatever it did before, until it is reset again. */
static void test_silence(void)
{
	check_context.subject = "silence";
	start();
	own.word[PCI_COMMAND / 4] |= PCI_COMMAND_DECODE | 1 << 2; /* bus master */
	own.word[PCI_BASE_ADDRESS / 4] = size_mask[0];            /* left by a kernel that stopped while it sized */
	pci_reset(&view, SELF, PCI_SILENT);
	CHECK(!is_posted);
	CHECK_EQ(peek(PCI_COMMAND), 0xf9100000 | always());
	CHECK_EQ(peek(PCI_BASE_ADDRESS), size_mask[0]); /* places are the next life's */
	pci_reset(&view, SELF, PCI_COMMAND_DECODE);
	CHECK_EQ(peek(PCI_BASE_ADDRESS), granted[0]);
	CHECK_EQ(peek(PCI_COMMAND), 0xf9100000 | PCI_COMMAND_DECODE | always());
	check_sound();
}

/* BH-I1.dma. Messages are the guest's to set; another life begins without. */
static void test_messages(void)
{
	check_context.subject = "messages";
	masters = true;
	start();
	for (uint32_t offset = CAPABILITY; offset < 0x80; offset += 4) {
		uint32_t before = own.word[offset / 4];

		poke(offset, 0xfee01234);
		CHECK_EQ(own.word[offset / 4], is_message(offset) ? 0xfee01234 : before);
	}
	pci_reset(&view, SELF, PCI_SILENT);
	CHECK_EQ(own.word[0x50 / 4] >> 16, 0);
	CHECK_EQ(own.word[0x70 / 4] >> 16, 0);
	test_kernels_do_this();
	test_any_writes();
	masters = false;
}

static void check_waited(const char *who)
{
	held_check_waited(who);
	check_sound();
}

static void test_waits(void)
{
	uint32_t value;

	start();
	held_by_another(view.lock);
	pci_reset(&view, SELF, PCI_COMMAND_DECODE);
	check_waited("reset waits for the lock");
	held_by_another(view.lock);
	CHECK_EQ(pci_read(&view, SELF, at(OWN, 0), 4, &value), HAL_SKIP);
	check_waited("a read waits for the lock");
	held_by_another(view.lock);
	CHECK_EQ(pci_write(&view, SELF, at(OWN, PCI_COMMAND), 4, 0), HAL_SKIP);
	check_waited("a write waits for the lock");
}

static void one_of_each(void)
{
	poke(PCI_COMMAND, 0);
	poke(PCI_BASE_ADDRESS, UINT32_MAX);
	peek(PCI_BASE_ADDRESS);
	pci_reset(&view, SELF, PCI_COMMAND_DECODE);
	pci_reset(&view, SELF, PCI_SILENT);
}

/*
 * A monitor that traps at any of its accesses, under the lock: when it begins anew the lock is free, its function is somewhere within the
 * grant or decodes nothing, and the sandbox's end silences it.
 */
static void test_trap(void)
{
	volatile unsigned traps = 0;
	volatile bool went_through = false;

	check_context.subject = "a trap under the lock";
	for (volatile unsigned n = 1; !went_through; n++) {
		check_context.round = n;
		start();
		if (!setjmp(trapped)) {
			until_trap = n;
			one_of_each();
			went_through = true;
		} else {
			traps++;
			CHECK_EQ(view.own.holder, SELF);
			hal_lock_leave(&view.own, SELF);
		}
		until_trap = 0;
		check_sound();
		pci_reset(&view, SELF, PCI_SILENT);
		check_sound();
		CHECK(!(own.word[PCI_COMMAND / 4] & PCI_COMMAND_DECODE));
	}
	CHECK(traps > 10);
}

/* Of device control's double word the upper half is a status that ones clear. It is the last register to be touched. */
static void test_reset_by_itself(void)
{
	enum { CONTROL = 0x88 };

	check_context.subject = "a function that can be reset by itself";
	start();
	own.word[CONTROL / 4] = 0x000f2810;
	view.functions[0].device_control = CONTROL;
	pci_reset(&view, SELF, PCI_SILENT);
	CHECK_EQ(own.word[CONTROL / 4], 0x000f2810);
	pci_reset(&view, SELF, PCI_FUNCTION_RESET);
	CHECK_EQ(written[(writes - 1) % 16].place, at(OWN, CONTROL));
	CHECK_EQ(written[(writes - 1) % 16].value, 0xa810);
	CHECK(!(own.word[PCI_COMMAND / 4] & (PCI_COMMAND_DECODE | PCI_COMMAND_MASTER)));
	pci_reset(&view, SELF, PCI_COMMAND_DECODE);
	CHECK_EQ(own.word[CONTROL / 4], 0xa810);
	check_context.subject = "a function that cannot";
	view.functions[0].device_control = 0;
	pci_reset(&view, SELF, PCI_FUNCTION_RESET);
	CHECK_EQ(written[(writes - 1) % 16].place, at(OWN, PCI_COMMAND));
	CHECK_EQ(written[(writes - 1) % 16].value, PCI_SILENT | always());
}

/* A line that is not its sandbox's may be shared with one that is another's: whoever holds it up interrupts that one without end. */
static void test_line(void)
{
	check_context.subject = "the line of a function";
	for (unsigned n = 0; n < 2; n++) {
		interrupts = n;
		start();
		poke(PCI_COMMAND, PCI_COMMAND_DECODE);
		CHECK_EQ(peek(PCI_COMMAND), 0xf9100000 | PCI_COMMAND_DECODE | always());
		CHECK_EQ(pci_write(&view, SELF, at(OWN, PCI_COMMAND + 1), 1, 0), HAL_SKIP);
		CHECK_EQ(peek(PCI_COMMAND), 0xf9100000 | PCI_COMMAND_DECODE | always());
	}
}

int main(void)
{
	test_reset_by_itself();
	fake_arch.on_barrier = note_barrier;
	test_line();
	for (unsigned n = 0; n < 2; n++) {
		interrupts = n;
		test_waits();
		test_trap();
		test_reset();
		test_reset_order();
		test_silence();
		test_kernels_do_this();
		test_reads();
		test_any_writes();
		test_messages();
	}
	return 0;
}
