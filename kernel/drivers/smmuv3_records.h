/* SPDX-License-Identifier: Apache-2.0 */
/* The form of an SMMUv3's records of blocked transfers, for kernel/arch (drivers.c). */
#pragma once
#include "kernel/core/dma_faults.h"

extern const struct dma_fault_form smmuv3_records;
