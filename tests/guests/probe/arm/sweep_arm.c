/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps of both ARM architectures: every system register, by instructions made as it goes, and every call but `calls_left_out`. */
#include "sweep_arm.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "probe/mapping.h"

/* ---- Registers -------------------------------------------------------------------------------------------------------- */

enum { STUBS = 512, STUB_WORDS = 2 };

typedef uint64_t (*stub)(uint64_t value, uint64_t unused);

/* Functions of one instruction and a return, for a block of numbers at a time: the same memory, once to be written and once to be executed.
 */
struct block {
	uint32_t code[STUBS][STUB_WORDS];
	uint64_t executable; /* 0: empty */
	uint64_t first;
	uint32_t (*encode)(uint64_t number);
};
static struct block readers __attribute__((aligned(4096))), writers __attribute__((aligned(4096)));

static void fill(struct block *block, uint32_t (*encode)(uint64_t number), uint64_t first)
{
	if (!block->executable)
		block->executable = mapping_reach((uintptr_t)block->code, sizeof(block->code));
	for (unsigned n = 0; n < STUBS; n++) {
		block->code[n][0] = encode(first + n);
		block->code[n][1] = return_instruction;
	}
	publish_instructions(block->executable, block->executable + sizeof(block->code));
	block->encode = encode;
	block->first = first;
}

/* Registers are swept in the order of their numbers, so most are there already. */
static stub stub_of(struct block *block, uint32_t (*encode)(uint64_t number), uint64_t number)
{
	if (!block->executable || block->encode != encode || number - block->first >= STUBS)
		fill(block, encode, number);
	return (stub)(uintptr_t)(block->executable + (number - block->first) * sizeof(block->code[0]));
}

static bool read_register(const struct register_space *space, uint64_t number, uint64_t *value)
{
	return cpu_attempt(stub_of(&readers, space->read, number), 0, 0, value);
}

bool register_is_readable(const struct register_space *space, uint64_t number)
{
	uint64_t value;

	return read_register(space, number, &value);
}

/* Without interrupts: between read and write, a handler might choose another value. */
bool register_is_writable(const struct register_space *space, uint64_t number)
{
	bool enabled = cpu_interrupts_disable(), written;
	uint64_t value = 0, nothing;

	if (!read_register(space, number, &value))
		value = 0;
	written = cpu_attempt(stub_of(&writers, space->write, number), value, 0, &nothing);
	cpu_interrupts_restore(enabled);
	return written;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------------ */

/* SMC calling convention (DEN 0028) 2.5 "Function identifiers": the first of every owner, fast and yielding, 32 and 64 bits. */
const struct sweep_range call_numbers[] = {
	{ 0x80000000, 0x800000ff, 1 }, /* architecture */
	{ 0x84000000, 0x840003ff, 1 }, /* standard secure services: PSCI, SDEI, TRNG */
	{ 0x86000000, 0x860003ff, 1 }, /* vendor hypervisor services: our own, of 32 bits */
	{ 0xc0000000, 0xc00000ff, 1 }, /* the same, of 64 bits */
	{ 0xc4000000, 0xc40003ff, 1 },
	{ 0xc6000000, 0xc60003ff, 1 },
	{ 0x00000000, 0xffffffff, 0x000fff1d }, /* a sample of the rest */
	{ 0, 0, 0 },
};

/* Those that end the sandbox or its core: cases_registers.py, cases_psci.py. */
const uint64_t calls_left_out[] = {
	0x84000002,             /* CPU_OFF */
	0x84000008,             /* SYSTEM_OFF */
	0x84000009,             /* SYSTEM_RESET */
	0x86000002,             /* PARK */
	0xc6000002, 0x86000004, /* RESTART */
	0xc6000004, SWEEP_END,
};

/* The argument of all: something that PSCI_FEATURES knows, and no core. */
#define PSCI_VERSION 0x84000000

/* PSCI NOT_SUPPORTED, BH_E_UNKNOWN. Of 32 or 64 bits. */
static bool is_unknown(uint64_t result)
{
	return (uint32_t)result == UINT32_MAX;
}

bool hvc_is_answered(uint64_t function)
{
	uint64_t result;

	return cpu_attempt(call_hvc, function, PSCI_VERSION, &result) && !is_unknown(result);
}

bool smc_is_answered(uint64_t function)
{
	uint64_t result;

	return cpu_attempt(call_smc, function, PSCI_VERSION, &result) && !is_unknown(result);
}
