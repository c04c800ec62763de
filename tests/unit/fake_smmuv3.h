/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SMMUv3 for unit tests that holds on to whatever it has seen: entries until CFGI_STE, translations until their leaf or their VMID is
 * invalidated, both until a CMD_SYNC. It can be slow, hung, or in error. Registers, words and commands are written down from Arm IHI 0070.
 *
 *   function ─ fake_smmu_dma() ─► held entry, or the table's ─► held translation, or a walk of the root ─► address, or ABORTED
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "hal/lock.h"

#define ABORTED UINT64_MAX
#define BASE    UINT64_C(0x09050000)
enum { CR0 = 0x20, CR0ACK = 0x24, CR2 = 0x2c, GBPA = 0x44, IRQ_CTRL = 0x50, IRQ_CTRLACK = 0x54, GERROR = 0x60, GERRORN = 0x64 };
enum { STRTAB = 0x80, STRTAB_CFG = 0x88, CMDQ = 0x90, PROD = 0x98, CONS = 0x9c, EVENTQ = 0xa0, PAGE_1 = 0x10000 };
enum { SMMUEN = 1, EVENTQEN = 4, CMDQEN = 8, ATSCHK = 16, IDR0_HAS_ATS = 1 << 10 };
enum { STREAMS = 256, ENTRY = 8, HELD = 8, QUEUE = 256 };

struct fake_smmu {
	uint32_t registers[PAGE_1 / 4], event_prod, event_cons;
	uint64_t held_entry[STREAMS][ENTRY];
	bool holds_entry[STREAMS];
	struct held {
		uint64_t page, address, span; /* of the leaf */
		uint32_t vmid;
		bool valid;
	} held[HELD];
	uint64_t todo[QUEUE][2]; /* commands since the last CMD_SYNC */
	unsigned given;
	unsigned slow;    /* reads of CONS until commands are carried out */
	unsigned waiting; /* of these, still to come */
	bool hung, errs;  /* carries out nothing; finds an error in whatever command is next, but in a CMD_SYNC */
	uint32_t stuck;   /* a register that keeps what it has */
	bool blocks;      /* it is off and GBPA aborts: nothing may pass from here on, until `guard` is set */
	uint32_t busy;    /* a stream that goes on while commands are carried out, */
	uint64_t busy_at; /* at this address; 0: none does */
	unsigned accesses;
	unsigned opened;  /* entries that have come to translate */
	unsigned by_leaf; /* invalidations of a leaf that were carried out */
	/* What the test supplies. */
	struct hal_lock *guard; /* to be held during accesses; NULL: start-up */
	uint64_t tables;
	uint64_t fenced[0x5000 / 8]; /* what they were at the last barrier */
};
extern struct fake_smmu fake_smmu;

/* As a loader leaves it: on, with another system's entries held, which let all pass; an error stands. `tables`: for the driver to use. */
void fake_smmu_reset(uint64_t tables);
/* Where a function's access leads. */
uint64_t fake_smmu_dma(uint32_t stream, uint64_t address);
uint32_t *fake_smmu_at(uint32_t offset);
uint64_t fake_smmu_long_at(uint32_t offset);
/* Whether an error of the command queue stands. */
bool fake_smmu_in_error(void);
