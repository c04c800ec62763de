/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The validator of start-up (BH-I7.boot): a good table passes, and every invariant, broken alone under a right checksum, is refused in
 * its own words. Any single flipped bit is refused by the checksum.
 */
#include "check.h"
#include "good_table.h"
#include "table_channels.h"

#include <string.h>

#define FUNCTION(field, value) SET(pci_functions[GOOD_FUNCTION].field, value)
/* clang-format off: one invariant a line. */
static const struct broken broken[] = {
	/* header */
	{ "there is none; boot the image that `bulkhead image` or `bulkhead run` makes, not bulkhead.elf itself", { SET(magic, 0) } },
	{ "it has another version than this monitor; build both from the same sources", { SET(version, BH_TABLE_VERSION + 1) } },
	{ "it has another size than this monitor expects; build both from the same sources", { SET(size, sizeof(struct bh_table) - 8) } },
	{ "it was made for another platform; build the image for this one", { SET(platform[0], 'T') } },
	{ "it was made for another platform; build the image for this one", { SET(platform[12], 's') } },
	{ "it was made for another platform; build the image for this one", { SET(platform[4], 0) } },
	{ "it was made for a machine with another IOMMU, or without; build the image again", { SET(iommu, BH_IOMMU_NONE) } },
	{ "it was made for a machine with another IOMMU, or without; build the image again", { SET(iommu, BH_IOMMU_AMDVI) } },
	{ "core count out of range", { SET(core_count, 0) } },
	{ "core count out of range", { SET(core_count, BH_MAX_CORES + 1) } },
	{ "sandbox count out of range", { SET(sandbox_count, 0) } },
	{ "sandbox count out of range", { SET(sandbox_count, BH_MAX_SANDBOXES + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds",
	  { SET(region_count, BH_MAX_REGIONS + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds", { SET(port_count, BH_MAX_PORTS + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds", { SET(line_count, BH_MAX_LINES + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds", { SET(copy_count, BH_MAX_COPIES + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds", { SET(piece_count, BH_MAX_PIECES + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds",
	  { SET(pci_function_count, BH_MAX_PCI_FUNCTIONS + 1) } },
	{ "more regions, ports, lines, copies, pieces, functions or channels than a table holds",
	  { SET(channel_count, BH_MAX_CHANNELS + 1) } },
	/* cores */
	{ "a core has a hardware number that no core of this platform can have", { SET(hardware_id[3], 0x13) } },
	{ "a core has a hardware number that no core of this platform can have", { SET(hardware_id[3], 0xf0f) } },
	{ "two cores have the same hardware number", { SET(hardware_id[3], 0) } },
	{ "two cores have the same hardware number", { SET(hardware_id[1], 2) } },
	{ "a sandbox has no core, or more than one sandbox can have", { SET(sandboxes[1].core_count, 0) } },
	{ "a sandbox has no core, or more than one sandbox can have", { SET(sandboxes[1].core_count, BH_MAX_SANDBOX_CORES + 1) } },
	{ "a sandbox names a core the machine does not have", { SET(sandboxes[1].cores[0], 4) } },
	{ "a sandbox names a core the machine does not have", { SET(sandboxes[1].core_count, 2), SET(sandboxes[1].cores[1], 4) } },
	{ "a core is given twice", { SET(sandboxes[1].cores[0], 1) } },
	{ "a core is given twice", { SET(sandboxes[1].core_count, 2), SET(sandboxes[1].cores[1], 1) } },
	{ "a core is given twice", { SET(sandboxes[1].core_count, 2), SET(sandboxes[1].cores[1], 2) } },
	{ "may-kick names itself or no sandbox", { SET(sandboxes[0].may_kick, 1 << 0) } },
	{ "may-kick names itself or no sandbox", { SET(sandboxes[0].may_kick, 1 << 2) } },
	{ "notify names itself or no sandbox", { SET(sandboxes[0].notifies, 1 << 0) } },
	{ "notify names itself or no sandbox", { SET(sandboxes[0].notifies, 1 << 2) } },
	{ "notify names a sandbox that does not accept it", { SET(sandboxes[0].notifies, 1 << 1), SET(sandboxes[1].accepts, 1 << 1) } },
	{ "a sandbox is to do without a protection that there is not", { SET(sandboxes[0].unprotected, BH_PROTECT_ALL + 1) } },
	/* frames of monitors */
	{ "the shared page is misaligned or outside RAM", { SET(shared, 0x40400800) } },
	{ "the shared page is misaligned or outside RAM", { SET(shared, 0xc0000000) } },
	{ "the shared page is misaligned or outside RAM", { SET(shared, 0x3ffff000) } },
	{ "the shared page lies in the monitor image", { SET(shared, 0x4023f000) } },
	{ "the shared page lies in RAM reserved for firmware or start-up", { SET(shared, 0x400ff000) } },
	{ "the IOMMU's tables are misaligned or outside RAM", { SET(iommu_tables, 0x40601000) } },
	{ "the IOMMU's tables are misaligned or outside RAM", { SET(iommu_tables, 0xc0000000) } },
	{ "the IOMMU's tables are misaligned or outside RAM", { SET(iommu_tables, 0) } },
	{ "the IOMMU's tables overlap the monitor image or the shared page", { SET(iommu_tables, 0x40230000) } },
	{ "the IOMMU's tables overlap the monitor image or the shared page", { SET(iommu_tables, 0x40400000) } },
	{ "the IOMMU's tables lie in RAM reserved for firmware or start-up", { SET(iommu_tables, 0x40000000) } },
	{ "a pool overlaps the monitor image, the shared page or the IOMMU's tables", { SET(iommu_tables, 0x40450000) } },
	{ "a sandbox is given monitor frames", { SET(iommu_tables, 0x50ff0000) } },
	{ "a pool is misaligned or outside RAM", { SET(sandboxes[1].pool, 0x40499800) } },
	{ "a pool is misaligned or outside RAM", { SET(sandboxes[1].pool_bytes, 0x40800) } },
	{ "a pool is misaligned or outside RAM", { SET(sandboxes[1].pool, 0xbffd0000) } },
	{ "a pool is misaligned or outside RAM", { SET(sandboxes[1].pool_bytes, UINT64_C(0xfffffffffffff000)) } },
	{ "a pool is smaller or larger than one for so many cores can be", { SET(sandboxes[1].pool_bytes, 0) } },
	{ "a pool is smaller or larger than one for so many cores can be", { SET(sandboxes[1].pool_bytes, BH_POOL_ARENA) } },
	{ "a pool is smaller or larger than one for so many cores can be",
	  { SET(sandboxes[1].pool_bytes, BH_MAX_POOL_BYTES + BH_PAGE_BYTES) } },
	{ "a pool is smaller or larger than one for so many cores can be",
	  { SET(sandboxes[1].pool_bytes, BH_SMALL_POOL_BYTES + BH_PAGE_BYTES) } },
	{ "a pool is misaligned or outside RAM", { SET(sandboxes[1].pool, UINT64_C(0xffffffffffff0000)) } },
	{ "a pool overlaps the monitor image, the shared page or the IOMMU's tables", { SET(sandboxes[1].pool, 0x401c1000) } },
	{ "a pool overlaps the monitor image, the shared page or the IOMMU's tables", { SET(sandboxes[1].pool, 0x403c1000) } },
	{ "a pool lies in RAM reserved for firmware or start-up", { SET(sandboxes[1].pool, 0x400ff000) } },
	{ "a pool lies in RAM reserved for firmware or start-up", { SET(sandboxes[1].pool, 0xbff00000) } },
	{ "two pools overlap", { SET(sandboxes[1].pool, 0x4045f000) } },
	{ "two pools overlap", { SET(sandboxes[1].pool, 0x403d1000), SET(shared, 0x40700000) } },
	/* regions */
	{ "a region belongs to no sandbox", { SET(regions[GOOD_RAM].sandbox, 2) } },
	{ "a region is empty or not page aligned", { SET(regions[GOOD_RAM].size, 0) } },
	{ "a region is empty or not page aligned", { SET(regions[GOOD_RAM].size, 0x1000800) } },
	{ "a region is empty or not page aligned", { SET(regions[GOOD_RAM].gpa, 0x40000004) } },
	{ "a region is empty or not page aligned", { SET(regions[GOOD_RAM].hpa, 0x50000010) } },
	{ "a region wraps around", { SET(regions[GOOD_RAM].gpa, UINT64_C(0xfffffffffffff000)) } },
	{ "a region wraps around",
	  { SET(regions[GOOD_DEVICE].hpa, UINT64_C(0xfffffffffffff000)), SET(regions[GOOD_DEVICE].size, 0x2000) } },
	{ "a region has an impossible permission or memory type", { SET(regions[GOOD_RAM].permissions, BH_PERM_WRITE) } },
	{ "a region has an impossible permission or memory type", { SET(regions[GOOD_RAM].permissions, 15) } },
	{ "a region has an impossible permission or memory type", { SET(regions[GOOD_DEVICE].memory_type, 2) } },
	{ "a RAM region lies outside RAM", { SET(regions[GOOD_RAM].hpa, 0xbf001000) } },
	{ "a RAM region lies outside RAM", { SET(regions[GOOD_RAM].hpa, 0x3f000000) } },
	{ "a RAM region has device memory type", { SET(regions[GOOD_RAM].memory_type, BH_MEMORY_DEVICE) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_RAM].hpa, 0x4023f000), SET(regions[GOOD_RAM].size, 0x2000) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_RAM].hpa, 0x40400000), SET(regions[GOOD_RAM].size, 0x1000) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_RAM].hpa, 0x40410000), SET(regions[GOOD_RAM].size, 0x1000) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_RAM].hpa, 0x404cf000), SET(regions[GOOD_RAM].size, 0x2000) } },
	{ "a sandbox is given RAM reserved for firmware or start-up",
	  { SET(regions[GOOD_RAM].hpa, 0x400ff000), SET(regions[GOOD_RAM].size, 0x1000) } },
	{ "a sandbox is given RAM reserved for firmware or start-up", { SET(regions[GOOD_RAM].hpa, 0xbee01000) } },
	{ "a sandbox is given records of DMA where the IOMMU has none", { SET(regions[GOOD_FAULTS].hpa, 0x40604000) } },
	{ "a sandbox is given records of DMA where the IOMMU has none", { SET(regions[GOOD_FAULTS].size, 0x2000) } },
	{ "records of DMA are more than readable, or have device memory type",
	  { SET(regions[GOOD_FAULTS].permissions, BH_PERM_READ | BH_PERM_WRITE) } },
	{ "records of DMA are more than readable, or have device memory type",
	  { SET(regions[GOOD_FAULTS].memory_type, BH_MEMORY_DEVICE) } },
	{ "a region has an unknown kind", { SET(regions[GOOD_DEVICE].kind, 9) } },
	{ "a window into a pool has device memory type", { SET(regions[GOOD_OWN_LOG].memory_type, BH_MEMORY_DEVICE) } },
	{ "a sandbox is given device registers that only monitors may touch", { SET(regions[GOOD_DEVICE].hpa, 0x08000000) } },
	{ "a sandbox is given device registers that only monitors may touch", { SET(regions[GOOD_DEVICE].hpa, 0x0800f000) } },
	{ "a sandbox is given device registers that only monitors may touch",
	  { SET(regions[GOOD_DEVICE].hpa, 0x08090000), SET(regions[GOOD_DEVICE].size, 0x11000) } },
	{ "a sandbox is given device registers that only monitors may touch", { SET(regions[GOOD_BANKED].hpa, 0x0800f000) } },
	{ "a region claims to be banked per core and is not", { SET(regions[GOOD_BANKED].size, 0x3000) } },
	{ "a region claims to be banked per core and is not", { SET(regions[GOOD_DEVICE].kind, BH_REGION_BANKED) } },
	{ "a device region overlaps RAM", { SET(regions[GOOD_DEVICE].hpa, 0xbffff000) } },
	{ "a sandbox is given the whole of a device that all share", { SET(regions[GOOD_DEVICE].hpa, 0x08011000) } },
	{ "device registers are executable or cached", { SET(regions[GOOD_DEVICE].permissions, 7) } },
	{ "device registers are executable or cached", { SET(regions[GOOD_BANKED].permissions, 7) } },
	{ "device registers are executable or cached", { SET(regions[GOOD_DEVICE].memory_type, BH_MEMORY_RAM) } },
	/* BH-I1.dma */
	{ "a sandbox is given device registers that are not known to be free of DMA", { SET(regions[GOOD_DEVICE].dma, BH_DMA_UNKNOWN) } },
	{ "a sandbox is given device registers that are not known to be free of DMA", { SET(regions[GOOD_FOREIGN_DEVICE].dma, 2) } },
	{ "a sandbox is given device registers that are not known to be free of DMA", { SET(regions[GOOD_BAR].dma, BH_DMA_UNKNOWN) } },
	{ "a sandbox is given I/O ports that are not known to be free of DMA", { SET(ports[0].dma, BH_DMA_UNKNOWN) } },
	{ "a sandbox is given I/O ports that are not known to be free of DMA", { SET(ports[2].dma, BH_DMA_UNPROTECTED) } },
	{ "a sandbox is given a PCI function that is not known to be free of DMA, and that no IOMMU translates",
	  { SET(pci_functions[GOOD_FUNCTION].dma, BH_DMA_UNKNOWN) } },
	{ "a sandbox is given a PCI function that is not known to be free of DMA, and that no IOMMU translates",
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].dma, BH_DMA_UNPROTECTED) } }, /* the machine has an IOMMU */
	{ "a sandbox is given a PCI function that is not known to be free of DMA, and that no IOMMU translates",
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].dma, BH_DMA_UNPROTECTED + 1) } },
	{ "memory or device registers are given twice", { SET(regions[GOOD_RAM].hpa, 0x60fff000) } },
	{ "memory or device registers are given twice", { SET(regions[GOOD_FOREIGN_DEVICE].hpa, 0x09000000) } },
	/* what is open to a sandbox without a protection */
	{ "a protected sandbox is given what is open to others", { SET(regions[GOOD_DEVICE].kind, BH_REGION_OPEN) } },
	{ "a protected sandbox is given what is open to others",
	  { SET(regions[GOOD_DEVICE].kind, BH_REGION_OPEN),
	    SET(sandboxes[0].unprotected, BH_PROTECT_ALL & ~(BH_PROTECT_MEMORY | BH_PROTECT_IRQ)) } },
	{ "a protected sandbox is given what is open to others",
	  { SET(regions[GOOD_RAM].kind, BH_REGION_OPEN), SET(sandboxes[0].unprotected, BH_PROTECT_ALL & ~BH_PROTECT_MEMORY) } },
	{ "a stretch that is open has the memory type of another",
	  { SET(regions[GOOD_DEVICE].kind, BH_REGION_OPEN), SET(regions[GOOD_DEVICE].hpa, 0xbffff000),
	    SET(sandboxes[0].unprotected, BH_PROTECT_IRQ) } },
	{ "a stretch that is open has the memory type of another",
	  { SET(regions[GOOD_RAM].kind, BH_REGION_OPEN), SET(regions[GOOD_RAM].hpa, 0x3f000000),
	    SET(sandboxes[0].unprotected, BH_PROTECT_MEMORY) } },
	{ "a protected sandbox is given what is open to others",
	  { SET(regions[GOOD_RAM].kind, BH_REGION_DMA), SET(sandboxes[0].unprotected, BH_PROTECT_ALL & ~BH_PROTECT_DMA) } },
	{ "a protected sandbox is given what is open to others",
	  { SET(regions[GOOD_DEVICE].kind, BH_REGION_DMA), SET(sandboxes[0].unprotected, BH_PROTECT_ALL & ~BH_PROTECT_DMA) } },
	{ "device registers are executable or cached",
	  { SET(regions[GOOD_DEVICE].kind, BH_REGION_OPEN), SET(regions[GOOD_DEVICE].permissions, 7),
	    SET(sandboxes[0].unprotected, BH_PROTECT_MEMORY) } },
	/* windows into pools */
	{ "a sandbox's own statistics or information page is more than readable", { SET(regions[GOOD_OWN_PAGES].permissions, 3) } },
	{ "a sandbox's own statistics or information page is more than readable", { SET(regions[GOOD_OWN_PAGES].permissions, 5) } },
	{ "a log is writable by another sandbox, or executable", { SET(regions[GOOD_OWN_LOG].permissions, 7) } },
	{ "a log is writable by another sandbox, or executable", { SET(regions[GOOD_FOREIGN_LOG].permissions, 3) } },
	{ "a log is writable by another sandbox, or executable", { SET(regions[GOOD_FOREIGN_LOG].permissions, 5) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_OWN_PAGES].size, 0x3000) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_OWN_PAGES].sandbox, 1) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_OWN_LOG].size, BH_LOG_BYTES + 0x1000) } },
	{ "a sandbox is given monitor frames", { SET(regions[GOOD_OWN_LOG].hpa, 0x50000000) } },
	/* PCI functions */
	{ "a PCI function belongs to no sandbox", { SET(pci_functions[GOOD_FOREIGN_FUNCTION].sandbox, 2) } },
	{ "a PCI function is on a bus that the machine does not have", { SET(pci_functions[GOOD_FOREIGN_FUNCTION].id, 0x100) } },
	{ "a PCI function is given twice", { SET(pci_functions[GOOD_FOREIGN_FUNCTION].id, 0x18) } },
	{ "a PCI function interrupts by a line, and its sandbox has none", { FUNCTION(line, 2) } },
	{ "a PCI function interrupts by a line, and its sandbox has none",
	  { FUNCTION(line, 1), SET(lines[0].sandbox, 1), SET(lines[0].core, 2) } },
	{ "a base address of a PCI function is one that no register can hold", { FUNCTION(bar_mask[0], 0) } },
	{ "a base address of a PCI function is one that no register can hold", { FUNCTION(bar_mask[0], 0xffd00000) } },
	{ "a base address of a PCI function is one that no register can hold", { FUNCTION(bar_mask[0], 0xfff00008) } },
	{ "a base address of a PCI function is one that no register can hold", { FUNCTION(bar[0], 0x10080000) } },
	{ "a base address of a PCI function is one that no register can hold", { FUNCTION(bar_mask[2], 0xfffffffe) } },
	{ "a base address of a PCI function is one that no register can hold",
	  { FUNCTION(bar[5], 0x20100004), FUNCTION(bar_mask[5], 0xffff0004) } },
	{ "a base address of a PCI function is one that no register can hold",
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar_mask[1], 0xfffffff0) } },
	{ "a base address of a PCI function is one that no register can hold", /* nothing but what says its kind */
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[3], 8), SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar_mask[3], 8) } },
	{ "a base address of a PCI function lies outside the windows of the machine", /* a register at 0 is one, too */
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar_mask[3], 0xfffff000) } },
	{ "a base address of a PCI function lies outside the windows of the machine", { FUNCTION(bar[0], 0x0ff00000) } },
	{ "a base address of a PCI function lies outside the windows of the machine", { FUNCTION(bar[0], 0x30000000) } },
	{ "a base address of a PCI function lies outside the windows of the machine", { FUNCTION(bar[2], 1) } },
	{ "a base address of a PCI function lies outside the windows of the machine",
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[1], 0xbff1) } },
	{ "a base address of a PCI function lies outside the windows of the machine",
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[1], 0x10001) } },
	{ "base addresses of PCI functions overlap", { FUNCTION(bar[1], 0x10000004) } },
	{ "base addresses of PCI functions overlap", { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[2], 0x100ff008) } },
	{ "base addresses of two sandboxes' PCI functions lie in one page",
	  { FUNCTION(bar[3], 0x10100800), FUNCTION(bar_mask[3], 0xffffff00),
	    SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar_mask[2], 0xffffff08) } },
	{ "base addresses of PCI functions overlap",
	  { SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[3], 0xc001), SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar_mask[3], 0xffffffe1) } },
	{ "a region claims to be a base address of a PCI function of its sandbox and is not", { SET(regions[GOOD_BAR].sandbox, 1) } },
	{ "a region claims to be a base address of a PCI function of its sandbox and is not", { SET(regions[GOOD_BAR].hpa, 0x10001000) } },
	{ "a region claims to be a base address of a PCI function of its sandbox and is not", { SET(regions[GOOD_BAR].size, 0x200000) } },
	{ "a region claims to be a base address of a PCI function of its sandbox and is not", { SET(regions[GOOD_BAR].size, 0x1000) } },
	{ "a region claims to be a base address of a PCI function of its sandbox and is not", { SET(regions[GOOD_PORTS_BAR].sandbox, 0) } },
	{ "a region claims to be a base address of a PCI function of its sandbox and is not",
	  { SET(regions[GOOD_PORTS_BAR].hpa, 0x3effd000) } },
	{ "a sandbox is given device registers that only monitors may touch", { SET(regions[GOOD_BAR].kind, BH_REGION_DEVICE) } },
	{ "device registers are executable or cached", { SET(regions[GOOD_BAR].permissions, 7) } },
	{ "memory or device registers are given twice",
	  { SET(regions[GOOD_FOREIGN_DEVICE].hpa, 0x10100000), SET(regions[GOOD_FOREIGN_DEVICE].kind, BH_REGION_BAR),
	    SET(regions[GOOD_PORTS_BAR].hpa, 0x10100000) } },
	{ "a sandbox is given I/O ports of the machine itself", { SET(ports[2].sandbox, 0) } },
	{ "a sandbox is given I/O ports of the machine itself", { SET(ports[2].first, 0xc008) } },
	{ "a sandbox is given I/O ports of the machine itself", { SET(ports[2].count, 0x20) } },
	/* ports and lines */
	{ "I/O ports belong to no sandbox", { SET(ports[1].sandbox, 2) } },
	{ "an I/O port range is empty or leaves the port space", { SET(ports[1].count, 0) } },
	{ "an I/O port range is empty or leaves the port space", { SET(ports[1].first, 0xfff9) } },
	{ "a sandbox is given I/O ports of the machine itself", { SET(ports[1].first, 0x59) } },
	{ "a sandbox is given I/O ports of the machine itself", { SET(ports[1].first, 0x64) } },
	{ "a sandbox is given I/O ports of the machine itself", { SET(ports[1].first, 0xcff) } },
	{ "I/O ports are given twice", { SET(ports[1].first, 0x3ff) } },
	{ "an interrupt line belongs to no sandbox", { SET(lines[1].sandbox, 2) } },
	{ "an interrupt line is not a device's", { SET(lines[1].line, 31) } },
	{ "an interrupt line is not a device's", { SET(lines[0].line, 0) } },
	{ "an interrupt line is not a device's", { SET(lines[1].line, 45) } },
	{ "an interrupt line has a vector of the processor's own", { SET(lines[1].vector, 0x1f) } },
	{ "an interrupt line has a vector of the processor's own", { SET(lines[0].vector, 0) } },
	{ "an interrupt line goes to another core than its sandbox's first", { SET(lines[1].core, 1) } },
	{ "an interrupt line goes to another core than its sandbox's first", { SET(lines[1].core, 3) } },
	{ "an interrupt line goes to another core than its sandbox's first",
	  { SET(sandboxes[1].core_count, 2), SET(sandboxes[1].cores[1], 3), SET(lines[1].core, 3) } },
	{ "an interrupt line is given twice", { SET(lines[1].line, 33) } },
	{ "two interrupt lines share a vector", { SET(lines[1].vector, 0x41) } },
	{ "a level-triggered line has a vector that another sandbox may choose", { SET(lines[1].vector, 0x40) } },
	{ "a level-triggered line has a vector beyond those of such lines", { SET(lines[1].vector, 0xff) } },
	{ "a sandbox mixes lines that its guest opens with lines that start-up opens",
	  { SET(lines[1].sandbox, 0), SET(lines[1].core, 1), SET(lines[0].flags, BH_LINE_MASKED) } },
	{ "two sandboxes choose vectors of level-triggered lines",
	  { SET(lines[0].flags, BH_LINE_LEVEL | BH_LINE_MASKED), SET(lines[1].flags, BH_LINE_LEVEL | BH_LINE_MASKED) } },
	/* payload */
	{ "a sandbox would start outside its executable memory", { SET(sandboxes[0].entry, 0x41000000) } },
	{ "a sandbox would start outside its executable memory", { SET(sandboxes[0].entry, 0x3fffffff) } },
	{ "a sandbox would start outside its executable memory", { SET(sandboxes[0].entry, 0x0c000000) } },
	{ "a clock text lies outside its sandbox's RAM", { SET(sandboxes[1].clock_text, 0x60fffff8) } },
	{ "a clock text lies outside its sandbox's RAM", { SET(sandboxes[1].clock_text, 0x50000000) } },
	{ "a piece of the boot module is empty or not in whole pages", { SET(copies[GOOD_KERNEL].size, 0) } },
	{ "a piece of the boot module is empty or not in whole pages", { SET(copies[GOOD_KERNEL].size, 0x2008) } },
	{ "a piece of the boot module is empty or not in whole pages", { SET(copies[GOOD_KERNEL].target, 0x50080800) } },
	{ "a piece of the boot module is empty or not in whole pages", { SET(copies[GOOD_KERNEL].offset, 0x1010) } },
	{ "a piece of the boot module belongs to no sandbox", { SET(copies[GOOD_KERNEL].sandbox, 2) } },
	{ "a piece of the boot module would go outside its sandbox's memory", { SET(copies[GOOD_KERNEL].sandbox, 1) } },
	{ "a piece of the boot module would go outside its sandbox's memory", { SET(copies[GOOD_KERNEL].target, 0x50fff000) } },
	{ "a piece of the boot module would go outside its sandbox's memory", { SET(copies[GOOD_KERNEL].target, 0x4ffff000) } },
	{ "a piece of the boot module would go outside its sandbox's memory",
	  { SET(copies[GOOD_KERNEL].size, UINT64_C(0xfffffffffffff000)) } },
	{ "a piece of the boot module would go outside its sandbox's memory", { SET(copies[GOOD_INFO].target, 0x40410000) } },
	{ "a piece of the boot module would go outside its sandbox's memory", { SET(copies[GOOD_INFO].sandbox, 1) } },
	{ "a piece of the boot module would go outside its sandbox's memory", { SET(copies[GOOD_INFO].size, 0x2000) } },
	{ "the pieces of the boot module leave a gap or overlap", { SET(copies[GOOD_KERNEL].offset, 0x2000) } },
	{ "the pieces of the boot module leave a gap or overlap", { SET(copies[GOOD_FOREIGN_KERNEL].offset, 0x2000) } },
	{ "the pieces of the boot module are not in the order of their places", { SET(copies[GOOD_INFO].target, 0x50090000) } },
	{ "the pieces of the boot module are not in the order of their places",
	  { SET(copies[GOOD_FOREIGN_KERNEL].target, 0x50081000), SET(copies[GOOD_FOREIGN_KERNEL].sandbox, 0) } },
	{ "the boot module is larger or smaller than its pieces", { SET(module_bytes, 0x3000) } },
	{ "the boot module is larger or smaller than its pieces", { SET(module_bytes, 0) } },
	{ "the boot module is larger or smaller than its pieces", { SET(copy_count, GOOD_COPIES - 1) } },
	/* restarts */
	{ "a sandbox has an unknown answer to faults", { SET(sandboxes[1].on_fault, 2) } },
	{ "a sandbox restarts too often, or without its answer to faults saying so", { SET(sandboxes[0].max_restarts, 1) } },
	{ "a sandbox restarts too often, or without its answer to faults saying so",
	  { SET(sandboxes[1].max_restarts, BH_MAX_RESTARTS + 1) } },
	{ "a sandbox restarts without a boot snapshot, or has one without restarting", { SET(sandboxes[1].snapshot_bytes, 0) } },
	{ "a sandbox restarts without a boot snapshot, or has one without restarting", { SET(sandboxes[0].snapshot, 0x71000000) } },
	{ "a sandbox restarts without a boot snapshot, or has one without restarting", { SET(sandboxes[0].snapshot_bytes, 0x1000) } },
	{ "a boot snapshot is not in whole pages or outside RAM", { SET(sandboxes[1].snapshot, 0x70000800) } },
	{ "a boot snapshot is not in whole pages or outside RAM", { SET(sandboxes[1].snapshot_bytes, 0x3008) } },
	{ "a boot snapshot is not in whole pages or outside RAM", { SET(sandboxes[1].snapshot, 0xbffff000) } },
	{ "a boot snapshot overlaps monitor frames, or RAM reserved for firmware or start-up", { SET(sandboxes[1].snapshot, 0x4023f000) } },
	{ "a boot snapshot overlaps monitor frames, or RAM reserved for firmware or start-up", { SET(sandboxes[1].snapshot, 0x403fe000) } },
	{ "a boot snapshot overlaps monitor frames, or RAM reserved for firmware or start-up", { SET(sandboxes[1].snapshot, 0x4048f000) } },
	{ "a boot snapshot overlaps monitor frames, or RAM reserved for firmware or start-up", { SET(sandboxes[1].snapshot, 0xbfdfe000) } },
	{ "a sandbox is given a boot snapshot", { SET(sandboxes[1].snapshot, 0x50fff000) } },
	{ "a sandbox is given a boot snapshot", { SET(sandboxes[1].snapshot, 0x5fffe000) } },
	{ "two boot snapshots overlap",
	  { SET(sandboxes[0].on_fault, BH_ON_FAULT_RESTART), SET(sandboxes[0].snapshot, 0x70002000),
	    SET(sandboxes[0].snapshot_bytes, 0x1000) } },
	{ "a piece of a boot snapshot belongs to no sandbox", { SET(pieces[1].sandbox, 2) } },
	{ "a piece of a boot snapshot is empty or not in whole pages", { SET(pieces[0].size, 0) } },
	{ "a piece of a boot snapshot is empty or not in whole pages", { SET(pieces[1].size, 0x2008) } },
	{ "a piece of a boot snapshot is empty or not in whole pages", { SET(pieces[1].target, 0x60100800) } },
	{ "a piece of a boot snapshot is empty or not in whole pages", { SET(pieces[0].offset, 0x10) } },
	{ "a piece of a boot snapshot would go outside its sandbox's memory", { SET(pieces[1].target, 0x60fff000) } },
	{ "a piece of a boot snapshot would go outside its sandbox's memory", { SET(pieces[0].target, 0x50000000) } },
	{ "a piece of a boot snapshot would go outside its sandbox's memory", { SET(pieces[0].sandbox, 0) } },
	{ "the pieces of a boot snapshot leave a gap or overlap", { SET(pieces[1].offset, 0x2000) } },
	{ "the pieces of a boot snapshot leave a gap or overlap", { SET(pieces[0].offset, 0x1000) } },
	{ "the pieces of a boot snapshot leave a gap or overlap", { SET(pieces[0].target, 0x60101000) } },
	{ "a boot snapshot is larger or smaller than its pieces", { SET(sandboxes[1].snapshot_bytes, 0x4000) } },
	{ "a boot snapshot is larger or smaller than its pieces", { SET(sandboxes[1].snapshot_bytes, 0x2000) } },
	{ "a boot snapshot is larger or smaller than its pieces", { SET(piece_count, 1) } },
};

