/* SPDX-License-Identifier: Apache-2.0 */
/* Coprocessor register accesses: the number of a register is its part of the syndrome. ARMv7 ARM B3.13.6 "Use of the HSR". */
#pragma once

#define SYSREG(op1, crn, crm, op2) ((op2) << 17 | (op1) << 14 | (crn) << 10 | (crm) << 1)
#define SYSREG_NUMBER              SYSREG(7, 15, 15, 7)
#define SYSREG_CP14                (1 << 20)
#define SYSREG_IS_READ             1
#define SYNDROME_CV                (1 << 24)
