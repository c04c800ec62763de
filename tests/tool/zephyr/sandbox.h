/* SPDX-License-Identifier: Apache-2.0 */
/* In place of what `bulkhead overlay --for c` writes. */
#pragma once
#define BH_INFO 0x40001000
