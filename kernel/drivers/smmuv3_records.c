/* SPDX-License-Identifier: Apache-2.0 */
/* What an SMMUv3 records of a transfer that it has blocked. */
#include "kernel/drivers/smmuv3_records.h"

/* Arm IHI 0070, 7.3 "Event records": which have an address, and RnW. */
#define ARM_ADDRESSES (UINT64_C(1) << 0x07 | 1 << 0x0b | 1 << 0x10 | 1 << 0x11 | 1 << 0x12 | 1 << 0x13 | UINT64_C(1) << 0x20)
#define ARM_READS     (UINT64_C(1) << 35)
static bool decode_smmuv3(const uint64_t *record, struct dma_fault *fault)
{
	uint32_t code = record[0] & 0xff;

	if (!code)
		return false;
	*fault = (struct dma_fault){ .function = (uint32_t)(record[0] >> 32), .code = code };
	if (code < 64 && ARM_ADDRESSES >> code & 1) {
		fault->address = record[2];
		fault->access = record[1] & ARM_READS ? DMA_FAULT_READ : DMA_FAULT_WRITE;
	}
	return true;
}

const struct dma_fault_form smmuv3_records = { BH_FAULTS_SMMUV3, 4, decode_smmuv3 };
