/* SPDX-License-Identifier: Apache-2.0 */
/* Indices into MAIR, which memory_hw.c sets and space_format.c names. */
#pragma once

enum { MAIR_DEVICE, MAIR_NORMAL };
