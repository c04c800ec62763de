/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors, as abi/guest.h enters the sandbox with, and descriptors: APM vol. 2, 4.8 "Long-Mode Segment Descriptors". */
#pragma once

#define SELECTOR_CODE        0x10
#define SELECTOR_DATA        0x18
#define SELECTOR_USER_DATA   0x20 /* as SYSCALL and SYSRET want them: user.c */
#define SELECTOR_USER_CODE   0x28
#define SELECTOR_TSS         0x30 /* of the first core; one after the other */
#define DESCRIPTOR_CODE      0x00af9b000000ffff
#define DESCRIPTOR_DATA      0x00cf93000000ffff
#define DESCRIPTOR_USER_CODE 0x00affb000000ffff
#define DESCRIPTOR_USER_DATA 0x00cff3000000ffff

#define TSS_DESCRIPTOR_BYTES 16

#define EMERGENCY_STACK_BYTES 4096

#define BOOT_MAPPED 0x40000000 /* bytes that start-up's tables map, one to one: start.S */

/* In a TSS: the stack for what comes from ring 3, and that of ring 2, which nobody has. APM vol. 2, 12.2.5 "64-Bit TSS". */
#define TSS_RSP0 4
#define TSS_RSP2 20
