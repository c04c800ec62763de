/* SPDX-License-Identifier: Apache-2.0 */
/* Where attempts in other modes run: a page of the first MiB, beside secondary.c's. */
#pragma once

#define MODES_PAGE 0x9000
#define MODES_CODE 0x800 /* in the page: the attempt's code */

/* Of modes.S's own GDT, beside the kernel's. */
#define SELECTOR_CODE_32   0x20
#define SELECTOR_CODE_16   0x28
#define DESCRIPTOR_CODE_32 0x00cf9b000000ffff
#define DESCRIPTOR_CODE_16 0x00009b000000ffff
