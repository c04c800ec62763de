/* SPDX-License-Identifier: Apache-2.0 */
/* RAM of the sandbox kernel's unit tests, at an address that every format can express and that is RAM's on the ARM machines, full of junk.
 */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KERNEL_RAM 0x40000000UL
enum { KERNEL_RAM_BYTES = 4 << 20 };

static inline void kernel_ram_soil(void)
{
	static void *mapped;

	if (!mapped)
		mapped = mmap((void *)KERNEL_RAM, KERNEL_RAM_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (mapped == MAP_FAILED) {
		perror("kernel RAM: mmap");
		exit(1);
	}
	memset(mapped, 0xa5, KERNEL_RAM_BYTES);
}
