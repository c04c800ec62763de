/* SPDX-License-Identifier: Apache-2.0 */
/* The form of AMD-Vi's records of blocked transfers, for kernel/arch (drivers.c). */
#pragma once
#include "kernel/core/dma_faults.h"

extern const struct dma_fault_form amdvi_records;
