/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.device. The distributor filter: a const table of registers, one rule each. What no entry names reads as zero and ignores writes. */
#pragma once
#include "gic.h"

/* One register file of the distributor's layout: the distributor, or a redistributor's frame for one core. */
struct gic_frame {
	const struct gic_register *registers;
	uint64_t base;
	const uint32_t *lines; /* granted */
	uint32_t words;        /* of `lines` */
	bool foreign;          /* GICv3: another sandbox's core, shown as a redistributor at `base` that belongs to nobody */
};

/* One access, width and alignment checked. */
struct gic_access {
	struct hal_core *core;
	const struct gic_frame *frame;
	uint64_t address; /* of the machine's register */
	uint64_t granted; /* bits of the value that belong to granted lines */
	uint32_t line;    /* the first one touched */
	uint32_t width;   /* bytes */
};

/* How a register behaves for a guest: indices of gic_rules. */
enum gic_rule_name {
	GIC_ABSENT,     /* reads as zero, ignores writes */
	GIC_PLAIN,      /* reads as the machine's; identification */
	GIC_FIXED,      /* granted lines read as they are; writes ignored: set when the machine started */
	GIC_BITS,       /* write-one registers: ones for granted lines only */
	GIC_SENDERS,    /* a byte a line, a bit a sender, write-one: bytes of zeros are not written */
	GIC_PRIORITIES, /* a byte a line, granted ones written, none above GIC_GUEST_PRIORITY */
	GIC_CONTROL,    /* GICD_CTLR: kept, not carried out */
	GIC_TYPE,       /* GICD_TYPER, GICR_TYPER: as granted */
	GIC_TARGETS,    /* where granted lines go: own cores only */
};
struct gic_rule {
	uint64_t (*read)(const struct gic_access *access);
	void (*write)(const struct gic_access *access, uint64_t value); /* NULL: ignored */
};

/* Registers [first, last] by offset; `last` = 0 ends a table. */
struct gic_register {
	uint16_t first, last;
	uint8_t line_bits; /* bits for each line; 0: the register is not about lines */
	uint8_t widths;    /* accesses allowed, in bytes, or-ed */
	uint8_t rule;      /* enum gic_rule_name */
};

/* Supplied by each GIC version: the parts of GIC_TYPE and GIC_TARGETS. */
uint64_t gic_read_type(const struct gic_access *access);
void gic_write_targets(const struct gic_access *access, uint64_t value);

/*
 * Waits, within a bound, until no line that was disabled at this frame arrives any more. What is at the CPU interface by then is left to
 * gic_reset_core.
 */
void gic_settle(uint64_t frame);
/* Sends a line to one core. */
void gic_route(uint32_t line, uint64_t hardware_id);
/* Resets the lines `mask` of word `word` at a frame of the distributor's layout: disabled, not pending, not active, default priority. */
void gic_reset_word(uint64_t frame, uint32_t word, uint32_t mask);
/* Writes each byte of `value` whose byte in `mask` is not 0. */
void gic_write_bytes(const struct gic_access *access, uint64_t mask, uint64_t value);

/* Carries out an access to a word of the distributor if that is one of GIC_BITS, which both versions have in the same place. */
bool gic_bits_at_once(struct hal_core *core, const struct hal_exit *exit);
/* Carries out `exit` at `offset` of the frame. HAL_FAULT: a width or alignment the register does not have. */
enum hal_action gic_filter(struct hal_core *core, const struct gic_frame *frame, uint32_t offset, const struct hal_exit *exit);
