/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What abi/ includes of C's library, as Linux has it. */
#pragma once
#include <linux/stddef.h>
#include <linux/types.h>