/* Just inside the limits. */
static const struct patch accepted[][PATCHES] = {
	{ RING(kind, BH_CHANNEL_LATEST), RING(slots, 4) },
	{ RING(kind, BH_CHANNEL_LATEST), RING(slots, 16) },
	{ SET(core_count, 3), SET(hardware_id[3], 0) },
	{ SET(sandboxes[1].core_count, 2), SET(sandboxes[1].cores[1], 3) },
	{ SET(regions[GOOD_DEVICE].hpa, 0x07fff000) },
	{ SET(regions[GOOD_BANKED].dma, BH_DMA_FREE), SET(regions[GOOD_OWN_LOG].dma, BH_DMA_FREE) },
	{ SET(regions[GOOD_DEVICE].hpa, 0x08012000) },
	{ SET(regions[GOOD_DEVICE].hpa, 0x08090000), SET(regions[GOOD_DEVICE].size, 0x10000) },
	{ SET(hardware_id[3], 0xf0e) },
	{ SET(shared, 0x40100000) },
	{ SET(regions[GOOD_RAM].hpa, 0xbee00000), SET(copy_count, 0), SET(module_bytes, 0) },
	{ SET(ports[1].first, 0x58) },
	{ SET(ports[1].first, 0xd00) },
	{ SET(lines[0].line, 32), SET(lines[0].vector, 0x20), SET(lines[0].flags, 0) },
	{ SET(lines[0].vector, 0x20), SET(lines[0].flags, BH_LINE_LEVEL | BH_LINE_MASKED) },
	{ SET(lines[1].sandbox, 0), SET(lines[1].core, 1), SET(lines[0].flags, BH_LINE_LEVEL | BH_LINE_MASKED),
	  SET(lines[1].flags, BH_LINE_LEVEL | BH_LINE_MASKED) },
	{ SET(copies[GOOD_FOREIGN_KERNEL].target, 0x60fff000) },
	{ SET(sandboxes[1].snapshot, 0x5fffd000) },
	{ SET(sandboxes[1].snapshot, 0x61000000), SET(pieces[1].target, 0x60ffe000) },
	{ SET(copies[GOOD_FOREIGN_KERNEL].target, 0x50082000), SET(copies[GOOD_FOREIGN_KERNEL].sandbox, 0) },
	{ SET(copy_count, 0), SET(module_bytes, 0) },
	{ SET(pci_functions[GOOD_FOREIGN_FUNCTION].id, 0xff) },
	{ SET(pci_functions[GOOD_FUNCTION].bar[0], 0x2ff00000), SET(regions[GOOD_BAR].hpa, 0x2ff00000) },
	{ SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[1], 0xfff1), SET(ports[2].first, 0xfff0),
	  SET(regions[GOOD_PORTS_BAR].hpa, 0x3efff000) },
};

