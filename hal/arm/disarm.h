/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up (BH-I3.forms): what a loader may have left writing to memory, or counting towards an interrupt, is switched off. Processors
 * here, by the registers that each architecture lists; the interrupt controller in gic/.
 */
#pragma once
#include <stdint.h>

/* A core's system registers, as far as this asks for them, by the numbers of registers.h; a test has some of its own. */
struct disarm_core {
	uint64_t (*read)(uint32_t number);
	/* The write has taken effect when this returns. */
	void (*write)(uint32_t number, uint64_t value);
};
/* The one that runs this. */
extern const struct disarm_core disarm_this_core;

/* A register that `off` switches off: what reads as `on` afterwards is still on. */
struct disarm_control {
	const char *name; /* NULL: the end */
	uint32_t number;
	uint32_t off, on;
	/* Whether there is such a register, for us to write. */
	unsigned (*exists)(const struct disarm_core *core);
};
/* In the order in which they are switched off: what writes, then where to. */
extern const struct disarm_control disarm_controls[];

/* Switches off every control that is there; touches no other. On the core itself. Returns the first that stays on, or NULL. */
const struct disarm_control *disarm(const struct disarm_core *core);

/* The refusal of hal_probe that names a register which stays on. address: 0 for one that has none. */
const char *disarm_refusal(const char *name, uint64_t address);
