/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: a sandbox's stage 2, filters and lines. */
#include "arch/words.h"
#include "arch/x86_64/x86.h"
#include "hal/arguments.h"
#include "hal/pt/walk.h"
#include "hal/x86/apic/ioapic.h"
#include "hal/x86/core.h"

HAL_ASSERT_SMALL_FRAME(struct hal_partition, struct hal_space);

enum { PORTS = 0x10000, PORT_MAP_BYTES = PORTS / 8 };

/* Every bit set: denied until told otherwise. */
static void deny(void *map, size_t bytes)
{
	words_fill(map, bytes / WORD_BYTES, UINT64_MAX);
}

/* Every port and every register exits. The map of registers lies right after that of ports, as SVM's third frame of it: svm_boot.c. */
static enum hal_status create_maps(struct hal_partition *partition, struct hal_arena *arena)
{
	const size_t msr_map_bytes = x86_vendor_boot->msr_map_frames * BH_PAGE_BYTES;

	partition->port_map = hal_arena_take(arena, (PORT_MAP_BYTES + msr_map_bytes) / BH_PAGE_BYTES);
	if (!partition->port_map)
		return HAL_E_NOMEM;
	partition->msr_map = partition->port_map + PORT_MAP_BYTES;
	deny(partition->port_map, PORT_MAP_BYTES);
	deny(partition->msr_map, msr_map_bytes);
	return HAL_OK;
}

/* Output addresses end where the processor's do. APM vol. 3, CPUID Fn8000_0008_EAX[PhysAddrSize]. */
static enum hal_status create_stage2(struct hal_partition *partition, struct hal_arena *arena)
{
	const struct pt_format *format = x86_vendor_boot->stage2;
	enum hal_status status = pt_init(&partition->stage2, format, arena);

	if (status == HAL_OK) {
		partition->stage2.oa_bits = (uint8_t)x86_cpuid(0x80000008, 0).eax;
		x86_vendor_boot->narrow(&partition->stage2);
		partition->ram_leaf = format->permission[HAL_READ | HAL_WRITE | HAL_EXECUTE] | format->memory[HAL_MEMORY_RAM];
		partition->ram_mask = partition->ram_leaf | format->permission[HAL_READ] | format->memory[HAL_MEMORY_DEVICE];
	}
	return status;
}

enum hal_status hal_partition_create(struct hal_arena *arena, const struct hal_partition_config *config, struct hal_partition **out)
{
	enum hal_status status = hal_check_config(config);
	struct hal_partition *partition;

	if (status != HAL_OK)
		return status;
	partition = hal_arena_take_small(arena, sizeof(*partition));
	if (!partition)
		return HAL_E_NOMEM;
	partition->index = config->index;
	partition->core_count = config->core_count;
	partition->unprotected = config->unprotected;
	partition->tolerate_ports = config->tolerate_ports;
	partition->kick_mailboxes = config->kick_mailboxes;
	for (uint32_t slot = 0; slot < config->core_count; slot++) {
		partition->cores[slot] = config->cores[slot];
		partition->apic_id[slot] = (uint32_t)config->hardware_id[slot];
	}
	pci_create_view(&partition->pci, config->kick_mailboxes);
	partition->ioapic.lock = &partition->pci.own; /* until there is a line */
	status = create_stage2(partition, arena);
	if (status == HAL_OK)
		status = create_maps(partition, arena);
	if (status == HAL_OK && config->masters)
		status = iommu_create(&partition->iommu, arena, config);
	if (status != HAL_OK)
		return status;
	x86_allow_msrs(partition);
	x86_unprotect(partition);
	*out = partition;
	return HAL_OK;
}

enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	if (partition->sealed)
		return HAL_E_SEALED;
	/* No guest's addresses are wider than the processor's. */
	if (!pt_fits(gpa.v, size, partition->stage2.oa_bits))
		return HAL_E_RANGE;
	return iommu_map_both(&partition->stage2, &partition->iommu, gpa, hpa, size, permissions, memory);
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
	if (partition->sealed)
		return HAL_E_SEALED;
	if (!count || first >= PORTS || count > PORTS - first)
		return HAL_E_RANGE;
	for (uint32_t port = first; port < first + count; port++)
		partition->port_map[port / 8] &= (uint8_t)~(1u << port % 8);
	return HAL_OK;
}

