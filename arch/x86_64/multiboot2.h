/* SPDX-License-Identifier: Apache-2.0 */
/* What a Multiboot2 loader leaves in memory. "Multiboot2 Specification version 2.0", 3.6 "Boot information format". */
#pragma once
#include "arch/arch.h"

enum { MULTIBOOT2_BOOTLOADER_MAGIC = 0x36d76289 }; /* in EAX at entry; EBX = boot information. 3.3 "I386 machine state" */

/* The modules that the boot information at `info` lists. Pure; stops at the first tag that makes no sense. */
struct arch_modules multiboot2_modules(const void *info);
