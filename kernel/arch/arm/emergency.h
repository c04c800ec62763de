/* SPDX-License-Identifier: Apache-2.0 */
/* Each core's emergency stack (kernel/core/cpu.h), read from C and assembly. */
#pragma once

#define EMERGENCY_STACK_SHIFT 12

#ifndef __ASSEMBLER__
#include <stdint.h>

#include "abi/guest.h"

extern uint8_t emergency_stacks[BH_MAX_SANDBOX_CORES][1 << EMERGENCY_STACK_SHIFT];
#endif
