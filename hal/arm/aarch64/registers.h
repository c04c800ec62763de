/* SPDX-License-Identifier: Apache-2.0 */
/* System register accesses: the number of a register is its part of the syndrome. ARM ARM D24.2.37 "ESR_EL1", ISS of MSR and MRS. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define SYSREG(op0, op1, crn, crm, op2) ((op0) << 20 | (op2) << 17 | (op1) << 14 | (crn) << 10 | (crm) << 1)
#define SYSREG_NUMBER                   SYSREG(3, 7, 15, 15, 7)
#define SYSREG_IS_READ                  1
#define SYSREG_ICC_PMR                  SYSREG(3, 0, 4, 6, 0)
#define SYSREG_ICC_RPR                  SYSREG(3, 0, 12, 11, 3)
#define SYSREG_ICC_SGI1R                SYSREG(3, 0, 12, 11, 5)
#define SYSREG_ICC_CTLR                 SYSREG(3, 0, 12, 12, 4)
#define SYSREG_ICC_SRE                  SYSREG(3, 0, 12, 12, 5)

/* True for the registers that send SGIs. */
bool register_is_ipi(uint64_t number);
