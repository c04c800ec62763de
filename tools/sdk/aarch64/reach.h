/* SPDX-License-Identifier: Apache-2.0 */
/* Up to where a program of this library reaches: 39 bits, as memory.c sets T0SZ. */
#pragma once
#define REACH_END (UINT64_C(1) << 39)
