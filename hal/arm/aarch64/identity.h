/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: which identification registers a guest may see. A pure function of what the core says. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* op0 3, op1 0, CRn 0, CRm 1..7, op2 0..7: group 3 of HCR_EL2.TID3. */
enum { IDENTITY_REGISTERS = 56 };

/* Masks what a guest is not to see. Returns whether the core has something that a guest must not rely on, so that reads have to trap. */
bool identity_hide(uint64_t registers[IDENTITY_REGISTERS]);