/* clang-format on */

static struct bh_table table;

static void apply(const struct patch *patch)
{
	memcpy((uint8_t *)&table + patch->offset, &patch->value, patch->bytes); /* little-endian, as the table */
}

static void check_refused_within(const struct table_limits *limits, const char *why)
{
	const char *said = table_refuse(&table, limits);

	if (said && !strcmp(said, why))
		return;
	fprintf(stderr, "row %" PRIu64 ": expected: %s\n     instead: %s\n", check_context.round, why, said ? said : "(accepted)");
	exit(1);
}

static void check_refused(const char *why)
{
	check_refused_within(&good_limits, why);
}

static void test_good(void)
{
	good_table(&table);
	CHECK(!table_refuse(&table, &good_limits));
}

static void patched_table(const struct patch patches[PATCHES])
{
	good_table(&table);
	for (unsigned n = 0; n < PATCHES; n++)
		apply(&patches[n]);
	table_sign(&table);
}

static void check_broken(const struct broken *rows, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		check_context.round = n;
		patched_table(rows[n].patches);
		check_refused(rows[n].why);
	}
}

static void test_broken(void)
{
	check_broken(broken, sizeof(broken) / sizeof(broken[0]));
	check_context.subject = "channels of the partition table";
	check_broken(broken_channels, sizeof(broken_channels) / sizeof(broken_channels[0]));
	check_context.subject = "partition table";
}

