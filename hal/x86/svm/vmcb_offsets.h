/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of the VMCB's fields that assembly names; vmcb.h checks them. */
#pragma once
#define VMCB_RAX 0x5f8
