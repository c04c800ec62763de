/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual machine control block as the processor reads and writes it, and what stands in it.
 * APM vol. 2, Appendix B "Layout of VMCB"; field names are the manual's.
 */
#pragma once
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "hal/x86/svm/vmcb_offsets.h"

struct vmcb_control {
	uint32_t intercept_cr, intercept_dr;
	uint32_t intercept_exceptions; /* bit n: vector n */
	uint32_t intercept_3, intercept_4, intercept_5;
	uint8_t reserved_18[0x40 - 0x18];
	uint64_t iopm_base_pa;
	uint64_t msrpm_base_pa;
	uint64_t tsc_offset;
	uint32_t guest_asid;
	uint32_t tlb_control;
	uint64_t v_intr;
	uint64_t interrupt_shadow;
	uint64_t exitcode;
	uint64_t exitinfo1, exitinfo2;
	uint64_t exitintinfo;
	uint64_t np_enable;
	uint8_t reserved_98[0xa8 - 0x98];
	uint64_t eventinj;
	uint64_t n_cr3;
	uint64_t lbr_virtualization_enable;
	uint64_t clean_bits;
	uint64_t nrip; /* of an instruction that exited: the next one's */
	uint8_t reserved_d0[0x400 - 0xd0];
};
static_assert(offsetof(struct vmcb_control, iopm_base_pa) == 0x40, "");
static_assert(offsetof(struct vmcb_control, exitcode) == 0x70, "");
static_assert(offsetof(struct vmcb_control, eventinj) == 0xa8, "");
static_assert(offsetof(struct vmcb_control, nrip) == 0xc8, "");

struct vmcb_segment {
	uint16_t selector;
	uint16_t attributes; /* descriptor bits 55:52 and 47:40 */
	uint32_t limit;
	uint64_t base;
};

struct vmcb_save {
	struct vmcb_segment es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	uint8_t reserved_a0[0xcb - 0xa0];
	uint8_t cpl;
	uint8_t reserved_cc[0xd0 - 0xcc];
	uint64_t efer;
	uint8_t reserved_d8[0x148 - 0xd8];
	uint64_t cr4, cr3, cr0, dr7, dr6, rflags, rip;
	uint8_t reserved_180[0x1d8 - 0x180];
	uint64_t rsp;
	uint8_t reserved_1e0[0x1f8 - 0x1e0];
	uint64_t rax;
	uint64_t star, lstar, cstar, sfmask, kernel_gs_base, sysenter_cs, sysenter_esp, sysenter_eip, cr2;
	uint8_t reserved_248[0x268 - 0x248];
	uint64_t g_pat;
	uint8_t reserved_270[0x300 - 0x270];
};
static_assert(offsetof(struct vmcb_save, efer) == 0xd0, "");
static_assert(offsetof(struct vmcb_save, rip) == 0x178, "");
static_assert(offsetof(struct vmcb_save, cr2) == 0x240, "");
static_assert(offsetof(struct vmcb_save, g_pat) == 0x268, "");

/* As far as anything is in it: the processor's is a frame. */
struct vmcb {
	struct vmcb_control control;
	struct vmcb_save save;
};
static_assert(sizeof(struct vmcb) == 0x700, "");
static_assert(offsetof(struct vmcb, save.rax) == VMCB_RAX, "enter.S");

/* The states in which a guest core may begin. Start-up makes them. */
struct svm_states {
	struct vmcb init;  /* after INIT, as far as that changes anything; STARTUP adds the code segment */
	struct vmcb entry; /* abi/guest.h */
};
static_assert(sizeof(struct svm_states) <= 4096, "a frame of the arena");

enum { TLB_CONTROL_FLUSH_ALL = 1 }; /* 15.16 "TLB Control" */

/* Intercepts, by the bit of their word. */
enum {
	INTERCEPT_3_NMI = 1,
	INTERCEPT_3_INIT = 3,
	INTERCEPT_3_RDPMC = 15,
	INTERCEPT_3_CPUID = 18,
	INTERCEPT_3_INVD = 22,
	INTERCEPT_3_INVLPGA = 26,
	INTERCEPT_3_IOIO_PROT = 27,
	INTERCEPT_3_MSR_PROT = 28,
	INTERCEPT_3_FERR_FREEZE = 30,
	INTERCEPT_3_SHUTDOWN = 31,
	INTERCEPT_4_VMRUN = 0,
	INTERCEPT_4_VMMCALL = 1,
	INTERCEPT_4_VMLOAD = 2,
	INTERCEPT_4_VMSAVE = 3,
	INTERCEPT_4_STGI = 4,
	INTERCEPT_4_CLGI = 5,
	INTERCEPT_4_SKINIT = 6,
	INTERCEPT_4_WBINVD = 9,
	INTERCEPT_4_MONITOR = 10,
	INTERCEPT_4_MWAIT = 11,
	INTERCEPT_4_MWAIT_ARMED = 12,
	INTERCEPT_4_RDPRU = 14,
};

/* APM vol. 2, Appendix C "SVM Intercept Exit Codes". */
enum {
	VMEXIT_EXCP = 0x40,
	VMEXIT_NMI = 0x61,
	VMEXIT_INIT = 0x63,
	VMEXIT_RDPMC = 0x6f,
	VMEXIT_CPUID = 0x72,
	VMEXIT_INVD = 0x76,
	VMEXIT_INVLPGA = 0x7a,
	VMEXIT_IOIO = 0x7b,
	VMEXIT_MSR = 0x7c,
	VMEXIT_SHUTDOWN = 0x7f,
	VMEXIT_VMRUN = 0x80,
	VMEXIT_VMMCALL = 0x81,
	VMEXIT_VMLOAD = 0x82,
	VMEXIT_VMSAVE = 0x83,
	VMEXIT_STGI = 0x84,
	VMEXIT_CLGI = 0x85,
	VMEXIT_SKINIT = 0x86,
	VMEXIT_WBINVD = 0x89,
	VMEXIT_MONITOR = 0x8a,
	VMEXIT_MWAIT = 0x8b,
	VMEXIT_MWAIT_ARMED = 0x8c,
	VMEXIT_RDPRU = 0x8e,
	VMEXIT_NPF = 0x400,
};
