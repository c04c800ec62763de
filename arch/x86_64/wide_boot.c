/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: arch_words_* of arch/arch.h, with the registers of AVX if the processor has them; those of AMD that have an x2APIC do. Only
 * while they are needed are they enabled. What is left in them no guest finds: x86_clear_extended has run on a core before its first guest.
 */
#include "arch/arch.h"
#include "arch/x86_64/x86.h"

enum { CPUID_XSAVE = 1 << 26, CPUID_AVX = 1 << 28, STRETCH_WORDS = 512 / sizeof(uint64_t) };

/* wide_boot.S. At least one stretch. */
void x86_wide_repeat(uint64_t *start, size_t stretches, const uint64_t *pattern);
void x86_wide_copy(uint64_t *target, const uint64_t *source, size_t stretches);

/*
 * Enables the registers for this many words. Returns CR4 as it was, or 0: there are no such registers, or it is not worth it. SDM vol. 1,
 * 14.3 "Detection of Intel AVX Instructions".
 */
static uint64_t enable(size_t words)
{
	const uint32_t needed = CPUID_XSAVE | CPUID_AVX;
	uint64_t cr4 = x86_read_cr4();

	if (words < STRETCH_WORDS || (x86_cpuid(1, 0).ecx & needed) != needed)
		return 0;
	x86_write_cr4(cr4 | CR4_OSXSAVE);
	x86_xsetbv(0, XCR0_X87 | XCR0_SSE | XCR0_AVX);
	return cr4;
}

size_t arch_words_repeat(uint64_t *start, size_t words, const uint64_t *pattern)
{
	uint64_t cr4 = enable(words);

	if (!cr4)
		return 0;
	x86_wide_repeat(start, words / STRETCH_WORDS, pattern);
	x86_write_cr4(cr4);
	return words - words % STRETCH_WORDS;
}

size_t arch_words_copy(uint64_t *target, const uint64_t *source, size_t words)
{
	uint64_t cr4 = enable(words);

	if (!cr4)
		return 0;
	x86_wide_copy(target, source, words / STRETCH_WORDS);
	x86_write_cr4(cr4);
	return words - words % STRETCH_WORDS;
}
