/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: BH-I1.device. What a guest's access to a register of the distributor's layout becomes, rule by rule, and the lines of a sandbox
 * as a restart leaves them. gic_filter.h has the rules' names; each version has its own tables of registers.
 */
#include "gic_filter.h"

#include "gicd.h"
#include "hal/arm/stage2.h"

struct gic_at gic_at;

static uint64_t mmio_read(uint64_t address, uint32_t width)
{
	if (width == 8)
		return arch_mmio_read64(address);
	return width == 4 ? arch_mmio_read32(address) : arch_mmio_read8(address);
}

static uint64_t read_zero(const struct gic_access *access)
{
	return 0;
}

static uint64_t read_plain(const struct gic_access *access)
{
	return mmio_read(access->address, access->width);
}

static uint64_t read_granted(const struct gic_access *access)
{
	return access->granted ? mmio_read(access->address, access->width) & access->granted : 0;
}

static void write_bits(const struct gic_access *access, uint64_t value)
{
	if (access->granted)
		arch_mmio_write32(access->address, (uint32_t)(value & access->granted));
}

/* One line, one byte, one store: the neighbours in the word may be another sandbox's. */
void gic_write_bytes(const struct gic_access *access, uint64_t mask, uint64_t value)
{
	for (uint32_t n = 0; n < access->width; n++)
		if (mask >> 8 * n & 0xff)
			arch_mmio_write8(access->address + n, (uint8_t)(value >> 8 * n));
}

static void write_priorities(const struct gic_access *access, uint64_t value)
{
	uint64_t capped = value;

	for (uint32_t shift = 0; shift < 8 * access->width; shift += 8)
		if ((value >> shift & 0xff) < GIC_GUEST_PRIORITY)
			capped |= (uint64_t)GIC_GUEST_PRIORITY << shift;
	gic_write_bytes(access, access->granted, capped);
}

/*
 * A byte of zeros asks for nothing: ARM IHI 0048B, 4.3.17 "GICD_SPENDSGIRn". QEMU takes such a byte for an SGI that nobody
 * sent, and ends when that is acknowledged.
 */
static void write_senders(const struct gic_access *access, uint64_t value)
{
	gic_write_bytes(access, access->granted & value, value);
}

static uint64_t read_control(const struct gic_access *access)
{
	return access->core->partition->gic.control | access->core->partition->gic.control_fixed;
}

static void write_control(const struct gic_access *access, uint64_t value)
{
	access->core->partition->gic.control = (uint32_t)value;
}

static const struct gic_rule rules[] = {
	[GIC_ABSENT] = { read_zero, NULL },
	[GIC_PLAIN] = { read_plain, NULL },
	[GIC_FIXED] = { read_granted, NULL },
	[GIC_BITS] = { read_granted, write_bits },
	[GIC_SENDERS] = { read_granted, write_senders },
	[GIC_PRIORITIES] = { read_granted, write_priorities },
	[GIC_CONTROL] = { read_control, write_control },
	[GIC_TYPE] = { gic_read_type, NULL },
	[GIC_TARGETS] = { read_granted, gic_write_targets },
};

static const struct gic_register *find(const struct gic_frame *frame, uint32_t offset)
{
	const struct gic_register *entry = frame->registers;

	while (entry->last && (offset < entry->first || offset > entry->last))
		entry++;
	return entry->last ? entry : NULL;
}

/* Of the 32 lines of a word. */
static uint32_t granted_word(const uint32_t *lines, uint32_t words, uint32_t word)
{
	return word < words ? lines[word] : 0;
}

static bool is_granted(const struct gic_frame *frame, uint32_t line)
{
	return granted_word(frame->lines, frame->words, line / GIC_LINES_A_WORD) >> line % GIC_LINES_A_WORD & 1;
}

/* The bits of an access that starts with `line` and belong to granted lines. */
static uint64_t granted_bits(const struct gic_frame *frame, uint32_t line, uint32_t line_bits, uint32_t width)
{
	uint64_t field = ~UINT64_C(0) >> (64 - line_bits);
	uint64_t granted = 0;

	if (line_bits == 1) /* no access is narrower than a word */
		return granted_word(frame->lines, frame->words, line / GIC_LINES_A_WORD);
	for (uint32_t shift = 0; shift < 8 * width; shift += line_bits, line++)
		if (is_granted(frame, line))
			granted |= field << shift;
	return granted;
}

static void complete(const struct gic_rule *rule, const struct gic_access *access, const struct hal_exit *exit)
{
	if (exit->access == BH_ACCESS_READ)
		guest_complete_load(access->core, exit, rule->read(access));
	else if (rule->write)
		rule->write(access, exit->value);
}

enum hal_action gic_filter(struct hal_core *core, const struct gic_frame *frame, uint32_t offset, const struct hal_exit *exit)
{
	const struct gic_register *entry = find(frame, offset);
	struct gic_access access = {
		.core = core,
		.frame = frame,
		.address = frame->base + offset,
		.width = exit->width,
	};

	if (offset & (exit->width - 1) || (entry && !(entry->widths & exit->width)))
		return HAL_FAULT;
	if (entry && entry->line_bits) {
		access.line = (offset - entry->first) * 8 / entry->line_bits;
		access.granted = granted_bits(frame, access.line, entry->line_bits, exit->width);
	}
	complete(&rules[entry ? entry->rule : GIC_ABSENT], &access, exit);
	return HAL_SKIP;
}

bool gic_bits_at_once(struct hal_core *core, const struct hal_exit *exit)
{
	const struct gic_view *view = &core->partition->gic;
	uint64_t offset = exit->gpa - gic_at.distributor;
	struct gic_access access = { .core = core, .address = exit->gpa, .width = 4 };

	if (offset - GICD_ISENABLER >= GICD_IPRIORITYR - GICD_ISENABLER || offset & 3)
		return false;
	access.granted = granted_word(view->lines, view->words, offset / 4 % GIC_WORDS);
	complete(&rules[GIC_BITS], &access, exit);
	core->exits[BH_EXIT_DEVICE]++;
	return true;
}

void gic_reset_word(uint64_t frame, uint32_t word, uint32_t mask)
{
	uint64_t offset = UINT64_C(4) * word;

	arch_mmio_write32(frame + GICD_ICENABLER + offset, mask);
	gic_settle(frame);
	arch_mmio_write32(frame + GICD_ICPENDR + offset, mask);
	arch_mmio_write32(frame + GICD_ICACTIVER + offset, mask);
	for (uint32_t bit = 0; bit < GIC_LINES_A_WORD; bit++)
		if (mask >> bit & 1)
			arch_mmio_write8(frame + GICD_IPRIORITYR + 8 * offset + bit, GIC_RESET_PRIORITY);
}

/* One bit, one store: the neighbours' are written as zeros, which say nothing. */
void gic_ring(uint32_t line)
{
	arch_barrier();
	arch_mmio_write32(gic_at.distributor + GICD_ISPENDR + UINT64_C(4) * (line / GIC_LINES_A_WORD), UINT32_C(1)
													       << line % GIC_LINES_A_WORD);
}

/* The tool sends every line to the sandbox's first core. */
void gic_reset_lines(const struct hal_partition *partition)
{
	const struct gic_view *view = &partition->gic;

	for (uint32_t word = 1; word < view->words; word++) {
		if (!view->lines[word])
			continue;
		gic_reset_word(gic_at.distributor, word, view->lines[word]);
		for (uint32_t bit = 0; bit < GIC_LINES_A_WORD; bit++)
			if (view->lines[word] >> bit & 1)
				gic_route(GIC_LINES_A_WORD * word + bit, partition->hardware_id[0]);
	}
}