static void check_accepted(const struct patch (*rows)[PATCHES], size_t count)
{
	for (size_t n = 0; n < count; n++) {
		check_context.round = n;
		patched_table(rows[n]);
		CHECK(!table_refuse(&table, &good_limits));
	}
}

static void test_accepted(void)
{
	check_accepted(accepted, sizeof(accepted) / sizeof(accepted[0]));
	check_accepted(accepted_channels, sizeof(accepted_channels) / sizeof(accepted_channels[0]));
}

/* On a machine whose memory window has addresses that are port numbers, too: memory is no ports. */
static void test_memory_is_no_ports(void)
{
	static const struct patch memory[PATCHES] = {
		SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar[3], 0xd000),
		SET(pci_functions[GOOD_FOREIGN_FUNCTION].bar_mask[3], 0xfffff000),
	};
	struct table_limits limits = good_limits;
	struct board board = *limits.board;

	check_context.round = 0;
	board.pci.window = (struct board_span){ 0, 0x30000000 };
	limits.board = &board;
	patched_table(memory);
	CHECK(!table_refuse(&table, &limits));
	table.ports[2].first = 0xd000;
	table.ports[2].count = 0x1000;
	table_sign(&table);
	check_refused_within(&limits, "a sandbox is given I/O ports of the machine itself");
}

