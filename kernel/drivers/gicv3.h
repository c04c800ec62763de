/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "kernel/core/irq.h"

extern const struct irq_controller gicv3;
