/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I7.boot. Random damage to a partition table under a right checksum. The validator must come back without touching anything but
 * the table, and whatever it accepts must keep the invariants that matter most, stated here in another way: bytes of the
 * machine's RAM are counted, frame by frame, and its ports; none has two owners.
 */
#include "check.h"
#include "good_table.h"

#include <string.h>

enum { EDIT_BYTES = 4, FRAMES = 0x80000 };

static uint8_t owner[FRAMES]; /* of each frame of RAM: 0 nobody, 1 a monitor, 2 + sandbox */

static void own(uint64_t hpa, uint64_t bytes, uint8_t who)
{
	for (uint64_t at = hpa; at < hpa + bytes; at += BH_PAGE_BYTES) {
		uint64_t frame = (at - good_limits.board->ram.at[0].start) / BH_PAGE_BYTES;

		CHECK(frame < FRAMES);
		CHECK_EQ(owner[frame], 0);
		owner[frame] = who;
	}
}

/* Payload lands in the sandbox's own frames; in those of a monitor, only on its information page. */
static void check_copy(const struct bh_table *table, const struct bh_copy *copy)
{
	for (uint64_t at = copy->target; at < copy->target + copy->size; at += BH_PAGE_BYTES) {
		bool is_info = at == table->sandboxes[copy->sandbox].pool + BH_POOL_INFO;

		CHECK_EQ(owner[(at - good_limits.board->ram.at[0].start) / BH_PAGE_BYTES], is_info ? 1 : 2 + copy->sandbox);
	}
}

/* Ports of a PCI function are given to its owner as a whole. */
static bool is_of_function(const struct bh_table *table, const struct bh_ports *ports)
{
	for (uint32_t n = 0; n < table->pci_function_count; n++)
		for (uint32_t bar = 0; bar < BH_PCI_FUNCTION_BARS; bar++)
			if (table->pci_functions[n].sandbox == ports->sandbox && table->pci_functions[n].bar[bar] == (ports->first | 1u) &&
			    table->pci_functions[n].bar_mask[bar] == ((0u - ports->count) | 1))
				return true;
	return false;
}

static void check_ports(const struct bh_table *table)
{
	static uint8_t owned[0x10000]; /* firmware's and the machine's own, or given away */

	memset(owned, 0, sizeof(owned));
	for (uint32_t n = 0; n < good_limits.board->private_ports.count; n++)
		memset(owned + good_limits.board->private_ports.at[n].start, 1, good_limits.board->private_ports.at[n].bytes);
	for (uint32_t n = 0; n < table->port_count; n++) {
		if (is_of_function(table, &table->ports[n]))
			continue;
		for (uint32_t port = table->ports[n].first; port < (uint32_t)table->ports[n].first + table->ports[n].count; port++)
			CHECK(!owned[port]++);
	}
}

static void check_accepted(const struct bh_table *table)
{
	memset(owner, 0, sizeof(owner));
	own(good_limits.image_start, good_limits.image_end - good_limits.image_start, 1);
	for (uint32_t n = 0; n < good_limits.board->reserved_ram.count; n++)
		own(good_limits.board->reserved_ram.at[n].start, good_limits.board->reserved_ram.at[n].bytes, 1);
	own(table->shared, BH_PAGE_BYTES, 1);
	for (uint32_t n = 0; n < table->sandbox_count; n++)
		own(table->sandboxes[n].pool, table->sandboxes[n].pool_bytes, 1);
	for (uint32_t n = 0; n < table->region_count; n++)
		if (table->regions[n].kind == BH_REGION_RAM)
			own(table->regions[n].hpa, table->regions[n].size, (uint8_t)(2 + table->regions[n].sandbox));
	for (uint32_t n = 0; n < table->copy_count; n++)
		check_copy(table, &table->copies[n]);
	check_ports(table);
}

/* The words of the table that mean something here: unused rows would only dilute the damage. */
static uint64_t *word_at(struct bh_table *table, unsigned index)
{
	const struct {
		void *start;
		size_t bytes;
	} parts[] = {
		{ table, offsetof(struct bh_table, sandboxes) },
		{ table->sandboxes, 2 * sizeof(table->sandboxes[0]) },
		{ table->regions, GOOD_REGIONS * sizeof(table->regions[0]) },
		{ table->ports, 3 * sizeof(table->ports[0]) },
		{ table->lines, 2 * sizeof(table->lines[0]) },
		{ table->copies, GOOD_COPIES * sizeof(table->copies[0]) },
		{ table->pci_functions, GOOD_FUNCTIONS * sizeof(table->pci_functions[0]) },
	};
	unsigned part = 0;

	while (index >= parts[part].bytes / 8) {
		index -= (unsigned)(parts[part].bytes / 8);
		part = (part + 1) % (sizeof(parts) / sizeof(parts[0]));
	}
	return (uint64_t *)parts[part].start + index;
}

/* Each edit takes four bytes: the word to change, the way, a word to take from, an amount. */
static void edit(struct bh_table *table, const uint8_t input[EDIT_BYTES])
{
	uint64_t *word = word_at(table, input[0]);
	uint64_t other = *word_at(table, input[2]);
	uint64_t amount = input[3];

	switch (input[1] % 6) {
	case 0: /* one byte */
		*word ^= amount << input[1] / 6 % 8 * 8;
		break;
	case 1: /* some pages up */
		*word += amount * BH_PAGE_BYTES;
		break;
	case 2: /* some pages down */
		*word -= amount * BH_PAGE_BYTES;
		break;
	case 3: /* what stands elsewhere, and a little more */
		*word = other + amount / 16 * BH_PAGE_BYTES;
		break;
	case 4: /* just enough to wrap with it */
		*word = -other + amount * BH_PAGE_BYTES;
		break;
	default: /* a power of two */
		*word += UINT64_C(1) << amount % 64;
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bh_table table;

	check_context.subject = "accepted table";
	good_table(&table);
	for (; size >= EDIT_BYTES; size -= EDIT_BYTES, data += EDIT_BYTES)
		edit(&table, data);
	table_sign(&table);
	if (!table_refuse(&table, &good_limits))
		check_accepted(&table);
	return 0;
}
