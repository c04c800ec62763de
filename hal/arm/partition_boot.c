/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's memory and lines, as start-up decides them. The builder of tables is hal/pt's; the controller gic/'s. */
#include "hal/arm/stage2.h"

#include "arch/arch.h"
#include "hal/arguments.h"

/* VTTBR_EL2: VMID in 55:48, the root below. VMID 0 is nobody's. */
static uint64_t vttbr_of(const uint64_t *root, uint32_t index)
{
	return (uintptr_t)root | (uint64_t)(index + 1) << 48;
}

HAL_ASSERT_SMALL_FRAME(struct hal_partition, struct hal_space);

enum hal_status hal_partition_create(struct hal_arena *arena, const struct hal_partition_config *config, struct hal_partition **out)
{
	enum hal_status status = hal_check_config(config);
	struct hal_partition *partition;

	if (status != HAL_OK)
		return status;
	partition = hal_arena_take_small(arena, sizeof(*partition));
	if (!partition)
		return HAL_E_NOMEM;
	status = pt_init(&partition->stage2, &STAGE2_FORMAT, arena);
	if (status == HAL_OK && config->masters)
		status = iommu_create(&partition->iommu, arena, config);
	if (status != HAL_OK)
		return status;
	partition->vttbr = vttbr_of(partition->stage2.root, config->index);
	partition->unprotected = config->unprotected;
	partition->trusted_idle = config->trusted_idle;
	partition->core_count = config->core_count;
	for (uint32_t slot = 0; slot < config->core_count; slot++) {
		partition->cores[slot] = config->cores[slot];
		partition->hardware_id[slot] = config->hardware_id[slot];
	}
	gic_create_view(partition);
	partition->box = &config->kick_mailboxes[config->cores[0]];
	pci_create_view(&partition->pci, config->kick_mailboxes);
	*out = partition;
	return HAL_OK;
}

enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	return partition->sealed ? HAL_E_SEALED
				 : iommu_map_both(&partition->stage2, &partition->iommu, gpa, hpa, size, permissions, memory);
}

bool hal_partition_query(const struct hal_partition *partition, gpa_t gpa, struct hal_leaf *out)
{
	return pt_query(&partition->stage2, gpa.v, out);
}

enum hal_status hal_partition_gate(struct hal_partition *partition, gpa_t gpa, uint64_t size, struct hal_gate *out)
{
	return partition->sealed ? HAL_E_SEALED : pt_gate(&partition->stage2, gpa.v, size, out);
}

enum hal_status hal_partition_allow_ports(struct hal_partition *partition, uint32_t first, uint32_t count)
{
	return HAL_E_UNSUPPORTED;
}

enum hal_status hal_partition_grant_function(struct hal_partition *partition, const struct bh_pci_function *function)
{
	enum hal_status status = partition->sealed ? HAL_E_SEALED : pci_grant(&partition->pci, function);

	if (status == HAL_OK && function->dma == BH_DMA_TRANSLATED)
		status = iommu_attach(&partition->iommu, function->id);
	return status;
}

enum hal_status hal_partition_show_functions(struct hal_partition *partition, hpa_t absent)
{
	return partition->sealed ? HAL_E_SEALED : pci_show(partition, &partition->pci, absent, partition->unprotected & BH_PROTECT_IO);
}

void hal_partition_seal(struct hal_partition *partition)
{
	partition->sealed = true;
	(void)iommu_open(&partition->iommu, HAL_LOCK_START_UP); /* if it fails, they reach its RAM or nothing */
	partition->root.entries = partition->stage2.root;
	for (unsigned n = 0; n < STAGE2_ROOT_ENTRIES; n++)
		if (partition->stage2.root[n])
			partition->root.used[n / ROOT_BITS] |= (uintptr_t)1 << n % ROOT_BITS;
}

enum hal_status hal_partition_allow_kick(struct hal_partition *from, struct hal_partition *to)
{
	struct kick_target *target = &from->targets[(to->vttbr >> 48) - 1];

	if (!to->sealed)
		return HAL_E_SEALED;
	target->vttbr = to->vttbr;
	target->hardware_id = to->hardware_id[0];
	target->box = to->box;
	target->root.entries = to->root.entries;
	for (unsigned word = 0; word < ROOT_WORDS; word++)
		target->root.used[word] = to->root.used[word];
	to->kickable = true;
	return HAL_OK;
}

void hal_partition_allow_notice(struct hal_partition *from, const struct hal_partition *to)
{
	struct told *told = from->told;

	while (told->box)
		told++;
	*told = (struct told){ to->box, to->hardware_id[0] };
}

enum hal_status hal_core_create(struct hal_partition *partition, struct hal_arena *arena, uint32_t slot, const struct hal_entry *entry,
				struct hal_core **out)
{
	struct hal_core *core;

	if (slot >= partition->core_count)
		return HAL_E_RANGE;
	if (partition->siblings[slot])
		return HAL_E_OVERLAP;
	core = hal_arena_take(arena, 1);
	if (!core)
		return HAL_E_NOMEM;
	core->partition = partition;
	core->slot = slot;
	core->self = hal_lock_bit(partition->cores[slot]);
	core->power = slot ? POWER_OFF : POWER_STARTED;
	partition->entry = (struct core_entry){ .pc = entry->pc.v, .arg = entry->arg, .stack = entry->stack.v };
	core->entry = partition->entry;
	partition->siblings[slot] = core;
	partition->cores_on = 1;
	*out = core;
	return HAL_OK;
}

uint32_t hal_partition_reset_ms(const struct hal_partition *partition)
{
	return pci_reset_ms(&partition->pci);
}
