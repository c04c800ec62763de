/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What abi/ includes of C's library, as Linux has it: its build searches no folder of the compiler's. */
#pragma once
#include <linux/limits.h>
#include <linux/types.h>
