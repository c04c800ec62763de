/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What x86 processors and their IOMMUs walk. Intel and AMD share the geometry (four levels of 512 slots, bit 7 tells a large leaf from a
 * table) and differ in permissions and memory types.
 *
 * SDM: Intel 64 and IA-32 Architectures Software Developer's Manual. APM: AMD64 Architecture Programmer's Manual.
 */
#include "hal/pt/format.h"

/*
 * SDM vol. 3C, 29.3.2 "EPT Translation Mechanism": bits 2:0 read, write, execute; all zero is not present; bit 7 large.
 * 29.3.7.2 "Memory Type Used for Translated Guest-Physical Addresses": bits 5:3, 6 = WB, 0 = UC; bit 6 (ignore PAT) 0: a guest
 * may weaken the type of its RAM; of UC it can make nothing but WC. Control: 25.6.11 "Extended-Page-Table Pointer (EPTP)":
 * bits 2:0 tables are WB, bits 5:3 one less than four levels, bit 6 no accessed and dirty flags.
 */
#define EPT_READ    BIT(0)
#define EPT_WRITE   BIT(1)
#define EPT_EXECUTE BIT(2)
#define EPT_TYPE_WB (UINT64_C(6) << 3)
#define EPT_LARGE   BIT(7)
const struct pt_format pt_ept = {
	.name = "EPT",
	.control = 3 << 3 | 6,
	.address = BITS(51, 12),
	.ia_bits = 48,
	.oa_bits = 52,
	.levels = 4,
	.leaf_levels = LEAVES,
	.permissions = SETS_WITH_RWX,
	.present = EPT_READ | EPT_WRITE | EPT_EXECUTE,
	.kind = EPT_LARGE,
	.table = EPT_READ | EPT_WRITE | EPT_EXECUTE,
	.page = 0,
	.block = EPT_LARGE,
	.permission = {
		[R] = EPT_READ,
		[RW] = EPT_READ | EPT_WRITE,
		[RX] = EPT_READ | EPT_EXECUTE,
		[RWX] = EPT_READ | EPT_WRITE | EPT_EXECUTE,
	},
	.memory = { [HAL_MEMORY_RAM] = EPT_TYPE_WB, [HAL_MEMORY_DEVICE] = 0 },
};

/*
 * APM vol. 2, 5.4.1 "Field Definitions". Accessed and dirty are set beforehand, so that the processor never writes to a table.
 * Memory types choose a PAT entry as it is after reset (7.8.1 "PAT Register"): 0 = WB, 3 (PCD and PWT) = UC.
 */
#define X86_PRESENT     BIT(0)
#define X86_WRITE       BIT(1)
#define X86_USER        BIT(2)
#define X86_PWT         BIT(3)
#define X86_PCD         BIT(4)
#define X86_ACCESSED    BIT(5)
#define X86_DIRTY       BIT(6)
#define X86_LARGE       BIT(7)
#define X86_NO_EXECUTE  BIT(63)
#define X86_PERMISSIONS { [R] = X86_NO_EXECUTE, [RW] = X86_NO_EXECUTE | X86_WRITE | X86_DIRTY, [RX] = 0, [RWX] = X86_WRITE | X86_DIRTY }
#define X86_MEMORY      { [HAL_MEMORY_RAM] = 0, [HAL_MEMORY_DEVICE] = X86_PCD | X86_PWT }

/*
 * APM vol. 2, 15.25.5 "Nested Table Walk": a guest's accesses are user accesses here, in every entry; the host's EFER.NXE must be
 * set while the guest runs. 15.25.8 "Combining Memory Types, MTRRs". Control: N_CR3, laid out as CR3.
 */
const struct pt_format pt_npt = {
	.name = "NPT",
	.control = 0,
	.address = BITS(51, 12),
	.ia_bits = 48,
	.oa_bits = 52,
	.levels = 4,
	.leaf_levels = LEAVES,
	.permissions = SETS_WITH_RWX,
	.present = X86_PRESENT,
	.kind = X86_LARGE,
	.table = X86_PRESENT | X86_WRITE | X86_USER | X86_ACCESSED,
	.page = X86_PRESENT | X86_USER | X86_ACCESSED,
	.block = X86_PRESENT | X86_USER | X86_ACCESSED | X86_LARGE,
	.permission = X86_PERMISSIONS,
	.memory = X86_MEMORY,
};

