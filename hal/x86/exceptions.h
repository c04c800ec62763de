/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: which exceptions of a guest exit to its monitor. */
#pragma once
#include <stdint.h>

#include "abi/table.h"
#include "arch/x86_64/x86.h"

/* #DB and #AC, whose delivery can go on for ever, and #MC; none without abort protection. `unprotected`: enum bh_protection. */
static inline uint32_t x86_exceptions(unsigned unprotected)
{
	return unprotected & BH_PROTECT_ABORT ? 0 : 1u << VECTOR_DB | 1u << VECTOR_AC | 1u << VECTOR_MC;
}
