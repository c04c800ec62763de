/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VT-d for unit tests that holds on to every entry and translation that it has seen, until a command says otherwise; reads of tables what
 * was written back; carries out commands between two waits last first, while functions go on; and can be slow, hung, or in error. Words,
 * registers and commands are written down from Intel's specification, D51397.
 *
 *   function ─ fake_vtd_dma() ─► held translation, or held entry, or the table's ─► a walk of the root ─► address, or ABORTED
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "hal/lock.h"

#define ABORTED   UINT64_MAX
#define REGISTERS UINT64_C(0xfed90000)
#define GUEST     UINT64_C(0x40000000) /* where a busy function goes on */
enum { VTD_FRAMES = 400, VTD_ENTRIES = 32768 };

/* What the machine has, and what the IOMMU holds on to. */
struct fake_vtd {
	uint64_t capability, extended;
	uint32_t status, faults, protected;
	uint64_t root, interrupts, queue;    /* addresses, as the registers have them, ... */
	uint64_t live_root, live_interrupts; /* and as they count */
	uint64_t head, tail;
	uint64_t held[256][2]; /* entries that are present */
	struct translation {
		uint64_t page, to;
		uint32_t domain;
	} translations[256];
	uint64_t held_interrupts[VTD_ENTRIES][2];
	unsigned slow; /* turns of a wait until commands are carried out */
	unsigned waiting, turns;
	bool hung;
	unsigned until_hung;  /* commands; 0: it goes on */
	unsigned unmasked;    /* interrupts of its own, of faults and of the queue: bits 0 and 1 */
	uint32_t records;     /* of two, those that hold something */
	uint32_t stuck;       /* bits of the status that do not come */
	bool keeps_protected; /* memory from all functions, whatever is written */
	uint32_t busy;        /* a stream that goes on while commands are carried out; 0: none */
	uint32_t batch[300];
	unsigned count;
	uint64_t start, memory[VTD_FRAMES * 512]; /* as it has been written back */
	struct hal_lock *guard;                   /* to be held during accesses; NULL: start-up */
};
extern struct fake_vtd fake_vtd;

uint64_t *word_at(uint64_t address);
/* Hooks of fake_arch. */
void fake_vtd_flush(const void *at);
void fake_vtd_relax(void);
/* Where a write of a function leads. */
uint64_t fake_vtd_dma(uint32_t stream, uint64_t address);
/* What an index of interrupts becomes: destination << 16 | level << 15 | vector, or 0. */
uint32_t fake_vtd_interrupt(uint32_t index, uint32_t source);
/* What a message of a function becomes: as above, or its data where nothing is remapped. */
uint32_t fake_vtd_message(uint32_t stream, uint32_t address, uint32_t data);
/* Reads on, if it was hung. */
void fake_vtd_go_on(void);
