/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to the firmware below. Start-up only. */
#pragma once
#include <stdint.h>

/* SMC calling convention (DEN 0028) 2.5 "Function identifiers": a function that takes addresses has two, by their width. */
#define SMCCC_64 (sizeof(uintptr_t) == 8 ? 0x40000000u : 0)

/* PSCI (DEN 0022) 5.1 "Function prototypes". */
#define PSCI_CPU_ON     (0x84000003u | SMCCC_64)
#define PSCI_SYSTEM_OFF 0x84000008u

/*
 * Makes a fast call of the SMC calling convention by SMC, or by HVC where this code runs at EL1 (PL1) above somebody else's
 * hypervisor. Returns the first result, or -1 (NOT_SUPPORTED).
 */
intptr_t firmware_call(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c);
