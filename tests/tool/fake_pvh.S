/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows on COM1 what the loader put into memory: four bytes at the partition table, four where a payload was asked for.
 * Entered through its PVH note (32-bit, flat), which must have survived the composing of the image.
 */
	.section .note.pvh, "a", @note
	.balign 4
	.long 4, 4, 18			/* name size, value size, XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.long _start

	.code32
	.text
	.global _start
_start:	mov $0x3f8, %dx
	mov $partition_table, %esi
	mov $4, %ecx
	rep outsb
	mov $0x1000000, %esi
	mov $4, %ecx
	rep outsb
	mov $'\n', %al
	out %al, %dx
	cli
1:	hlt
	jmp 1b

	.section .partition_table, "aw", @nobits
	.balign 4096
	.global partition_table
partition_table: .space 65536
