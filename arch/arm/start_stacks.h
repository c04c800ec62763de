/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's stacks, in C and in assembly: the boot core's, then one for each other core, until it enters its private monitor. */
#pragma once

#define START_CORES       32 /* BH_MAX_CORES */
#define BOOT_STACK_BYTES  8192
#define OTHER_STACK_BYTES 2048
