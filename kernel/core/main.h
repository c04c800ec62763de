/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's first function in C, which arch/<arch>/start.S calls. */
#pragma once
#include "abi/guest.h"

/* Entered once from start.S; given == NULL: no monitor below. */
_Noreturn void kernel_main(const struct bh_info *given);
