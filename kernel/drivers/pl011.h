/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "kernel/uart.h"

extern const struct uart_driver pl011;