/*
 * APM vol. 2, 5.3 "Long-Mode Page Translation"; SDM vol. 3A, 4.5 "4-Level Paging and 5-Level Paging". The lower canonical half,
 * supervisor only. Control: CR3.
 */
const struct pt_format pt_long = {
	.name = "long mode",
	.control = 0,
	.address = BITS(51, 12),
	.ia_bits = 47,
	.oa_bits = 52,
	.levels = 4,
	.leaf_levels = LEAVES,
	.permissions = SETS_WITHOUT_RWX,
	.present = X86_PRESENT,
	.kind = X86_LARGE,
	.table = X86_PRESENT | X86_WRITE | X86_ACCESSED,
	.page = X86_PRESENT | X86_ACCESSED,
	.block = X86_PRESENT | X86_ACCESSED | X86_LARGE,
	.permission = X86_PERMISSIONS,
	.memory = X86_MEMORY,
};

/*
 * IOMMU: AMD I/O Virtualization Technology (IOMMU) Specification, 2.2.3 "I/O Page Tables for Host Translations": bit 0 PR, bits 11:9 the
 * level of the next table, 0 in a leaf, whose size is then that of its level; 61 IR, 62 IW, which entries on the way have, too; 60 FC in a
 * leaf: what a function says of coherency does not count, accesses see caches. Bit 1 is software's: in entries that point to tables. All
 * accesses pass or none, so of memory types there is one. Control: V, TV, a root of level 4 (mode), IR, IW of 2.2.2.1 "Device Table Entry
 * Format".
 */
#define AMDVI_PRESENT  BIT(0)
#define AMDVI_IS_TABLE BIT(1)
#define AMDVI_FC       BIT(60)
#define AMDVI_READ     BIT(61)
#define AMDVI_WRITE    BIT(62)
const struct pt_format pt_amdvi = {
	.name = "AMD-Vi",
	.control = AMDVI_READ | AMDVI_WRITE | 4 << 9 | 3,
	.address = BITS(51, 12),
	.ia_bits = 48,
	.oa_bits = 52,
	.levels = 4,
	.leaf_levels = LEAVES,
	.permissions = 1 << R | 1 << RW,
	.present = AMDVI_PRESENT,
	.kind = AMDVI_IS_TABLE,
	.table = AMDVI_PRESENT | AMDVI_IS_TABLE | AMDVI_READ | AMDVI_WRITE,
	.table_level = BIT(9),
	.page = AMDVI_PRESENT,
	.block = AMDVI_PRESENT,
	.permission = { [R] = AMDVI_READ, [RW] = AMDVI_READ | AMDVI_WRITE },
	.memory = { [HAL_MEMORY_RAM] = AMDVI_FC, [HAL_MEMORY_DEVICE] = 0 },
};

/*
 * VT-d: Intel Virtualization Technology for Directed I/O Architecture Specification, 9.8 "Second-Level Paging Entries": bit 0 read, 1
 * write, 7 large; which sizes there are, CAP.SLLPS says. Control: 9.3 "Context Entry", bits 66:64 AW: 4 levels.
 */
#define VTD_READ  BIT(0)
#define VTD_WRITE BIT(1)
#define VTD_LARGE BIT(7)
const struct pt_format pt_vtd = {
	.name = "VT-d",
	.control = 2,
	.address = BITS(51, 12),
	.ia_bits = 48,
	.oa_bits = 52,
	.levels = 4,
	.leaf_levels = LEAVES,
	.permissions = 1 << R | 1 << RW,
	.present = VTD_READ | VTD_WRITE,
	.kind = VTD_LARGE,
	.table = VTD_READ | VTD_WRITE,
	.page = 0,
	.block = VTD_LARGE,
	.permission = { [R] = VTD_READ, [RW] = VTD_READ | VTD_WRITE },
	.memory = { [HAL_MEMORY_RAM] = 0, [HAL_MEMORY_DEVICE] = 0 },
};
