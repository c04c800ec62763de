/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "kernel/core/uart.h"

extern const struct uart_driver pl011;
