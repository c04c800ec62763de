/* SPDX-License-Identifier: Apache-2.0 */
/* Device registers, PCI functions, I/O ports and interrupt lines: each has one owner, and none reaches memory on its own. */
#include "monitor/boot/table/checks.h"
#include "monitor/boot/table/spans.h"

static struct board_span span_of(struct hal_base base)
{
	return (struct board_span){ base.start, base.bytes };
}

/* The whole pages around a base address where it is memory; no bytes: it is not. */
static struct board_span pages_of(const struct table_limits *limits, struct hal_base base)
{
	uint64_t start = base.ports ? limits->board->pci.ports_at + base.start : base.start;
	uint64_t end = start + base.bytes + (-(start + base.bytes) & (BH_PAGE_BYTES - 1));

	start &= ~(uint64_t)(BH_PAGE_BYTES - 1);
	return (struct board_span){ start, base.ports && !limits->board->pci.ports_at ? 0 : end - start };
}

static bool overlaps_any(const struct hal_base *bases, uint32_t count, struct hal_base base)
{
	for (uint32_t n = 0; n < count; n++)
		if (bases[n].ports == base.ports && overlap(span_of(bases[n]), span_of(base)))
			return true;
	return false;
}

/* What is granted are pages, so each has one owner. */
static bool shares_page_with_any(const struct table_limits *limits, const struct hal_base *bases, uint32_t count, struct hal_base base)
{
	for (uint32_t n = 0; n < count; n++)
		if (overlap(pages_of(limits, bases[n]), pages_of(limits, base)))
			return true;
	return false;
}

/* Where there is an IOMMU nothing goes past it. */
static bool may_master(const struct bh_table *table, uint32_t dma)
{
	return dma == (table->iommu == BH_IOMMU_NONE ? BH_DMA_UNPROTECTED : BH_DMA_TRANSLATED);
}

static const char *refuse_bases(const struct bh_table *table, const struct table_limits *limits, uint32_t index)
{
	const struct bh_pci_function *function = &table->pci_functions[index];
	struct hal_base own[HAL_MAX_BASES];
	uint32_t own_count = hal_function_bases(function, own);

	for (uint32_t n = 0; n < own_count; n++) {
		struct hal_base base = own[n];

		REFUSE_IF(!base.bytes, "a base address of a PCI function is one that no register can hold");
		REFUSE_IF(!span_within(span_of(base), base.ports ? limits->board->pci.ports : limits->board->pci.window),
			  "a base address of a PCI function lies outside the windows of the machine");
		for (uint32_t other = 0; other < index; other++) {
			const struct bh_pci_function *earlier = &table->pci_functions[other];
			struct hal_base theirs[HAL_MAX_BASES];
			uint32_t their_count = hal_function_bases(earlier, theirs);

			REFUSE_IF(overlaps_any(theirs, their_count, base), "base addresses of PCI functions overlap");
			REFUSE_IF(earlier->sandbox != function->sandbox && shares_page_with_any(limits, theirs, their_count, base),
				  "base addresses of two sandboxes' PCI functions lie in one page");
		}
		REFUSE_IF(overlaps_any(own, n, base), "base addresses of PCI functions overlap");
	}
	return NULL;
}

static bool has_line(const struct bh_table *table, uint32_t sandbox)
{
	for (uint32_t n = 0; n < table->line_count; n++)
		if (table->lines[n].sandbox == sandbox)
			return true;
	return false;
}

const char *refuse_functions(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->pci_function_count; n++) {
		const struct bh_pci_function *function = &table->pci_functions[n];
		const char *why = refuse_bases(table, limits, n);

		REFUSE_IF(function->sandbox >= table->sandbox_count, "a PCI function belongs to no sandbox");
		REFUSE_IF(function->id >= limits->board->pci.functions, "a PCI function is on a bus that the machine does not have");
		REFUSE_IF(function->dma != BH_DMA_FREE && !may_master(table, function->dma),
			  "a sandbox is given a PCI function that is not known to be free of DMA, and that no IOMMU translates");
		REFUSE_IF(function->line > 1 || (function->line && !has_line(table, function->sandbox)),
			  "a PCI function interrupts by a line, and its sandbox has none");
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(function->id == table->pci_functions[other].id, "a PCI function is given twice");
		REFUSE_IF(why, why);
	}
	return NULL;
}

/* A base address of a function of this sandbox lies there, and nothing else. */
static bool owns_base(const struct bh_table *table, const struct table_limits *limits, uint32_t sandbox, struct board_span span, bool ports)
{
	for (uint32_t index = 0; index < table->pci_function_count; index++) {
		const struct bh_pci_function *function = &table->pci_functions[index];
		struct hal_base bases[HAL_MAX_BASES];
		uint32_t base_count = hal_function_bases(function, bases);

		for (uint32_t n = 0; function->sandbox == sandbox && n < base_count; n++) {
			struct board_span at = ports ? span_of(bases[n]) : pages_of(limits, bases[n]);

			if ((!ports || bases[n].ports) && at.start == span.start && at.bytes == span.bytes)
				return true;
		}
	}
	return false;
}

