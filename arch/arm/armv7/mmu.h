/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PL2 stage-1 regime while the machine starts: 32-bit addresses, blocks of 1 GiB and 2 MiB, one to one. Shared with assembly.
 * ARMv7 ARM B4.1: "HMAIRn", "HSCTLR", "HTCR".
 */
#pragma once

/* HMAIR0: Attr0 = Normal, write-back; Attr1 = Device. The private monitors' tables count alike. */
#define MMU_MAIR 0x04ff
/* RES1 (31, 23) | SH0 inner | ORGN0, IRGN0 write-back | T0SZ = 0: 32 bits */
#define MMU_TCR 0x80803500
/* RES1 bits | CP15BEN; and I | C | M. TE clear: exceptions enter in ARM state. */
#define MMU_SCTLR_OFF 0x30c50838
#define MMU_SCTLR_ON  0x30c5183d
/* Writable implies never executable: only the private tables, of small pages, can afford it. */
#define MMU_SCTLR_WXN 0x80000
