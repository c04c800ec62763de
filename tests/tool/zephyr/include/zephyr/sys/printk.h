/* SPDX-License-Identifier: Apache-2.0 */
/* As kernel.h, a folder above. */
#pragma once

__attribute__((format(printf, 1, 2))) void printk(const char *fmt, ...);
