/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors, as abi/guest.h enters the sandbox with, and descriptors: APM vol. 2, 4.8 "Long-Mode Segment Descriptors". */
#pragma once

#define SELECTOR_CODE   0x10
#define SELECTOR_DATA   0x18
#define SELECTOR_TSS    0x20 /* of the first core; one after the other */
#define DESCRIPTOR_CODE 0x00af9b000000ffff
#define DESCRIPTOR_DATA 0x00cf93000000ffff

#define TSS_DESCRIPTOR_BYTES 16
