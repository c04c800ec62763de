/* SPDX-License-Identifier: Apache-2.0 */
/* The table is the one the host tool made for this machine; its cores are the machine's, each with one owner. */
#include "monitor/boot/table/checks.h"
#include "monitor/boot/table/spans.h"

uint64_t words_checksum(uint64_t checksum, const table_word *words, uint64_t count)
{
	for (uint64_t n = 0; n < count; n++)
		checksum = (checksum ^ words[n]) * 0x100000001b3;
	return checksum;
}

/* The word that has it counts as 0. */
static uint64_t table_checksum(const struct bh_table *table)
{
	static const table_word zero;
	const table_word *words = (const table_word *)table;
	const uint64_t own = offsetof(struct bh_table, checksum) / sizeof(table_word), count = sizeof(*table) / sizeof(table_word);
	uint64_t checksum = words_checksum(CHECKSUM_OF_NOTHING, words, own);

	checksum = words_checksum(checksum, &zero, 1);
	return words_checksum(checksum, words + own + 1, count - own - 1);
}

static bool same_name(const uint8_t *name, const char *expected)
{
	for (unsigned n = 0; n < BH_NAME_BYTES; n++) {
		if (name[n] != (uint8_t)expected[n])
			return false;
		if (!expected[n])
			return true;
	}
	return false;
}

const char *refuse_header(const struct bh_table *table, const struct table_limits *limits)
{
	REFUSE_IF(table->magic != BH_TABLE_MAGIC,
		  "there is none; boot the image that `bulkhead image` or `bulkhead run` makes, not bulkhead.elf itself");
	REFUSE_IF(table->version != BH_TABLE_VERSION, "it has another version than this monitor; build both from the same sources");
	REFUSE_IF(table->size != sizeof(*table), "it has another size than this monitor expects; build both from the same sources");
	REFUSE_IF(table->checksum != table_checksum(table),
		  "its checksum is wrong: the image was damaged or cut short; build or copy it again");
	REFUSE_IF(!same_name(table->platform, limits->board->name), "it was made for another platform; build the image for this one");
	REFUSE_IF(table->iommu != (uint32_t)limits->board->iommu.kind,
		  "it was made for a machine with another IOMMU, or without; build the image again");
	REFUSE_IF(table->core_count < 1 || table->core_count > BH_MAX_CORES, "core count out of range");
	REFUSE_IF(table->sandbox_count < 1 || table->sandbox_count > BH_MAX_SANDBOXES, "sandbox count out of range");
	REFUSE_IF(table->region_count > BH_MAX_REGIONS || table->port_count > BH_MAX_PORTS || table->line_count > BH_MAX_LINES ||
			  table->copy_count > BH_MAX_COPIES || table->piece_count > BH_MAX_PIECES ||
			  table->pci_function_count > BH_MAX_PCI_FUNCTIONS || table->channel_count > BH_MAX_CHANNELS,
		  "more regions, ports, lines, copies, pieces, functions or channels than a table holds");
	return NULL;
}

/* Numbers that mean one core each: an interrupt sent to any other might go to all, or to a core with the same low bits. */
const char *refuse_hardware(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t core = 0; core < table->core_count; core++) {
		REFUSE_IF(table->hardware_id[core] & ~limits->board->core_id_mask ||
				  table->hardware_id[core] > limits->board->core_id_greatest,
			  "a core has a hardware number that no core of this platform can have");
		for (uint32_t other = 0; other < core; other++)
			REFUSE_IF(table->hardware_id[core] == table->hardware_id[other], "two cores have the same hardware number");
	}
	return NULL;
}

const char *refuse_cores(const struct bh_table *table, const struct table_limits *limits)
{
	uint32_t taken = 0;

	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		const struct bh_sandbox *sandbox = &table->sandboxes[n];

		REFUSE_IF(sandbox->core_count < 1 || sandbox->core_count > BH_MAX_SANDBOX_CORES,
			  "a sandbox has no core, or more than one sandbox can have");
		for (uint32_t slot = 0; slot < sandbox->core_count; slot++) {
			REFUSE_IF(sandbox->cores[slot] >= table->core_count, "a sandbox names a core the machine does not have");
			REFUSE_IF(taken >> sandbox->cores[slot] & 1, "a core is given twice");
			taken |= 1u << sandbox->cores[slot];
		}
		REFUSE_IF(sandbox->unprotected & ~(uint32_t)BH_PROTECT_ALL, "a sandbox is to do without a protection that there is not");
		REFUSE_IF(sandbox->may_kick >> n & 1 || sandbox->may_kick >> table->sandbox_count, "may-kick names itself or no sandbox");
		REFUSE_IF(sandbox->notifies >> n & 1 || sandbox->notifies >> table->sandbox_count, "notify names itself or no sandbox");
		for (uint32_t told = 0; told < table->sandbox_count; told++)
			REFUSE_IF(sandbox->notifies >> told & 1 && !(table->sandboxes[told].accepts >> n & 1),
				  "notify names a sandbox that does not accept it");
	}
	return NULL;
}