static void test_every_bit(void)
{
	good_table(&table);
	for (size_t bit = 0; bit < sizeof(table) * 8; bit++) {
		uint8_t *byte = (uint8_t *)&table + bit / 8;

		check_context.round = bit;
		*byte ^= (uint8_t)(1 << bit % 8);
		CHECK(table_refuse(&table, &good_limits));
		*byte ^= (uint8_t)(1 << bit % 8);
	}
	CHECK(!table_refuse(&table, &good_limits));
}

static void test_damaged(void)
{
	check_context.round = 0;
	good_table(&table);
	table.sandboxes[0].arg ^= 1;
	check_refused("its checksum is wrong: the image was damaged or cut short; build or copy it again");
	good_table(&table);
	memset((uint8_t *)&table + sizeof(table) / 2, 0, sizeof(table) - sizeof(table) / 2);
	check_refused("its checksum is wrong: the image was damaged or cut short; build or copy it again");
}

/* RAM in two pieces with a hole between: what lies in either is RAM, what reaches into the hole is not. */
static void test_split_ram(void)
{
	const uint64_t end = 0x60000000 + 0x1000000; /* of the second sandbox's RAM */
	struct table_limits limits = good_limits;
	struct board board = *limits.board;
	struct board_span ram[] = { { 0x40000000, end - 0x40000000 }, { 0x70000000, 0x50000000 } };

	board.ram = (struct board_spans){ ram, 2 };
	limits.board = &board;
	good_table(&table);
	CHECK(!table_refuse(&table, &limits));
	ram[0].bytes -= BH_PAGE_BYTES;
	check_refused_within(&limits, "a RAM region lies outside RAM");
	ram[0].bytes += BH_PAGE_BYTES;
	ram[1].start += BH_PAGE_BYTES;
	CHECK(table_refuse(&table, &limits));
}

