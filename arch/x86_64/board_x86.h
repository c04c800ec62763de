/* SPDX-License-Identifier: Apache-2.0 */
/* What a PC board is, beyond what the processor tells about itself. platforms/<name>/board.h holds one const instance. */
#pragma once
#include <stdint.h>

struct x86_board {
	uint16_t console_port;  /* 16550 UART that start-up may write to */
	uint16_t exit_port;     /* 32-bit write ends an emulator with status 2n+1; 0: none */
	uint16_t pm_timer_port; /* ACPI power-management timer, PM_TMR_BLK */
	uint64_t ioapic;        /* HPA */
	uint64_t trampoline;    /* free page below 1 MiB for starting cores */
};
