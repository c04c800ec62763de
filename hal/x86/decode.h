/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an access to a trapped page was: x86 exits tell the address and nothing of the instruction. Plain MOV between a register or a
 * constant and memory is understood, and nothing else; a guest that uses another form on a filtered device is parked.
 *
 *   exit ─► x86_decode_access ─► fetch.c   at most 15 bytes, through the guest's tables, out of the sandbox's own RAM
 *                            └─► decode.c  pure: bytes in, one MOV out
 */
#pragma once
#include "hal/hal.h"

/* SDM vol. 2A, 2.3.11 "AVX Instruction Length": no instruction is longer. What a decoder may look at behind that is 0. */
enum { X86_CODE_MAX = 15, X86_CODE_LOOKAHEAD = 12 };
struct x86_code {
	uint8_t bytes[X86_CODE_MAX + X86_CODE_LOOKAHEAD];
	uint8_t count;
	bool is64; /* 64-bit mode; else 32-bit operands and addresses are the default */
};

/* hal_exit.target of device exits: a register by the number that instructions have for it, AH to BH told apart, or none. */
enum x86_target { X86_TARGET_NUMBER = 0xf, X86_TARGET_HIGH = 1 << 4, X86_TARGET_CONSTANT = 1 << 5, X86_TARGET_RSP = 4 };

/*
 * Fills in width, length and target of an exit, and of a constant that is written, value. false: it is not a whole plain MOV in the
 * direction of exit->access. Reads nothing but its arguments.
 */
bool x86_decode_mov(const struct x86_code *code, struct hal_exit *exit);

/*
 * The bytes at the guest's RIP. Each is read once; the tables are walked once, level by level, at most five. false: 16-bit code,
 * 32-bit paging without PAE, or a step that leads outside the sandbox's own RAM.
 */
bool x86_fetch(const struct hal_core *core, struct x86_code *code);

/*
 * Completes a memory exit that an instruction of the guest's caused: kind DEVICE, with width, length, target and, of a write, value.
 * false: what else it has filled in is worth nothing; the instruction is none of those above, or the access was not its own.
 */
bool x86_decode_access(struct hal_core *core, struct hal_exit *exit);

/* The general register that instructions call by this number; higher bits are not looked at. */
uint64_t *x86_register(struct hal_core *core, uint32_t number);

/* The register that takes what a load has found. */
void x86_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value);
