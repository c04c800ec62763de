/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of dma-storm.elf: a hostile neighbour to try a partition with. Its network card (i82574.h) reads and writes at random
 * addresses that are not its own memory, without end, while its heart beats; what it did stands on its console.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/clock.h"
#include "kernel/core/command.h"
#include "kernel/core/console.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/timer.h"
#include "kernel/drivers/i82574.h"

enum { REPORT_ATTEMPTS = 1000, BUFFER_BYTES = 2048, LEAST_US = 100 };
#define REACH 0xffffffc0ull         /* of addresses: 4 GiB, on every machine with all of its memory */
#define MARK  0x6d726f7473616d64ull /* "dmastorm" */
/*
 * Where a PC's messages go, SDM vol. 3A, 11.11.1 "Message Address Register Format": QEMU's VT-d lets what a function writes there interrupt
 * whom it names, so the mark would sooner or later be an INIT for everybody. `attack --dma` counts these as open in the emulator.
 */
enum { MESSAGES = 0xfee, MESSAGES_SHIFT = 20 };

static _Alignas(BUFFER_BYTES) uint64_t frame[BUFFER_BYTES / sizeof(uint64_t)], buffer[BUFFER_BYTES / sizeof(uint64_t)];

/* Marsaglia, "Xorshift RNGs", 2003. The same addresses each time. */
static uint64_t next_random(void)
{
	static uint64_t state = MARK;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool is_own(uint64_t address)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		const struct bh_grant *grant = &info->grants[n];

		if (grant->kind == BH_GRANT_RAM && address + BUFFER_BYTES > grant->gpa && address < grant->gpa + grant->size)
			return true;
	}
	return false;
}

static uint64_t foreign_address(void)
{
	uint64_t address;

	do
		address = next_random() & REACH;
	while (is_own(address) || address >> MESSAGES_SHIFT == MESSAGES);
	return address;
}

static void write_once(const char *card)
{
	for (unsigned n = 0; n < I82574_FRAME_BYTES / sizeof(uint64_t); n++)
		frame[n] = MARK;
	(void)i82574_copy(card, info_dma_address(frame), foreign_address());
}

/* Returns whether something came: a read that is stopped gives zeros, or nothing. */
static bool read_once(const char *card)
{
	buffer[0] = 0;
	(void)i82574_copy(card, foreign_address(), info_dma_address(buffer));
	return __atomic_load_n(&buffer[0], __ATOMIC_ACQUIRE) != 0;
}

static _Atomic bool due;

static void note_due(struct timer_event *event, struct cpu_frame *frame_of_interrupt)
{
	atomic_store_explicit(&due, true, memory_order_relaxed);
}

static bool is_due(void)
{
	return atomic_load_explicit(&due, memory_order_relaxed);
}

static void rest(uint64_t us)
{
	static struct timer_event event = { .fire = note_due };

	atomic_store_explicit(&due, false, memory_order_relaxed);
	timer_add(&event, arch_counter() + clock_from_ns(us * 1000));
	idle_until(is_due);
}

/* dma-storm=US: one attempt after so many microseconds of sleep. Does not return if there is a card. */
static void run_dma_storm(const struct command_line *line)
{
	const uint64_t us = line->operand[0] < LEAST_US ? LEAST_US : line->operand[0];
	const struct bh_grant *function = info_find(BH_GRANT_PCI_FUNCTION, NULL);
	const char *card = function ? (const char *)function->name : "";
	uint64_t came = 0;

	if (!info_find(BH_GRANT_DEVICE, card)) {
		console_say("dma-storm: no network card was granted");
		return;
	}
	for (uint64_t attempts = 1;; attempts++) {
		if (attempts % 2)
			write_once(card);
		else
			came += read_once(card);
		if (attempts % REPORT_ATTEMPTS == 0)
			console_report("%ju attempts by DMA, %ju read something", attempts, came);
		rest(us);
	}
}

const struct command program_commands[] = {
	{ "dma-storm", 1, run_dma_storm },
	{ NULL, 0, NULL },
};

bool command_run_other(const char *name, const struct command_line *line)
{
	return false;
}
