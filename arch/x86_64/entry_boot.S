/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: from what a loader or a STARTUP IPI leaves to C in long mode, first 4 GiB mapped one to one.
 *
 *   loader ──► _start (32-bit) ─┐
 *                               ├─► long mode ──► start64 ──► monitor_boot()
 *   SIPI ──► trampoline (16-bit)┘              └► core64  ──► monitor_core_boot(argument)
 *
 * Two kinds of loader enter alike, in protected mode, flat segments, paging off, IF = 0: PVH (Xen, "x86/HVM direct boot
 * ABI"), whose start-info block is of no use here as the partition table says everything; and Multiboot2 (specification
 * 2.0), whose boot information says where it put the payload.
 */
#define CR0_PG_WP_NE_ET_PE	0x80010031	/* APM vol. 2, 3.1.1 "CR0 Register" */
#define CR4_MCE_PAE		0x60		/* 3.1.3: a machine check stops this core, not the machine */
#define MSR_EFER		0xc0000080	/* 3.1.7 */
#define EFER_NXE_LME		0x900
#define MSR_PAT			0x277		/* 7.8 "Page-Attribute Table Mechanism" */
#define PAT_RESET_HALF		0x00070406
#define PTE_PRESENT_WRITE	0x3		/* 5.4.1 "Field Definitions" */
#define PTE_LARGE		0x80

#define MULTIBOOT2_MAGIC		0xe85250d6
#define MULTIBOOT2_I386			0	/* 32-bit protected mode */
#define MULTIBOOT2_TAG_END		0
#define MULTIBOOT2_TAG_MODULE_ALIGN	6

#define EDX_LM_NX		0x20100000
#define UART_LCR_8_BITS		0x03
#define UART_LSR_THRE		0x20
#define UART_POLLS		100000

#define CODE64			0x08
#define DATA			0x10

#define BOOT_STACK_BYTES	16384

	/* The note that makes a loader enter at _start: type 18, XEN_ELFNOTE_PHYS32_ENTRY. */
	.section .note.pvh, "a", @note
	.balign	4
	.long	4, 4, 18
	.asciz	"Xen"
	.long	_start

	/* Multiboot2, 3.1 "OS image format": in the first 32 KiB of the file, on 8 bytes. Nothing about EFI: loaders end its services. */
	.section .boot.entry, "ax"
	.balign	8
multiboot2_header:
	.long	MULTIBOOT2_MAGIC, MULTIBOOT2_I386, MULTIBOOT2_HEADER_BYTES
	.long	-(MULTIBOOT2_MAGIC + MULTIBOOT2_I386 + MULTIBOOT2_HEADER_BYTES)
	.word	MULTIBOOT2_TAG_MODULE_ALIGN, 0	/* 3.1.8 "Module alignment tag": on pages */
	.long	8
	.word	MULTIBOOT2_TAG_END, 0
	.long	8
	.set	MULTIBOOT2_HEADER_BYTES, . - multiboot2_header

	/* Whole registers, as the mode they are in after INIT is nobody's choice. APM vol. 2, 14.6.1 "Activating Long Mode". */
	.macro	activate_long_mode
	movl	$CR4_MCE_PAE, %eax
	movl	%eax, %cr4
	movl	$boot_pml4, %eax
	movl	%eax, %cr3
	movl	$MSR_PAT, %ecx
	movl	$PAT_RESET_HALF, %eax
	movl	%eax, %edx
	wrmsr
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_NXE_LME, %eax
	wrmsr
	movl	$CR0_PG_WP_NE_ET_PE, %eax
	movl	%eax, %cr0
	.endm

	.macro	load_segments
	movl	$DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	xorl	%ebp, %ebp
	.endm

	.macro	zero start, end	/* whole words; RAX = 0 */
	movl	$\start, %edi
	movl	$\end, %ecx
	subl	%edi, %ecx
	shrl	$3, %ecx
	rep stosq
	.endm

	.globl	_start
	.code32
