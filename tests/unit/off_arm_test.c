/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F5.board. How start-up ends a machine whose firmware may not answer: arch/arm/machine_boot.c over an SMC that switches the machine
 * off, one that is refused, and one that traps, which brings the core back to start_trapped. The core sleeps in WFI in the end, and asks
 * for power-off once.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/arm/firmware.h"
#include "check.h"

void start_trapped(uintptr_t syndrome, uintptr_t pc, uintptr_t address);

static jmp_buf asleep;
static enum { REFUSED, TRAPS } firmware;
static unsigned calls, level;
static char said[512];
static size_t length;

unsigned arch_exception_level(void)
{
	return level;
}

void arch_relax(void) {}

void arch_wfi(void)
{
	longjmp(asleep, 1);
}

uint32_t arch_mmio_read32(uint64_t address)
{
	return 0;
}

uint8_t arch_mmio_read8(uint64_t address)
{
	abort();
}

void arch_mmio_write8(uint64_t address, uint8_t value)
{
	abort();
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	if (address % 0x1000 == 0 && length + 1 < sizeof(said))
		said[length++] = (char)value;
}

intptr_t firmware_call(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c)
{
	CHECK_EQ(function, PSCI_SYSTEM_OFF);
	CHECK(++calls == 1);
	if (firmware == TRAPS)
		start_trapped(0x5e000000, 0, 0); /* ARM ARM D24.2.37 "ESR_EL2": an SMC */
	return -1;
}

static unsigned lines(void)
{
	unsigned count = 0;

	for (const char *c = said; *c; c++)
		count += *c == '\n';
	return count;
}

/* Whatever start-up trapped on has one line; the SMC that ends it has none of its own. */
static void test_trapped(void)
{
	check_context.subject = "trapped";
	if (!setjmp(asleep))
		start_trapped(0x96000050, 0x40010000, 0x9000000);
	CHECK_EQ(calls, level < 3);
	CHECK_EQ(lines(), 1);
	CHECK(strstr(said, "start-up trapped") != NULL);
	CHECK(strstr(said, "5e000000") == NULL);
}

/* Start-up ends once, so each ending has a process of its own */
static void in_a_process(void (*test)(void))
{
	pid_t child = fork();
	int status = 1;

	if (!child) {
		test();
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

int main(void)
{
	for (level = 1; level <= 3; level++) {
		firmware = REFUSED;
		in_a_process(test_trapped);
		firmware = TRAPS;
		in_a_process(test_trapped);
	}
	return 0;
}
