/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payload as a boot loader brings it, one module wherever there was room, spread out to where the table wants it.
 *
 *   loaded     │a│b│  c  │d│          pieces and places are in the same order, so none has to pass another:
 *              ╱  │   ╲   ╲           those that move up go first, from the last to the first, each out of the
 *   used     │a│  │b│   │  c  │ │d│   way of the one below it; then those that move down, from the first to the last
 *
 * A piece that moves up never reaches one that moves down, nor the other way round. No other memory is needed.
 */
#include "monitor/boot/boot.h"

static void move_up(uint64_t *target, const uint64_t *source, uint64_t words)
{
	while (words--)
		target[words] = source[words];
}

static void move_down(uint64_t *target, const uint64_t *source, uint64_t words)
{
	for (uint64_t n = 0; n < words; n++)
		target[n] = source[n];
}

static uint64_t *words_at(uint64_t hpa)
{
	return (uint64_t *)(uintptr_t)hpa;
}

void module_spread(const struct bh_table *table, uint64_t module)
{
	const struct bh_copy *first = table->copies, *end = first + table->copy_count;

	for (const struct bh_copy *copy = end; copy-- > first;)
		if (copy->target > module + copy->offset)
			move_up(words_at(copy->target), words_at(module + copy->offset), copy->size / sizeof(uint64_t));
	for (const struct bh_copy *copy = first; copy < end; copy++)
		if (copy->target < module + copy->offset)
			move_down(words_at(copy->target), words_at(module + copy->offset), copy->size / sizeof(uint64_t));
	for (const struct bh_copy *copy = first; copy < end; copy++)
		arch_cache_publish(words_at(copy->target), copy->size);
}
