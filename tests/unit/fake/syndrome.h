/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that describe an exit, for hal/arm/decode.h, as a test has them. */
#pragma once
#include "hal/arm/stage2.h"

/* AArch64: ARM ARM D24.2.37 "ESR_EL1", EC. */
enum { CLASS_HYPERCALL = 0x16, CLASS_REGISTER = 0x18, CLASS_DATA_ABORT = 0x24 };
#define SYNDROME_CLASSES_DENIED UINT64_C(0)

uint32_t guest_function(const struct hal_core *core);
uint64_t syndrome_read(void);
uint64_t syndrome_return_address(void);
uint64_t syndrome_address(enum bh_access access);
uint64_t syndrome_page(void);
bool guest_is_served(const struct hal_core *core);
uint64_t guest_translate(const struct hal_core *core, uint64_t gva);