/*
 * Device registers: never executed or cached, never those with which sandboxes are held apart or reach memory on their own. BH-I1.dma: nor
 * those of a device that nobody has judged to be free of DMA, here as with ports and PCI functions. What is banked is the core's own.
 */
const char *refuse_device(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region)
{
	struct board_span hpa = hpa_of(region);
	struct board_span banked = limits->board->banked;

	REFUSE_IF(region->memory_type != BH_MEMORY_DEVICE || region->permissions & BH_PERM_EXECUTE,
		  "device registers are executable or cached");
	REFUSE_IF(region->kind != BH_REGION_BANKED && region->dma != BH_DMA_FREE &&
			  !(region->kind == BH_REGION_BAR && may_master(table, region->dma)),
		  "a sandbox is given device registers that are not known to be free of DMA");
	if (region->kind == BH_REGION_BAR) {
		REFUSE_IF(!owns_base(table, limits, region->sandbox, hpa, false),
			  "a region claims to be a base address of a PCI function of its sandbox and is not");
		return NULL;
	}
	REFUSE_IF(span_touches(limits->board->private_spans, hpa), "a sandbox is given device registers that only monitors may touch");
	if (region->kind == BH_REGION_BANKED) {
		REFUSE_IF(!span_within(hpa, banked), "a region claims to be banked per core and is not");
		return NULL;
	}
	REFUSE_IF(span_touches(limits->board->ram, hpa), "a device region overlaps RAM");
	REFUSE_IF(overlap(hpa, banked), "a sandbox is given the whole of a device that all share");
	return NULL;
}

const char *refuse_ports(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->port_count; n++) {
		struct board_span ports = { table->ports[n].first, table->ports[n].count };

		REFUSE_IF(table->ports[n].sandbox >= table->sandbox_count, "I/O ports belong to no sandbox");
		REFUSE_IF(!ports.bytes || ports.start + ports.bytes > 0x10000, "an I/O port range is empty or leaves the port space");
		REFUSE_IF(table->ports[n].dma != BH_DMA_FREE && !(may_master(table, table->ports[n].dma) &&
								  owns_base(table, limits, table->ports[n].sandbox, ports, true)),
			  "a sandbox is given I/O ports that are not known to be free of DMA");
		REFUSE_IF(span_touches(limits->board->private_ports, ports) &&
				  !owns_base(table, limits, table->ports[n].sandbox, ports, true),
			  "a sandbox is given I/O ports of the machine itself");
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(overlap(ports, (struct board_span){ table->ports[other].first, table->ports[other].count }),
				  "I/O ports are given twice");
	}
	return NULL;
}

/* Whose line's vector its guest chooses: its end is told to every level-triggered line with that vector. */
static bool is_chosen_level(const struct bh_line *line)
{
	return line->flags & BH_LINE_LEVEL && line->flags & BH_LINE_MASKED;
}

static const char *refuse_line(const struct bh_table *table, const struct table_limits *limits, const struct bh_line *line)
{
	bool granted_level = line->flags & BH_LINE_LEVEL && !is_chosen_level(line);

	REFUSE_IF(line->sandbox >= table->sandbox_count, "an interrupt line belongs to no sandbox");
	REFUSE_IF(span_touches(limits->board->private_lines, (struct board_span){ line->line, 1 }), "an interrupt line is not a device's");
	REFUSE_IF(line->vector < limits->board->first_vector, "an interrupt line has a vector of the processor's own");
	REFUSE_IF(granted_level && line->vector < limits->board->first_level_vector,
		  "a level-triggered line has a vector that another sandbox may choose");
	REFUSE_IF(granted_level && line->vector > BH_LAST_LEVEL_VECTOR, "a level-triggered line has a vector beyond those of such lines");
	REFUSE_IF(line->core != table->sandboxes[line->sandbox].cores[0],
		  "an interrupt line goes to another core than its sandbox's first");
	REFUSE_IF(line->flags & ~(uint32_t)(BH_LINE_LEVEL | BH_LINE_ACTIVE_LOW | BH_LINE_MASKED | BH_LINE_RUNG),
		  "an interrupt line has unknown flags");
	if (line->flags & BH_LINE_RUNG)
		return refuse_rung(table, line);
	return NULL;
}

static const char *refuse_both_lines(const struct bh_line *line, const struct bh_line *other)
{
	REFUSE_IF(line->line == other->line, "an interrupt line is given twice");
	REFUSE_IF(line->vector && line->vector == other->vector, "two interrupt lines share a vector");
	REFUSE_IF(is_chosen_level(line) && is_chosen_level(other) && line->sandbox != other->sandbox,
		  "two sandboxes choose vectors of level-triggered lines");
	REFUSE_IF(line->sandbox == other->sandbox && (line->flags ^ other->flags) & BH_LINE_MASKED,
		  "a sandbox mixes lines that its guest opens with lines that start-up opens");
	return NULL;
}

const char *refuse_lines(const struct bh_table *table, const struct table_limits *limits)
{
	const char *why = NULL;

	for (uint32_t n = 0; n < table->line_count && !why; n++) {
		why = refuse_line(table, limits, &table->lines[n]);
		for (uint32_t other = 0; other < n && !why; other++)
			why = refuse_both_lines(&table->lines[n], &table->lines[other]);
	}
	return why;
}
