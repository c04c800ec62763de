/* SPDX-License-Identifier: Apache-2.0 */
/* Where the compiler has none for its target. */
#pragma once

#define ENOENT  2
#define ENODEV  19
#define EINVAL  22
#define ENOTSUP 95
