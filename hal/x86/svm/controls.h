/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the intercepts of a guest core. A pure function. */
#pragma once
#include "hal/x86/svm/vmcb.h"

void svm_set_intercepts(struct vmcb_control *control, unsigned unprotected);
