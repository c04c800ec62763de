/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the VMCB stands what assembly names: vmcb.h checks it. */
#pragma once
#define VMCB_RAX 0x5f8