/* What a loader may bring. The good module is one of zeros, where this program has it: that has to be in RAM. */
static _Alignas(BH_PAGE_BYTES) uint64_t module[0x4000 / sizeof(uint64_t)];

static const struct brought {
	const char *why; /* NULL: accepted */
	uint32_t count;
	int64_t start, bytes; /* beyond the good module's */
	int64_t image;        /* where the image starts, beyond the module's start */
} brought[] = {
	{ NULL, 1, 0, 0, 0x4000 },
	{ NULL, 1, 0, 0, -0x10000 },
	{ "the loader brought none; let it load the file made with the image, as a module after it", 0, 0, 0, 0x4000 },
	{ "the loader brought more than this image has; let it load only the files made with the image", 2, 0, 0, 0x4000 },
	{ "it has another size than the image expects: cut short, or made with another image", 1, 0, -1, 0x4000 },
	{ "it has another size than the image expects: cut short, or made with another image", 1, 0, 0x1000, 0x8000 },
	{ "it is misaligned or outside RAM", 1, 8, 0, 0x8000 },
	{ "it is misaligned or outside RAM", 1, -0x200000, 0, 0x4000 },
	{ "it is misaligned or outside RAM", 1, 0x1fd000, 0, 0x4000 },
	{ "it overlaps the monitor image", 1, 0, 0, 0x3fff },
	{ "it overlaps the monitor image", 1, 0, 0, -0xffff },
};

