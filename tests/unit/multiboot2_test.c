/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I7.boot, BH-F2.loaders. Boot information word by word, from the specification's figures ("Multiboot2 Specification version 2.0", 3.6);
 * and cut or bent. */
#include "arch/x86_64/multiboot2.h"
#include "check.h"

enum { END = 0, COMMAND_LINE = 1, MODULE = 3 };

/* As boot information is: 8-byte aligned. */
static _Alignas(8) uint32_t info[16384 + 8];

static struct arch_modules parse(void)
{
	return multiboot2_modules(info);
}

static void put(unsigned at, const uint32_t *words, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		info[at + n] = words[n];
}
#define PUT(at, ...) put((at), (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void check_modules(uint32_t count, uint64_t start, uint64_t bytes)
{
	struct arch_modules found = parse();

	check_context.round++;
	CHECK_EQ(found.count, count);
	CHECK_EQ(found.start, start);
	CHECK_EQ(found.bytes, bytes);
}

int main(void)
{
	check_context.subject = "boot information";

	/* none */
	PUT(0, 16, 0, END, 8);
	check_modules(0, 0, 0);
	/* one, after a command line of 3 bytes that is padded to 8 */
	PUT(0, 56, 0, COMMAND_LINE, 11, 0x6261, 0, MODULE, 20, 0x200000, 0x203000, 0, 0, END, 8);
	check_modules(1, 0x200000, 0x3000);
	/* two: the last one counts */
	PUT(0, 56, 0, MODULE, 17, 0x200000, 0x203000, 0, 0, MODULE, 17, 0x400000, 0x400001, 0, 0, END, 8);
	check_modules(2, 0x400000, 1);
	/* what stands after the end is not looked at */
	PUT(0, 48, 0, END, 8, MODULE, 17, 0x400000, 0x400001, 0, 0, END, 8);
	check_modules(0, 0, 0);
	/* nor what stands after the size */
	PUT(0, 8, 0, MODULE, 17, 0x200000, 0x203000, 0, 0, END, 8);
	check_modules(0, 0, 0);
	PUT(0, 23, 0, MODULE, 16, 0x200000, 0x203000, 0, 0, END, 8);
	check_modules(0, 0, 0);
	/* a tag without end, a tag too small to be one, a module without a place */
	PUT(0, 40, 0, COMMAND_LINE, 0, MODULE, 16, 0x200000, 0x203000, 0, 0);
	check_modules(0, 0, 0);
	PUT(0, 40, 0, COMMAND_LINE, 4, MODULE, 16, 0x200000, 0x203000, 0, 0);
	check_modules(0, 0, 0);
	PUT(0, 40, 0, COMMAND_LINE, 0xfffffff8, MODULE, 16, 0x200000, 0x203000, 0, 0);
	check_modules(0, 0, 0);
	PUT(0, 40, 0, MODULE, 12, 0x200000, 0x203000, END, 8);
	check_modules(0, 0, 0);
	/* no size at all, and one that no loader needs */
	PUT(0, 0, 0, MODULE, 16, 0x200000, 0x203000, END, 8);
	check_modules(0, 0, 0);
	PUT(0, 0x10001, 0, MODULE, 16, 0x200000, 0x203000, END, 8);
	check_modules(0, 0, 0);
	PUT(0, 0x10000, 0, MODULE, 16, 0x200000, 0x203000, END, 8);
	check_modules(1, 0x200000, 0x3000);
	return 0;
}
