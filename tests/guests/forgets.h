/* SPDX-License-Identifier: Apache-2.0 */
/* Between the parts of the guest that looks for what its earlier life left: forgets.c, and a processor's forgets.S and forgets_cpu.h. */
#pragma once
#include <stdint.h>

#include "abi/guest.h"

/* Aligned, and below 4 GiB, so that a register that holds an address takes it, too. */
#define LEFT 0x5ec2e0u

typedef uintptr_t forgets_word; /* a general register */

struct row {
	const char *name;
	uint64_t (*read)(void);
	void (*write)(uint64_t value);
	uint64_t left;    /* what to write: harmless to the instructions that follow */
	const char *with; /* only where this interrupt controller is granted; NULL: everywhere */
};

/* A row of a register that `read_`name reads and `write_`name writes. */
#define ROW(name, left) { #name, read_##name, write_##name, left, NULL },

/* forgets.S: keeps the general registers and jumps to forgets_main. */
_Noreturn void _start(void);
/* forgets.S: LEFT in every general register, then a fault. */
_Noreturn void forgets_crash(void);

_Noreturn void forgets_main(const struct bh_info *info);

/* The first grant of this kind and name, any name if "", or NULL. */
const struct bh_grant *forgets_grant(const struct bh_info *info, enum bh_grant_kind kind, const char *name);
