/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a monitor on ARM maps of others (BH-I4.private, BH-I4.kick): the stage-2 root of each sandbox that it may kick, of nobody else's.
 * hal/arm/space_boot.c and partition_boot.c, over space_machine.h; what the interrupt controller and PCI map is theirs.
 */
#include "frames.h"
#include "hal/arm/stage2.h"
#include "space_machine.h"

enum { SANDBOXES = 3, FRAMES = 64 };

static struct hal_arena arena;
static struct hal_partition *partitions[SANDBOXES];
static const struct hal_partition *of_gic, *of_pci;

const struct pt_format pt_el2, pt_stage2;

enum hal_status gic_map(struct hal_space *space, const struct hal_partition *partition)
{
	of_gic = partition;
	return HAL_OK;
}

enum hal_status pci_map(struct hal_space *space, const struct pci_view *view)
{
	of_pci = (const struct hal_partition *)((const char *)view - offsetof(struct hal_partition, pci));
	return HAL_OK;
}

void gic_create_view(struct hal_partition *partition) {}

uint32_t pci_reset_ms(const struct pci_view *view)
{
	return 0;
}

void pci_create_view(struct pci_view *view, struct hal_kick_mailbox *boxes) {}

/* ---- Of no part in this ---- */

enum hal_status pci_grant(struct pci_view *view, const struct bh_pci_function *function)
{
	abort();
}

enum hal_status pci_show(struct hal_partition *partition, const struct pci_view *view, hpa_t absent, bool open)
{
	abort();
}

enum hal_status pt_unmap(struct pt *pt, uint64_t ia, uint64_t size)
{
	abort();
}

enum hal_status pt_gate(const struct pt *pt, uint64_t ia, uint64_t size, struct hal_gate *out)
{
	return HAL_E_RANGE;
}

bool pt_query(const struct pt *pt, uint64_t ia, struct hal_leaf *out)
{
	abort();
}

/* ---- The test ---- */

static struct mapping root_of(const struct hal_partition *partition)
{
	const uint64_t root = (uintptr_t)partition->stage2.root;

	return (struct mapping){ root, root, 0x1000, RW, HAL_MEMORY_RAM };
}

/* The monitor of sandbox `index`, whose devices are its own. */
static struct hal_space *map_devices(uint32_t index)
{
	struct hal_space *space;

	of_gic = of_pci = NULL;
	CHECK_EQ(hal_space_create(&arena, &space), HAL_OK);
	CHECK_EQ(hal_space_map_devices(space, partitions[index]), HAL_OK);
	CHECK(of_gic == partitions[index]);
	CHECK(of_pci == partitions[index]);
	return space;
}

/* The first may kick the third and then both others, the second the first, the third nobody. */
static void test_roots(void)
{
	const struct mapping first = root_of(partitions[0]), others[] = { root_of(partitions[1]), root_of(partitions[2]) };

	for (uint32_t n = 0; n < SANDBOXES; n++) {
		map_devices(n);
		check_mappings("no kicks", NULL, 0);
	}
	CHECK_EQ(hal_partition_allow_kick(partitions[0], partitions[2]), HAL_OK);
	CHECK_EQ(hal_partition_allow_kick(partitions[1], partitions[0]), HAL_OK);
	map_devices(0);
	check_mappings("kicks the third", &others[1], 1);
	CHECK_EQ(hal_partition_allow_kick(partitions[0], partitions[1]), HAL_OK);
	map_devices(0);
	check_mappings("kicks both", others, 2);
	map_devices(1);
	check_mappings("kicks the first", &first, 1);
	map_devices(2);
	check_mappings("is kicked only", NULL, 0);
	hal_partition_allow_notice(partitions[2], partitions[0]);
	hal_partition_allow_notice(partitions[2], partitions[1]);
	map_devices(2);
	check_mappings("notifies", NULL, 0);
	for (uint32_t told = 0; told < 2; told++) {
		CHECK(partitions[2]->told[told].box == partitions[told]->box);
		CHECK_EQ(partitions[2]->told[told].hardware_id, partitions[told]->hardware_id[0]);
	}
	CHECK(!partitions[2]->told[2].box);
}

/* Syndromes tell what its guest did: RAM is never looked at. */
static void test_memory(void)
{
	static const struct mapping asked_for = { 0x200000, 0x40418000, 0x2000, R | HAL_EXECUTE, HAL_MEMORY_RAM };
	struct hal_space *space = map_devices(2);

	CHECK_EQ(hal_space_map_ram(space, (hpa_t){ 0x50000000 }, 0x1000000), HAL_OK);
	check_mappings("guest's code", NULL, 0);
	CHECK_EQ(hal_space_map(space, (const void *)0x200000, (hpa_t){ 0x40418000 }, 0x2000, R | HAL_EXECUTE, HAL_MEMORY_RAM), HAL_OK);
	check_mappings("as it is asked for", &asked_for, 1);
}

int main(void)
{
	static struct hal_kick_mailbox boxes[SANDBOXES];

	arena = frames_arena(FRAMES);
	for (uint32_t n = 0; n < SANDBOXES; n++) {
		const struct hal_partition_config config = {
			.index = n, .core_count = 1, .cores = { n }, .hardware_id = { n }, .kick_mailboxes = boxes
		};

		CHECK_EQ(hal_partition_create(&arena, &config, &partitions[n]), HAL_OK);
		hal_partition_seal(partitions[n]);
	}
	test_roots();
	test_memory();
	return 0;
}
