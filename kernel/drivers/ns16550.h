/* SPDX-License-Identifier: Apache-2.0 */
/* 16550 UART, as a driver of uart.h. */
#pragma once
#include "kernel/core/uart.h"

extern const struct uart_driver ns16550;
