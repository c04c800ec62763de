/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F4.memory. kernel_space_test.c on ARMv7, where a compiler is told another format. kernel/core/space.c */
#undef AARCH64
#define ARMV7
#include "kernel_space_test.c"
