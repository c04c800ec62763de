/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The EL2 stage-1 regime while the machine starts: 39-bit addresses, blocks of 1 GiB and 2 MiB, one to one. Shared with assembly.
 * ARM ARM D24.2: "MAIR_EL2", "SCTLR_EL2", "TCR_EL2".
 */
#pragma once

/* Attr0 = Normal, write-back; Attr1 = Device-nGnRE. The private monitors' tables count alike. */
#define MMU_MAIR 0x04ff
/* RES1 (31, 23) | PS = 40 bits | TG0 = 4 KiB | SH0 inner | ORGN0, IRGN0 write-back | T0SZ = 64 - 39 */
#define MMU_TCR 0x80823519
/* RES1 bits | I | SA | C | M */
#define MMU_SCTLR_OFF 0x30c50830
#define MMU_SCTLR_ON  0x30c5183d
/* Writable implies never executable: only the private tables, of small pages, can afford it. */
#define MMU_SCTLR_WXN 0x80000
