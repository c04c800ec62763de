/* SPDX-License-Identifier: Apache-2.0 */
/* Records of DMA that the machine's IOMMU has blocked, for the sandbox that may read them (BH_GRANT_DMA_FAULTS). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/guest.h"

struct dma_fault {
	uint64_t address;  /* as the function used it: its sandbox's own; 0 where the record does not say */
	uint32_t function; /* bus << 8 | device << 3 | function */
	uint32_t code;     /* of the IOMMU's manual */
	enum { DMA_FAULT_ACCESS, DMA_FAULT_READ, DMA_FAULT_WRITE } access; /* ACCESS: the record does not say */
};

/* A form of records. The processor's drivers.c (kernel/arch) lists those of its boards; the list ends with NULL. */
struct dma_fault_form {
	enum bh_fault_form number;
	uint32_t words; /* of 64 bits, of a record */
	/* Decodes a record. Returns false, with *fault as it was, if there is none of a function. */
	bool (*decode)(const uint64_t *record, struct dma_fault *fault);
};
extern const struct dma_fault_form *const dma_fault_forms[];

/* dma-faults: says what has been recorded since it was called last. */
struct command_line;
void run_dma_faults(const struct command_line *line);
