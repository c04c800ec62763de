/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I8.bounded. Any bytes as code. What is taken for a MOV has a length that was fetched, an opcode of one, and a width that a register
 * has.
 */
#include <string.h>

#include "check.h"
#include "hal/x86/decode.h"

static bool is_prefix(uint8_t byte, bool is64)
{
	return memchr("\x26\x2e\x36\x3e\x64\x65\x66", byte, 7) || (is64 && byte >> 4 == 4);
}

static bool is_mov(const uint8_t *at)
{
	return (at[0] >= 0x88 && at[0] <= 0x8b) || (at[0] >> 1 == 0x63 && !(at[1] & 0x38));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct x86_code code = { .is64 = size & 1, .count = (uint8_t)(size < X86_CODE_MAX ? size : X86_CODE_MAX), .first = size / 4 % 8 };
	enum bh_access access = size & 2 ? BH_ACCESS_WRITE : BH_ACCESS_READ;
	const uint8_t *start = code.bytes + code.first, *at = start;
	struct x86_mov mov;

	check_context.subject = "decoded";
	for (size_t n = 0; n < size && code.first + n < sizeof(code.words); n++) /* whole words: more than counts */
		code.bytes[code.first + n] = data[n];
	if (!x86_decode_mov(&code, access, &mov))
		return 0;
	while (is_prefix(*at, code.is64))
		at++;
	CHECK(is_mov(at));
	CHECK(mov.length > at - start && mov.length <= code.count);
	CHECK(mov.width == 1 || mov.width == 2 || mov.width == 4 || mov.width == 8);
	CHECK(mov.width < 8 || code.is64);
	CHECK(mov.target == X86_TARGET_CONSTANT || (mov.target & ~(uint32_t)X86_TARGET_HIGH) < (code.is64 ? 16 : 8));
	CHECK((mov.target == X86_TARGET_CONSTANT) == (at[0] >> 1 == 0x63));
	CHECK((access == BH_ACCESS_READ) == ((at[0] & ~1) == 0x8a));
	return 0;
}
