/* SPDX-License-Identifier: Apache-2.0 */
/* Up to where a program of this library reaches: what the entry contract maps one to one (docs/guest.md). */
#pragma once
#define REACH_END (UINT64_C(1) << 32)
