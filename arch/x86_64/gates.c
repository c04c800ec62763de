/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt descriptor table's place: resident, so that each private monitor has its own. gates_boot.c fills it. */
#include "gates.h"

struct x86_gate x86_idt[X86_GATES];
