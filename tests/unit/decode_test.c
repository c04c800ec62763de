/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I8.bounded. What bytes mean. Expected values were written from SDM vol. 2A, tables 2-2, 2-3 and chapter 4 "MOV", not from the decoder;
 * an assembler made none of them.
 */
#include <string.h>

#include "check.h"
#include "hal/x86/decode.h"

enum { W = 1, H = X86_TARGET_HIGH, C = X86_TARGET_CONSTANT };

static const struct {
	const char *what;
	const char *bytes; /* hexadecimal digits */
	bool is64;
	uint8_t width, form, target; /* width 0: refused */
	uint64_t value;
} rows[] = {
	{ "mov %eax, (%rdi)", "8907", true, 4, W, 0, 0 },
	{ "mov (%rdi), %eax", "8b07", true, 4, 0, 0, 0 },
	{ "mov %eax, (%edi), 32-bit code", "8907", false, 4, W, 0, 0 },
	{ "mov %ax, (%rdi)", "668907", true, 2, W, 0, 0 },
	{ "mov %rax, (%rdi)", "488907", true, 8, W, 0, 0 },
	{ "66 does not outweigh REX.W", "66488907", true, 8, W, 0, 0 },
	{ "mov %al, (%rdi)", "8807", true, 1, W, 0, 0 },
	{ "mov %ah, (%rdi)", "8827", true, 1, W, 0 | H, 0 },
	{ "mov %bh, (%rdi)", "883f", true, 1, W, 3 | H, 0 },
	{ "mov %spl, (%rdi)", "408827", true, 1, W, 4, 0 },
	{ "mov %r12b, (%rdi)", "448827", true, 1, W, 12, 0 },
	{ "mov (%rdi), %r15d", "448b3f", true, 4, 0, 15, 0 },
	{ "mov (%r15), %r15", "4d8b3f", true, 8, 0, 15, 0 },
	{ "mov %esp, (%rdi)", "8927", true, 4, W, 4, 0 },
	{ "mov (%rdi), %ah", "8a27", true, 1, 0, 0 | H, 0 },
	{ "one byte of displacement", "894710", true, 4, W, 0, 0 },
	{ "four bytes of displacement", "898710000000", true, 4, W, 0, 0 },
	{ "relative to RIP", "890510000000", true, 4, W, 0, 0 },
	{ "absolute, 32-bit code", "8905000000fe", false, 4, W, 0, 0 },
	{ "base and index", "89043e", true, 4, W, 0, 0 },
	{ "base, index and displacement", "89443e10", true, 4, W, 0, 0 },
	{ "base, index and large displacement", "89843e10000000", true, 4, W, 0, 0 },
	{ "no base", "89042500000000", true, 4, W, 0, 0 },
	{ "no base, but one byte: RBP", "89442500", true, 4, W, 0, 0 },
	{ "movl $imm, (%rdi)", "c70778563412", true, 4, W, C, 0x12345678 },
	{ "movl $imm, 16(%rdi)", "c7471078563412", true, 4, W, C, 0x12345678 },
	{ "movw $imm, (%rdi)", "66c7073412", true, 2, W, C, 0x1234 },
	{ "movb $imm, (%rdi)", "c60781", true, 1, W, C, 0x81 },
	{ "movq $imm, (%rdi), with its sign", "48c707feffffff", true, 8, W, C, 0xfffffffffffffffe },
	{ "mov %eax, moffs64", "a30000c0fe00000000", true, 0, W, 0, 0 },
	{ "mov moffs64, %rax", "48a10000c0fe00000000", true, 0, 0, 0, 0 },
	{ "mov moffs32 by prefix", "67a10000c0fe", true, 0, W, 0, 0 },
	{ "mov moffs32, %al, 32-bit code", "a00000c0fe", false, 0, W, 0, 0 },
	{ "segments", "64658907", true, 4, W, 0, 0 },
	{ "segment, 32-bit code", "268907", false, 4, W, 0, 0 },
	{ "addresses of another size", "678907", true, 0, W, 0, 0 },
	{ "fifteen bytes", "656565656565656548c707feffffff", true, 8, W, C, 0xfffffffffffffffe },

	{ "sixteen bytes", "65656565656565656548c707feffffff", true, 0, 0, 0, 0 },
	{ "nothing but prefixes", "656565656565656565656565656565", true, 0, 0, 0, 0 },
	{ "between registers", "89c7", true, 0, 0, 0, 0 },
	{ "into RSP", "8b27", true, 0, 0, 0, 0 },
	{ "16-bit addresses", "678907", false, 0, 0, 0, 0 },
	{ "REX is INC in 32-bit code", "488907", false, 0, 0, 0, 0 },
	{ "REX before another prefix counts for nothing", "48668907", true, 0, 0, 0, 0 },
	{ "LOCK", "f08907", true, 0, 0, 0, 0 },
	{ "XRELEASE", "f38907", true, 0, 0, 0, 0 },
	{ "add %eax, (%rdi)", "0107", true, 0, 0, 0, 0 },
	{ "xchg %eax, (%rdi)", "8707", true, 0, 0, 0, 0 },
	{ "test %eax, (%rdi)", "8507", true, 0, 0, 0, 0 },
	{ "mov %ds, (%rdi)", "8c1f", true, 0, 0, 0, 0 },
	{ "lea", "8d07", true, 0, 0, 0, 0 },
	{ "pop (%rdi)", "8f07", true, 0, 0, 0, 0 },
	{ "movs", "a5", true, 0, 0, 0, 0 },
	{ "stos", "ab", true, 0, 0, 0, 0 },
	{ "rep movs", "f3a5", true, 0, 0, 0, 0 },
	{ "push (%rdi)", "ff37", true, 0, 0, 0, 0 },
	{ "C7 /1", "c70f78563412", true, 0, 0, 0, 0 },
	{ "XBEGIN", "c7f800000000", true, 0, 0, 0, 0 },
	{ "LES or VEX", "c407", false, 0, 0, 0, 0 },
	{ "mov $imm, %eax", "b878563412", true, 0, 0, 0, 0 },
	{ "movzx", "0fb607", true, 0, 0, 0, 0 },
	{ "movups", "0f1107", true, 0, 0, 0, 0 },
	{ "cmpxchg", "0fb107", true, 0, 0, 0, 0 },
	{ "movnti", "0fc307", true, 0, 0, 0, 0 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

/* After bytes of a prefix that are not the instruction's. */
static struct x86_code code_of(unsigned row, unsigned bytes, uint8_t first)
{
	struct x86_code code = { .is64 = rows[row].is64, .first = first };

	memset(code.bytes, 0x66, first);
	for (unsigned n = 0; n < bytes && n < X86_CODE_MAX; n++)
		code.bytes[first + code.count++] = (uint8_t)(digit(rows[row].bytes[2 * n]) << 4 | digit(rows[row].bytes[2 * n + 1]));
	return code;
}

static enum bh_access access_of(unsigned row)
{
	return rows[row].form & W ? BH_ACCESS_WRITE : BH_ACCESS_READ;
}

static void test_rows(uint8_t first)
{
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned bytes = (unsigned)strlen(rows[row].bytes) / 2;
		struct x86_code code = code_of(row, bytes, first);
		struct x86_mov mov = { 0 };

		check_context.subject = rows[row].what;
		check_context.round = first;
		CHECK(!x86_decode_mov(&code, access_of(row) ^ BH_ACCESS_READ ^ BH_ACCESS_WRITE, &mov)); /* the other direction */
		mov.value = 0;
		CHECK_EQ(x86_decode_mov(&code, access_of(row), &mov), rows[row].width != 0);
		if (!rows[row].width)
			continue;
		CHECK_EQ(mov.length, bytes);
		CHECK_EQ(mov.width, rows[row].width);
		CHECK_EQ(mov.target, rows[row].target);
		CHECK_EQ(mov.value & UINT64_MAX >> (64 - 8 * mov.width), rows[row].value);
	}
}

/* A page that could not be fetched: what is there must be the whole. Bytes after it change nothing. */
static void test_cut(uint8_t first)
{
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned bytes = (unsigned)strlen(rows[row].bytes) / 2;
		struct x86_code longer = code_of(row, bytes, first);
		struct x86_mov mov, same;

		if (!rows[row].width)
			continue;
		check_context.subject = rows[row].what;
		check_context.round = first;
		CHECK(x86_decode_mov(&longer, access_of(row), &mov));
		memset(longer.bytes + first + longer.count, 0xff, sizeof(longer.bytes) - first - longer.count);
		longer.count = X86_CODE_MAX;
		CHECK(x86_decode_mov(&longer, access_of(row), &same));
		CHECK_EQ(same.length, mov.length);
		CHECK_EQ(same.target, mov.target);
		CHECK_EQ(same.width, mov.width);
		for (unsigned cut = 0; cut < bytes; cut++) {
			struct x86_code code = code_of(row, cut, first);

			CHECK(!x86_decode_mov(&code, access_of(row), &mov));
		}
	}
}

int main(void)
{
	for (uint8_t first = 0; first < 8; first++) {
		test_rows(first);
		test_cut(first);
	}
	return 0;
}
