/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a virtual-machine control structure, and what stands in some of them. Numbers only: assembly reads this, too.
 * SDM vol. 3D, Appendix B "Field Encoding in VMCS".
 */
#pragma once

/* B.1 "16-Bit Fields". ES, CS, SS, DS, FS, GS, LDTR, TR: VMCS_SEGMENT_STEP apart, here and in the other groups. */
#define VMCS_SEGMENT_STEP    2
#define VIRTUAL_PROCESSOR_ID 0x0000
#define GUEST_ES_SELECTOR    0x0800
#define GUEST_CS_SELECTOR    0x0802
#define HOST_ES_SELECTOR     0x0c00
#define HOST_CS_SELECTOR     0x0c02
#define HOST_SS_SELECTOR     0x0c04
#define HOST_DS_SELECTOR     0x0c06
#define HOST_FS_SELECTOR     0x0c08
#define HOST_GS_SELECTOR     0x0c0a
#define HOST_TR_SELECTOR     0x0c0c

/* B.2 "64-Bit Fields". */
#define IO_BITMAP_A            0x2000
#define IO_BITMAP_B            0x2002
#define MSR_BITMAPS            0x2004
#define EPT_POINTER            0x201a
#define ENCLS_EXITING_BITMAP   0x202e
#define ENCLV_EXITING_BITMAP   0x2036
#define GUEST_PHYSICAL_ADDRESS 0x2400
#define VMCS_LINK_POINTER      0x2800
#define GUEST_IA32_DEBUGCTL    0x2802
#define GUEST_IA32_PAT         0x2804
#define GUEST_IA32_EFER        0x2806
#define HOST_IA32_PAT          0x2c00
#define HOST_IA32_EFER         0x2c02

/* B.3 "32-Bit Fields". */
#define PIN_BASED_CONTROLS            0x4000
#define PROCESSOR_BASED_CONTROLS      0x4002
#define EXCEPTION_BITMAP              0x4004
#define PAGE_FAULT_ERROR_CODE_MASK    0x4006
#define PAGE_FAULT_ERROR_CODE_MATCH   0x4008
#define CR3_TARGET_COUNT              0x400a
#define VM_EXIT_CONTROLS              0x400c
#define VM_EXIT_MSR_STORE_COUNT       0x400e
#define VM_EXIT_MSR_LOAD_COUNT        0x4010
#define VM_ENTRY_CONTROLS             0x4012
#define VM_ENTRY_MSR_LOAD_COUNT       0x4014
#define VM_ENTRY_INTERRUPTION_INFO    0x4016
#define VM_ENTRY_EXCEPTION_ERROR_CODE 0x4018
#define VM_ENTRY_INSTRUCTION_LENGTH   0x401a
#define SECONDARY_CONTROLS            0x401e
#define VM_INSTRUCTION_ERROR          0x4400
#define EXIT_REASON                   0x4402
#define VM_EXIT_INTERRUPTION_INFO     0x4404
#define IDT_VECTORING_INFO            0x4408
#define IDT_VECTORING_ERROR_CODE      0x440a
#define VM_EXIT_INSTRUCTION_LENGTH    0x440c
#define GUEST_ES_LIMIT                0x4800
#define GUEST_GDTR_LIMIT              0x4810
#define GUEST_IDTR_LIMIT              0x4812
#define GUEST_ES_ACCESS_RIGHTS        0x4814
#define GUEST_CS_ACCESS_RIGHTS        0x4816
#define GUEST_SS_ACCESS_RIGHTS        0x4818
#define GUEST_INTERRUPTIBILITY        0x4824
#define GUEST_ACTIVITY_STATE          0x4826
#define GUEST_IA32_SYSENTER_CS        0x482a
#define HOST_IA32_SYSENTER_CS         0x4c00

/* B.4 "Natural-Width Fields". */
#define CR0_GUEST_HOST_MASK            0x6000
#define CR4_GUEST_HOST_MASK            0x6002
#define CR0_READ_SHADOW                0x6004
#define CR4_READ_SHADOW                0x6006
#define EXIT_QUALIFICATION             0x6400
#define GUEST_LINEAR_ADDRESS           0x640a
#define GUEST_CR0                      0x6800
#define GUEST_CR3                      0x6802
#define GUEST_CR4                      0x6804
#define GUEST_ES_BASE                  0x6806
#define GUEST_CS_BASE                  0x6808
#define GUEST_GDTR_BASE                0x6816
#define GUEST_IDTR_BASE                0x6818
#define GUEST_DR7                      0x681a
#define GUEST_RSP                      0x681c
#define GUEST_RIP                      0x681e
#define GUEST_RFLAGS                   0x6820
#define GUEST_PENDING_DEBUG_EXCEPTIONS 0x6822
#define GUEST_IA32_SYSENTER_ESP        0x6824
#define GUEST_IA32_SYSENTER_EIP        0x6826
#define HOST_CR0                       0x6c00
#define HOST_CR3                       0x6c02
#define HOST_CR4                       0x6c04
#define HOST_FS_BASE                   0x6c06
#define HOST_GS_BASE                   0x6c08
#define HOST_TR_BASE                   0x6c0a
#define HOST_GDTR_BASE                 0x6c0c
#define HOST_IDTR_BASE                 0x6c0e
#define HOST_IA32_SYSENTER_ESP         0x6c10
#define HOST_IA32_SYSENTER_EIP         0x6c12
#define HOST_RSP                       0x6c14
#define HOST_RIP                       0x6c16

/* PROCESSOR_BASED_CONTROLS: SDM vol. 3C, 25.6.2. The one control that changes while guests run. */
#define NMI_WINDOW_EXITING_BIT 22
/* SECONDARY_CONTROLS: 25.6.2. */
#define ENCLS_EXITING (1 << 15)
#define ENCLV_EXITING (1 << 28)
/* VM_ENTRY_CONTROLS: 25.8.1. Every exit stores EFER.LMA here. */
#define ENTRY_IA32E_MODE_GUEST (1 << 9)

/* EXIT_REASON, 15:0. SDM vol. 3D, Appendix C "VMX Basic Exit Reasons". */
#define EXIT_ENTRY_FAILURE    (UINT64_C(1) << 31)
#define EXIT_EXCEPTION_OR_NMI 0
#define EXIT_TRIPLE_FAULT     2
#define EXIT_INIT             3
#define EXIT_SIPI             4
#define EXIT_NMI_WINDOW       8
#define EXIT_CPUID            10
#define EXIT_GETSEC           11
#define EXIT_INVD             13
#define EXIT_RDPMC            15
#define EXIT_VMCALL           18
#define EXIT_VMCLEAR          19
#define EXIT_VMLAUNCH         20
#define EXIT_VMPTRLD          21
#define EXIT_VMPTRST          22
#define EXIT_VMREAD           23
#define EXIT_VMRESUME         24
#define EXIT_VMWRITE          25
#define EXIT_VMXOFF           26
#define EXIT_VMXON            27
#define EXIT_CONTROL_REGISTER 28
#define EXIT_IO               30
#define EXIT_RDMSR            31
#define EXIT_WRMSR            32
#define EXIT_MWAIT            36
#define EXIT_MONITOR          39
#define EXIT_EPT_VIOLATION    48
#define EXIT_INVEPT           50
#define EXIT_INVVPID          53
#define EXIT_WBINVD           54
#define EXIT_XSETBV           55
#define EXIT_ENCLS            60
#define EXIT_ENCLV            70
#define EXIT_SEAMCALL         76
#define EXIT_TDCALL           77