static void check_brought(const struct brought *row)
{
	uint64_t here = (uintptr_t)module;
	const struct arch_modules modules = { row->count, here + (uint64_t)row->start, sizeof(module) + (uint64_t)row->bytes };
	const struct board_span ram = { here - 0x100000, 0x300000 };
	struct table_limits limits = good_limits;
	struct board board = *limits.board;
	const char *said;

	board.ram = (struct board_spans){ &ram, 1 };
	limits.board = &board;
	limits.image_start = here + (uint64_t)row->image;
	limits.image_end = limits.image_start + 0x10000;
	said = table_refuse_modules(&table, &limits, &modules);
	CHECK(row->why ? said && !strcmp(said, row->why) : !said);
}

/* What device DMA did to the module before it was ended is found as well: pieces are read where they have come to lie. */
static void test_spread(void)
{
	static const char wrong[] = "its checksum is wrong: it was damaged, or made with another image; build or copy both again";
	const uint64_t middle = sizeof(module) / 2;
	uint64_t *damaged[] = { &module[0], &module[middle / 8 - 1], &module[middle / 8], &module[sizeof(module) / 8 - 1] };
	const char *said;

	good_table(&table);
	table.copy_count = 2;
	table.copies[0] = (struct bh_copy){ .target = (uintptr_t)module, .size = middle };
	table.copies[1] = (struct bh_copy){ .offset = middle, .target = (uintptr_t)module + middle, .size = middle };
	CHECK(!table_refuse_spread(&table));
	for (check_context.round = 0; check_context.round < sizeof(damaged) / sizeof(damaged[0]); check_context.round++) {
		*damaged[check_context.round] ^= UINT64_C(1) << 63;
		said = table_refuse_spread(&table);
		CHECK(said && !strcmp(said, wrong));
		*damaged[check_context.round] ^= UINT64_C(1) << 63;
	}
	table.copy_count = 0;
	table.module_bytes = 0;
	CHECK(!table_refuse_spread(&table));
}

static void test_modules(void)
{
	static const struct arch_modules none = { 0 }, one = { .count = 1 };

	check_context.subject = "boot module";
	good_table(&table);
	for (unsigned n = 0; n < sizeof(brought) / sizeof(brought[0]); n++) {
		check_context.round = n;
		check_brought(&brought[n]);
	}
	table.module_bytes = 0;
	CHECK(!table_refuse_modules(&table, &good_limits, &none));
	CHECK(table_refuse_modules(&table, &good_limits, &one));
}

int main(void)
{
	check_context.subject = "partition table";
	test_good();
	test_broken();
	test_accepted();
	test_memory_is_no_ports();
	test_damaged();
	test_every_bit();
	test_split_ram();
	test_modules();
	test_spread();
	return 0;
}
