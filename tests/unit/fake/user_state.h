/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has besides its frame (kernel/core/user.h): nobody on the host looks into it. */
#pragma once
struct cpu_fp;
struct cpu_user;
