/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What x86 processors walk. Intel and AMD share the geometry (four levels of 512 slots, bit 7 tells a large leaf from a
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
