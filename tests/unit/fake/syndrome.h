/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that describe an exit, for hal/arm/decode.h, as a test has them. */
#pragma once
#include "hal/arm/stage2.h"

uint64_t syndrome_address(enum bh_access access);
uint64_t syndrome_page(void);
bool guest_is_served(const struct hal_core *core);
uint64_t guest_translate(const struct hal_core *core, uint64_t gva);
