/* SPDX-License-Identifier: Apache-2.0 */
/* HCR_EL2 and HCR have these bits in common. ARM ARM D24.2 "HCR_EL2"; ARMv7 ARM B4.1.65 "HCR". */
#pragma once

enum {
	HCR_VM = 1 << 0,     /* stage 2 on */
	HCR_SWIO = 1 << 1,   /* set/way invalidation cleans too */
	HCR_FMO = 1 << 3,    /* FIQ to the monitor */
	HCR_AMO = 1 << 5,    /* SError to the monitor */
	HCR_TWI = 1 << 13,   /* trap WFI */
	HCR_TID3 = 1 << 18,  /* trap identification registers, group 3 */
	HCR_TSC = 1 << 19,   /* trap SMC */
	HCR_TIDCP = 1 << 20, /* trap implementation-defined registers */
	HCR_TAC = 1 << 21,   /* trap ACTLR */
};
