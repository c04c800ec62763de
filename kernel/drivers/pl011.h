/* SPDX-License-Identifier: Apache-2.0 */
/* PL011 UART, as a driver of uart.h. */
#pragma once
#include "kernel/core/uart.h"

extern const struct uart_driver pl011;