_start:
	cli
	cld
	movl	%eax, x86_loader
	movl	%ebx, x86_loader + 4
	movl	$boot_stack_top, %esp
	call	check_processor
	lgdtl	x86_gdt_pointer
	activate_long_mode
	ljmpl	$CODE64, $start64

	/* Long mode and no-execute, or nothing here can run. APM vol. 3, CPUID Fn8000_0001_EDX[LM, NX]. */
check_processor:
	movl	$0x80000000, %eax
	cpuid
	cmpl	$0x80000001, %eax
	jb	refuse
	movl	$0x80000001, %eax
	cpuid
	notl	%edx
	testl	$EDX_LM_NX, %edx
	jnz	refuse
	ret

	/* monitor_refuse() for a processor that cannot run it. Line control and status are 3 and 5 ports above the console's. */
refuse:
	movl	$refusal, %esi
	movw	x86_refusal_console, %dx
	addw	$3, %dx
	movb	$UART_LCR_8_BITS, %al
	outb	%al, %dx
1:	movw	x86_refusal_console, %dx
	addw	$5, %dx
	movl	$UART_POLLS, %ecx
2:	inb	%dx, %al
	testb	$UART_LSR_THRE, %al
	loopz	2b
	subw	$5, %dx
	lodsb
	testb	%al, %al
	jz	3f
	outb	%al, %dx
	jmp	1b
3:	movw	x86_refusal_exit, %dx
	testw	%dx, %dx
	jz	4f
	movl	$1, %eax
	outl	%eax, %dx
4:	hlt
	jmp	4b
refusal:
	.asciz	"bulkhead: cannot start: the processor has no long mode with no-execute pages; use a newer one, or in QEMU -cpu max\r\n"

	.code64
start64:
	load_segments
	zero	__boot_bss_start, __boot_bss_end
	zero	__resident_data_start, __resident_data_end
	movl	$boot_stack_top, %esp
	call	x86_gates_init
	call	x86_idt_load
	call	monitor_boot

	/* Runs at any page below 1 MiB: CS is its base. APM vol. 2, 14.1.3 "Processor Initialization State". */
	.globl	x86_trampoline, x86_trampoline_end
	.code16
x86_trampoline:
	cli
	cld
	lgdtl	%cs:(trampoline_gdt_pointer - x86_trampoline)
	activate_long_mode
	ljmpl	$CODE64, $core64
trampoline_gdt_pointer:
	.word	x86_gdt_limit
	.long	x86_gdt
x86_trampoline_end:

	.code64
core64:
	load_segments
	movq	x86_core_request, %rsp
	movl	x86_core_request + 8, %ebx
	movl	$1, x86_core_request + 12
	call	x86_idt_load
	movl	%ebx, %edi
	call	monitor_core_boot

	/* Tables as data: 4 GiB in 2 MiB pages, which every long-mode processor has. MTRRs know which of it is device. */
	.data
	.globl	x86_loader	/* what the loader left in EAX and EBX */
x86_loader:
	.long	0, 0
	.balign	4096
boot_pml4:
	.quad	boot_pdpt + PTE_PRESENT_WRITE
	.fill	511, 8, 0
boot_pdpt:
	.quad	boot_pd + PTE_PRESENT_WRITE
	.quad	boot_pd + 0x1000 + PTE_PRESENT_WRITE
	.quad	boot_pd + 0x2000 + PTE_PRESENT_WRITE
	.quad	boot_pd + 0x3000 + PTE_PRESENT_WRITE
	.fill	508, 8, 0
boot_pd:
	.set	page, 0
	.rept	2048
	.quad	page + PTE_LARGE + PTE_PRESENT_WRITE
	.set	page, page + 0x200000
	.endr

	.bss
	.balign	16
	.skip	BOOT_STACK_BYTES
boot_stack_top:
