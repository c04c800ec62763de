/* SPDX-License-Identifier: Apache-2.0 */
/* Up to where a program of this library reaches: addresses have 32 bits. */
#pragma once
#define REACH_END (UINT64_C(1) << 32)
