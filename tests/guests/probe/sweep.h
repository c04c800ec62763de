/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps: every number of a space that a machine may answer to, registers, ports or calls, tried one after the other. What was
 * granted is printed as ranges, for a test to compare with docs/registers-*.md:
 *
 *   sweep rdmsr 0x174-0x176
 *   sweep rdmsr: 78 of 25856
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sweep_range {
	uint64_t first, last, step;
};

struct sweep {
	const char *kind;
	const struct sweep_range *ranges; /* ended by a step of 0 */
	const uint64_t *left_out;         /* ended by SWEEP_END; the reason stands beside each */
	bool (*granted)(uint64_t number); /* tries one */
};
#define SWEEP_END UINT64_MAX

/* <arch>/sweeps.c; ended by a NULL kind. */
extern const struct sweep arch_sweeps[];

/* Runs one sweep. Returns false if there is none of this kind. */
bool sweep_run(const char *kind);
