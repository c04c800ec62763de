/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register. VT-x's control words, bit for bit as SDM vol. 3C, 25.6.1, 25.6.2, 25.7.1 and 25.8.1 want them, from what processors
 * report. Nothing here is computed from the table in hal/x86/vmx: every expected word is written out.
 */
#include "hal/x86/vmx/controls.h"

#include <string.h>

#include "check.h"
#include "hal/pt/pt.h"

struct row {
	const char *processor;
	uint64_t capability[VMX_WORDS];
	uint32_t words[VMX_WORDS];
};

/* clang-format off: columns. Pin-based, processor-based, secondary, exit, entry. */
static const struct row rows[] = {
	{ "Skylake-SP",
	  { 0x0000007f00000016, 0xfff9fffe04006172, 0x015cffff00000000, 0x01ffffff00036dfb, 0x0003ffff000011fb },
	  { 0x0000003e, 0xb6006d72, 0x000090ea, 0x003f6fff, 0x0000d3ff } },
	{ "the least that will do",
	  { 0x0000003e00000016, 0xb6406d7204006172, 0x000000e200000000, 0x003f6fff00036dfb, 0x0000d3ff000011fb },
	  { 0x0000003e, 0xb6006d72, 0x000000e2, 0x003f6fff, 0x0000d3ff } },
	{ "controls that cannot be switched off",
	  { 0x0000007f0000003f, 0xfff9fffe84006572, 0x015cffff00000001, 0x01ffffff00036fff, 0x0003ffff000013ff },
	  { 0x0000003f, 0xb6006d72, 0x000090eb, 0x003f6fff, 0x0000d3ff } },
	{ "enclaves of other hypervisors' guests, too",
	  { 0x0000007f00000016, 0xfff9fffe04006172, 0x115cffff00000000, 0x01ffffff00036dfb, 0x0003ffff000011fb },
	  { 0x0000003e, 0xb6006d72, 0x100090ea, 0x003f6fff, 0x0000d3ff } },
};

/* Without this bit of what may be 1, there is no sandbox. */
static const struct {
	enum vmx_word word;
	unsigned bit;
	const char *says;
} needed[] = {
	{ VMX_PIN, 3, "NMI exits" },
	{ VMX_PIN, 5, "virtual NMIs" },
	{ VMX_PROCESSOR, 10, "MWAIT" },
	{ VMX_PROCESSOR, 11, "RDPMC" },
	{ VMX_PROCESSOR, 22, "NMI-window" },
	{ VMX_PROCESSOR, 25, "I/O bitmaps" },
	{ VMX_PROCESSOR, 28, "MSR bitmaps" },
	{ VMX_PROCESSOR, 29, "MONITOR" },
	{ VMX_PROCESSOR, 31, "secondary" },
	{ VMX_SECONDARY, 1, "EPT" },
	{ VMX_SECONDARY, 5, "VPIDs" },
	{ VMX_SECONDARY, 6, "WBINVD" },
	{ VMX_SECONDARY, 7, "unrestricted" },
	{ VMX_EXIT, 2, "debug controls" },
	{ VMX_EXIT, 9, "64-bit hosts" },
	{ VMX_EXIT, 18, "PAT" },
	{ VMX_EXIT, 19, "PAT" },
	{ VMX_EXIT, 20, "EFER" },
	{ VMX_EXIT, 21, "EFER" },
	{ VMX_ENTRY, 2, "debug controls" },
	{ VMX_ENTRY, 9, "64-bit guests" },
	{ VMX_ENTRY, 14, "PAT" },
	{ VMX_ENTRY, 15, "EFER" },
};
/* With this bit of what must be 1, neither. */
static const struct {
	enum vmx_word word;
	unsigned bit;
	const char *says;
} unwanted[] = {
	{ VMX_PROCESSOR, 15, "CR3" },
	{ VMX_PROCESSOR, 16, "CR3" },
	{ VMX_PROCESSOR, 22, "NMI-window" },
};
/* clang-format on */

static void test_words(const struct row *row)
{
	uint32_t words[VMX_WORDS];

	check_context.subject = row->processor;
	CHECK(!vmx_controls_make(row->capability, words));
	for (unsigned word = 0; word < VMX_WORDS; word++) {
		check_context.round = word;
		CHECK_EQ(words[word], row->words[word]);
	}
}

static void test_refusal(enum vmx_word word, uint64_t flipped, const char *says)
{
	uint64_t capability[VMX_WORDS];
	uint32_t words[VMX_WORDS] = { 0 };
	const char *missing;

	memcpy(capability, rows[1].capability, sizeof(capability));
	capability[word] ^= flipped;
	missing = vmx_controls_make(capability, words);
	CHECK(missing && strstr(missing, says));
	for (unsigned n = 0; n < VMX_WORDS; n++)
		CHECK_EQ(words[n], 0);
}

/* A.10 "VPID and EPT Capabilities": 6 four levels, 14 WB, 16 2 MiB, 17 1 GiB, 20 and 26 INVEPT, 32, 41 and 42 INVVPID. */
static void test_paging(void)
{
	const uint64_t skylake = 0x00000f0106734141;
	static const uint8_t bits[] = { 6, 14, 20, 26, 32, 41, 42 };

	CHECK(!vmx_paging_missing(skylake));
	for (unsigned n = 0; n < sizeof(bits); n++)
		CHECK(vmx_paging_missing(skylake & ~(UINT64_C(1) << bits[n])));
	CHECK_EQ(vmx_leaf_levels(skylake), PT_LEAF_4K | PT_LEAF_2M | PT_LEAF_1G);
	CHECK_EQ(vmx_leaf_levels(skylake & ~(UINT64_C(1) << 17)), PT_LEAF_4K | PT_LEAF_2M);
	CHECK_EQ(vmx_leaf_levels(skylake & ~(UINT64_C(1) << 16)), PT_LEAF_4K | PT_LEAF_1G);
}

int main(void)
{
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		test_words(&rows[n]);
	check_context.subject = "needed";
	for (check_context.round = 0; check_context.round < sizeof(needed) / sizeof(needed[0]); check_context.round++)
		test_refusal(needed[check_context.round].word, UINT64_C(1) << 32 << needed[check_context.round].bit,
			     needed[check_context.round].says);
	check_context.subject = "unwanted";
	for (check_context.round = 0; check_context.round < sizeof(unwanted) / sizeof(unwanted[0]); check_context.round++)
		test_refusal(unwanted[check_context.round].word, UINT64_C(1) << unwanted[check_context.round].bit,
			     unwanted[check_context.round].says);
	test_paging();
	return 0;
}
