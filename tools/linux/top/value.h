/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a native sandbox says of itself (telemetry.h), read by somebody who believes nothing of it. Whatever its bytes are, a value that is
 * taken can be shown: counts are within their arrays, names end, and have nothing that a terminal would obey. Its numbers may be any.
 */
#ifndef BULKHEAD_TOP_VALUE_H
#define BULKHEAD_TOP_VALUE_H
#include <stddef.h>

#include "telemetry.h"

/* Takes the value of `length` bytes. Returns NULL, or why it is none; then `*value` is as it was. */
const char *value_take(struct bh_telemetry *value, const void *bytes, size_t length);

/* Whether `now` was said after `before`, in the same life, so that counts can be compared. Returns after how many seconds; 0: no. */
double value_seconds(const struct bh_telemetry *now, const struct bh_telemetry *before);

/* How much a count grew in each of so many seconds; negative if nobody knows: it went back, or there are no seconds. */
double value_rate(uint64_t now, uint64_t before, double seconds);

#endif
