/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that reach for what no sandbox has: memory, devices, registers. Each says what it got, or that it was stopped. */
#include "probe/attack.h"

#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/text.h"
#include "probe/dma.h"
#include "probe/mapping.h"

static uint64_t attack_read(uint64_t a, uint64_t b)
{
	return arch_mmio_read32(a);
}

static uint64_t attack_write(uint64_t a, uint64_t b)
{
	arch_mmio_write32(a, (uint32_t)b);
	return 0;
}

static uint64_t attack_execute(uint64_t a, uint64_t b)
{
	((void (*)(void))a)();
	return 0;
}

static uint64_t attack_locked(uint64_t a, uint64_t b)
{
	return __atomic_fetch_add((uint32_t *)a, 1, __ATOMIC_SEQ_CST);
}

/* Half of the access lies before `a`, half after. */
static uint64_t attack_straddle(uint64_t a, uint64_t b)
{
	return arch_mmio_read64(a - 4);
}

/* The table walker itself is sent into foreign memory. */
static uint64_t attack_ptwalk(uint64_t a, uint64_t b)
{
	return arch_mmio_read32(mapping_graft(a));
}

/* ---- Two cores at one PCI function, whose configuration registers are at `a`: one enables it, the other displaces it ----- */

enum { PCI_COMMAND = 0x04, PCI_COMMAND_DECODE = 3, PCI_BASE_ADDRESS = 0x10 };

static uint64_t attack_decode(uint64_t a, uint64_t b)
{
	for (uint64_t n = 0; n < b; n++)
		arch_mmio_write32(a + PCI_COMMAND, PCI_COMMAND_DECODE);
	return 0;
}

/* Switches decoding off, and returns when the other core has switched it on again: from then on both are at work. */
static uint64_t attack_decoded(uint64_t a, uint64_t b)
{
	arch_mmio_write32(a + PCI_COMMAND, 0);
	while (!(arch_mmio_read32(a + PCI_COMMAND) & PCI_COMMAND_DECODE))
		arch_relax();
	return 0;
}

/* Returns how often the function decoded at a displaced address. Goes on until `b` attempts have displaced it. */
static uint64_t attack_displace(uint64_t a, uint64_t b)
{
	uint32_t granted = arch_mmio_read32(a + PCI_BASE_ADDRESS);
	uint64_t displaced = 0, decoded = 0;

	while (displaced < b) {
		arch_mmio_write32(a + PCI_COMMAND, 0);
		arch_mmio_write32(a + PCI_BASE_ADDRESS, UINT32_MAX);
		if (arch_mmio_read32(a + PCI_BASE_ADDRESS) != granted) {
			displaced++;
			decoded += (arch_mmio_read32(a + PCI_COMMAND) & PCI_COMMAND_DECODE) != 0;
		}
		arch_mmio_write32(a + PCI_BASE_ADDRESS, granted);
	}
	return decoded;
}

const struct attack attacks[] = {
	{ "read", 1, true, attack_read },       { "write", 1, true, attack_write },       { "execute", 1, true, attack_execute },
	{ "locked", 1, true, attack_locked },   { "straddle", 1, true, attack_straddle }, { "ptwalk", 1, false, attack_ptwalk },
	{ "decode", 2, true, attack_decode },   { "decoded", 1, true, attack_decoded },   { "displace", 2, true, attack_displace },
	{ "dma-write", 1, false, dma_write },   { "dma-read", 1, false, dma_read },       { "dma-message", 2, false, dma_message },
	{ "dma-listen", 1, false, dma_listen }, { "dma-send", 1, false, dma_send },       { NULL, 0, false, NULL },
};

static bool matches(const struct attack *attack, const char *name, const struct command_line *line)
{
	const char *s = attack->name;

	while (*s && *s == *name) {
		s++;
		name++;
	}
	if (*name)
		return false;
	return *s ? *s == '=' && text_equal(s + 1, line->text) : line->operands >= attack->operands;
}

static const struct attack *find(const struct attack *attack, const char *name, const struct command_line *line)
{
	for (; attack->name; attack++)
		if (matches(attack, name, line))
			return attack;
	return NULL;
}

static void attempt(const struct attack *attack, uint64_t a, uint64_t b)
{
	const struct fault *fault = fault_last();
	uint64_t value;
	bool returned = cpu_attempt(attack->attempt, a, b, &value);

	cpu_interrupts_enable(); /* whatever the attempt did to them */
	if (!returned && fault->is_sent && cpu_slot())
		fault_take(fault, false); /* the first core's attempts may send themselves one, others' are sent by it */
	if (returned)
		console_say("returned 0x%jx", value);
	else
		console_say("refused: %s pc 0x%jx addr 0x%jx syndrome 0x%jx", fault->name, fault->pc, fault->address, fault->syndrome);
}

/* Maps the page before, too: some attacks begin there. 0: cannot. */
static uint64_t reach(uint64_t physical)
{
	uint64_t before = physical < BH_PAGE_BYTES ? 0 : BH_PAGE_BYTES;
	uint64_t start = mapping_reach(physical - before, before + BH_PAGE_BYTES);

	return start ? start + before : 0;
}

bool command_run_other(const char *name, const struct command_line *line)
{
	const struct attack *attack = find(attacks, name, line);
	uint64_t a = line->operand[0];

	if (!attack)
		attack = find(arch_attacks, name, line);
	if (!attack)
		return false;
	if (attack->reaches)
		a = reach(a);
	console_say("try %s %s%s", name, line->text, attack->reaches && !a ? ": out of reach" : "");
	if (a || !attack->reaches)
		attempt(attack, a, line->operand[1]);
	return true;
}
