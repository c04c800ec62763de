/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a guest core's registers after INIT and at its entry, as far as they do not depend on the vendor. */
#pragma once
#include <stdint.h>

/* APM vol. 2, 14.1.3 "Processor Initialization State"; SDM vol. 3A, table 10-1 "IA-32 and Intel 64 Processor States". */
enum { RFLAGS_ONE = 2, DR7_RESET = 0x400, LIMIT_RESET = 0xffff };
#define DR6_RESET UINT64_C(0xffff0ff0)
#define PAT_RESET UINT64_C(0x0007040600070406) /* APM vol. 2, 7.8.1 "PAT Register"; SDM vol. 3A, table 12-12 */

/* abi/guest.h: flat segments, a GDT of four descriptors where the entry area begins, page tables a frame above. */
enum { ENTRY_CODE = 0x10, ENTRY_DATA = 0x18, ENTRY_GDT_LIMIT = 31, ENTRY_TABLES = 0x1000 };
