/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slow and simple scheduler, tick by tick, by the rules as they are published: it is told what a simulated core was told, and must run
 * the same VCPU in each tick.
 */
#pragma once
#include "sched_sim.h"

void model_check(const struct sim_core *core);
