/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to the firmware below. Start-up only. */
#pragma once
#include <stdint.h>

/* PSCI (DEN 0022) 5.1 "Function prototypes", SMC64 where one exists. */
enum psci_function {
	PSCI_VERSION = 0x84000000,
	PSCI_CPU_ON = 0xc4000003,
	PSCI_SYSTEM_OFF = 0x84000008,
};

/*
 * SMC calling convention, SMC64 fast call, by SMC; by HVC when this code runs at EL1 because somebody else's EL2 is
 * below. The first result, or -1 (NOT_SUPPORTED).
 */
int64_t firmware_call(uint64_t function, uint64_t a, uint64_t b, uint64_t c);