/* The pages of a table of MSI-X whose addresses are the monitor's: writes exit. */
static enum hal_status trap_table(struct hal_partition *partition, const struct pci_table *table)
{
	enum hal_status status = pt_unmap(&partition->stage2, table->pages, table->page_bytes);

	return status == HAL_OK
		       ? pt_map(&partition->stage2, table->pages, (hpa_t){ table->pages }, table->page_bytes, HAL_READ, HAL_MEMORY_DEVICE)
		       : status;
}

static enum hal_status admit_messages(struct hal_partition *partition, const struct bh_pci_function *function)
{
	uint32_t address = iommu_admit(&partition->iommu, function->id);
	const struct pci_table *table;
	enum hal_status status = pci_allow_messages(&partition->pci, function, address, &table);

	return status == HAL_OK && table ? trap_table(partition, table) : status;
}

enum hal_status hal_partition_grant_function(struct hal_partition *partition, const struct bh_pci_function *function)
{
	enum hal_status status = partition->sealed ? HAL_E_SEALED : pci_grant(&partition->pci, function);

	if (status != HAL_OK || function->dma != BH_DMA_TRANSLATED)
		return status;
	status = iommu_attach(&partition->iommu, function->id);
	return status == HAL_OK ? admit_messages(partition, function) : status;
}

enum hal_status hal_partition_show_functions(struct hal_partition *partition, hpa_t absent)
{
	return partition->sealed ? HAL_E_SEALED : pci_show(partition, &partition->pci, absent, partition->unprotected & BH_PROTECT_IO);
}

/* Before the first line that the machine's I/O APIC sends it: one that is rung comes from no I/O APIC. */
static void admit_lines(struct hal_partition *partition)
{
	const struct ioapic_view *view = &partition->ioapic;

	for (uint32_t own = 0; view->count == view->told_count && own < partition->core_count; own++)
		partition->line_target[own] = iommu_admit_lines(partition->cores[own], partition->apic_id[own]);
}

enum hal_status hal_partition_grant_line(struct hal_partition *partition, uint32_t line, uint32_t core, uint32_t vector, uint32_t flags)
{
	uint32_t slot = hal_slot_of(partition->cores, partition->core_count, core);

	if (partition->sealed)
		return HAL_E_SEALED;
	if (slot == partition->core_count)
		return HAL_E_DENIED;
	if (vector < IOAPIC_FIRST_VECTOR || vector > IOAPIC_LAST_VECTOR)
		return HAL_E_RANGE;
	admit_lines(partition);
	return ioapic_grant(&partition->ioapic, line, slot, vector, flags, partition->kick_mailboxes) ? HAL_OK : HAL_E_RANGE;
}

enum hal_status hal_partition_grant_doorbell(struct hal_partition *to, const struct bh_line *line, struct bh_channel_end *told)
{
	uint32_t slot = hal_slot_of(to->cores, to->core_count, line->core);

	if (to->sealed)
		return HAL_E_SEALED;
	if (slot == to->core_count)
		return HAL_E_DENIED;
	if (line->vector < IOAPIC_FIRST_VECTOR || line->vector > IOAPIC_LAST_VECTOR)
		return HAL_E_RANGE;
	return ioapic_grant_rung(&to->ioapic, line->line, slot, line->vector, line->flags, to->kick_mailboxes, told) ? HAL_OK : HAL_E_RANGE;
}

static struct x86_kick_target first_core(const struct hal_partition *of)
{
	return (struct x86_kick_target){ .box = &of->kick_mailboxes[of->cores[0]], .apic_id = of->apic_id[0] };
}

enum hal_status hal_partition_allow_kick(struct hal_partition *from, struct hal_partition *to)
{
	if (!to->sealed)
		return HAL_E_SEALED;
	from->kick[to->index] = first_core(to);
	return HAL_OK;
}

void hal_partition_allow_notice(struct hal_partition *from, const struct hal_partition *to)
{
	struct x86_kick_target *told = from->told;

	while (told->box)
		told++;
	*told = first_core(to);
}

void hal_partition_seal(struct hal_partition *partition)
{
	ioapic_reset(partition, HAL_LOCK_START_UP);
	partition->sealed = true;
	iommu_publish();
	(void)iommu_open(&partition->iommu, HAL_LOCK_START_UP); /* if it fails, they reach its RAM or nothing */
}

uint32_t hal_partition_reset_ms(const struct hal_partition *partition)
{
	return pci_reset_ms(&partition->pci);
}
