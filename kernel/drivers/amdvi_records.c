/* SPDX-License-Identifier: Apache-2.0 */
/* What AMD-Vi records of a transfer that it has blocked. */
#include "kernel/drivers/amdvi_records.h"

/* AMD 48882, 2.5 "Event Logging". Two are about commands. */
enum { AMD_ILLEGAL_COMMAND = 5, AMD_COMMAND_HARDWARE = 6 };
#define AMD_WRITES (UINT64_C(1) << 53)
static bool decode_amdvi(const uint64_t *record, struct dma_fault *fault)
{
	uint32_t code = (uint32_t)(record[0] >> 60);

	if (!code || code == AMD_ILLEGAL_COMMAND || code == AMD_COMMAND_HARDWARE)
		return false;
	*fault = (struct dma_fault){ record[1], record[0] & 0xffff, code, record[0] & AMD_WRITES ? DMA_FAULT_WRITE : DMA_FAULT_READ };
	return true;
}

const struct dma_fault_form amdvi_records = { BH_FAULTS_AMDVI, 2, decode_amdvi };
