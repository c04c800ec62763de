/* SPDX-License-Identifier: Apache-2.0 */
/* GICv2, as an interrupt controller of irq.h. */
#pragma once
#include "kernel/core/irq.h"

extern const struct irq_controller gicv2;
