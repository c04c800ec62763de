/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a channel's slots (channel.h): how they are copied, each read or written once, and the CRC of them. Programs include
 * channel_inline.h.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef unsigned long __attribute__((may_alias)) bh_shared_word;
struct bh_private_word {
	unsigned long value;
} __attribute__((packed, may_alias)); /* anywhere */

static inline bool bh_is_aligned(const void *place)
{
	return (uintptr_t)place % sizeof(bh_shared_word) == 0;
}

/* Each byte of the slot is read once. `from`: data of a slot. */
static inline void bh_copy_from_slot(void *to, const uint8_t *from, uint32_t length)
{
	enum { WORD = sizeof(bh_shared_word) };
	uint8_t *bytes = (uint8_t *)to;
	uint32_t n = 0;

	if (bh_is_aligned(to)) {
		for (; length - n >= 4 * WORD; n += 4 * WORD) {
			const bh_shared_word *words = (const bh_shared_word *)(from + n);
			const unsigned long a = __atomic_load_n(words, __ATOMIC_RELAXED), b = __atomic_load_n(words + 1, __ATOMIC_RELAXED);
			const unsigned long c = __atomic_load_n(words + 2, __ATOMIC_RELAXED),
					    d = __atomic_load_n(words + 3, __ATOMIC_RELAXED);
			bh_shared_word *copies = (bh_shared_word *)(bytes + n);

			copies[0] = a;
			copies[1] = b;
			copies[2] = c;
			copies[3] = d;
		}
	}
	for (; length - n >= WORD; n += WORD) {
		const bh_shared_word *word = (const bh_shared_word *)(from + n);

		((struct bh_private_word *)(bytes + n))->value = __atomic_load_n(word, __ATOMIC_RELAXED);
	}
	for (; n < length; n++)
		bytes[n] = __atomic_load_n(from + n, __ATOMIC_RELAXED);
}

static inline void bh_copy_to_slot(uint8_t *to, const void *from, uint32_t length)
{
	enum { WORD = sizeof(bh_shared_word) };
	const uint8_t *bytes = (const uint8_t *)from;
	uint32_t n = 0;

	if (bh_is_aligned(from)) {
		for (; length - n >= 4 * WORD; n += 4 * WORD) {
			const bh_shared_word *words = (const bh_shared_word *)(bytes + n);
			const unsigned long a = words[0], b = words[1], c = words[2], d = words[3];
			bh_shared_word *copies = (bh_shared_word *)(to + n);

			__atomic_store_n(copies, a, __ATOMIC_RELAXED);
			__atomic_store_n(copies + 1, b, __ATOMIC_RELAXED);
			__atomic_store_n(copies + 2, c, __ATOMIC_RELAXED);
			__atomic_store_n(copies + 3, d, __ATOMIC_RELAXED);
		}
	}
	for (; length - n >= WORD; n += WORD) {
		bh_shared_word *word = (bh_shared_word *)(to + n);

		__atomic_store_n(word, ((const struct bh_private_word *)(bytes + n))->value, __ATOMIC_RELAXED);
	}
	for (; n < length; n++)
		__atomic_store_n(to + n, bytes[n], __ATOMIC_RELAXED);
}

/* CRC-32C (Castagnoli, reflected 0x82f63b78) of what gave `crc` before, 0 at first, and `length` bytes more. */
static inline uint32_t bh_crc32c(uint32_t crc, const void *data, uint32_t length)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const uint8_t *bytes = (const uint8_t *)data;

	crc = ~crc;
	for (uint32_t n = 0; n < length; n++) {
		crc ^= __atomic_load_n(bytes + n, __ATOMIC_RELAXED);
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}
