/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what an access to a trapped page was: x86 exits tell the address and nothing of the instruction. Only plain MOV between memory
 * and a register or a constant is understood. A guest that uses another form on a filtered device is parked.
 *
 *   exit ─► x86_decode_access ─► fetch.c   at most 15 bytes, through the guest's tables, out of the sandbox's own RAM
 *                            └─► decode.c  pure: bytes in, one MOV out
 */
#pragma once
#include "hal/hal.h"
#include "hal/x86/vendor.h"

/*
 * An instruction's bytes, read in aligned words; it begins in the first of them. After `count` bytes there may be others, and then zeros,
 * for X86_CODE_LOOKAHEAD bytes. No instruction is longer than X86_CODE_MAX: SDM vol. 2A, 2.3.11 "AVX Instruction Length".
 */
enum { X86_CODE_MAX = 15, X86_CODE_WORDS = 3, X86_CODE_LOOKAHEAD = 16 };
struct x86_code {
	uint8_t first, count;
	bool is64; /* 64-bit mode; else 32-bit operands and addresses are the default */
	union {
		uint64_t words[X86_CODE_WORDS];
		uint8_t bytes[8 * X86_CODE_WORDS + X86_CODE_LOOKAHEAD];
	};
};

/* hal_exit.target of device exits: a register's number in the instruction. HIGH: AH to BH. CONSTANT: no register. */
enum x86_target { X86_TARGET_NUMBER = 0xf, X86_TARGET_HIGH = 1 << 4, X86_TARGET_CONSTANT = 1 << 5, X86_TARGET_RSP = 4 };

/* What a MOV says: as in struct hal_exit; value, if it is a constant. */
struct x86_mov {
	uint32_t width, target, length;
	uint64_t value;
	uint64_t mask; /* of as many bits as are written */
};

/* Returns whether it is a whole plain MOV in the direction of `access`; if not, *mov is undefined. Reads nothing but its arguments. */
bool x86_decode_mov(const struct x86_code *code, enum bh_access access, struct x86_mov *mov);

/*
 * The words that a core last read to find its guest's instruction: where each stands, and what it was. The same words in the same places
 * are the same instruction. First the guest's state from X86_CR0 to X86_RIP (noted_boot.c says where the vendor has it), then entries of
 * the guest's tables, then as much of its code as the instruction takes.
 */
enum { X86_STATE_WORDS = X86_RIP + 1 - X86_CR0, X86_WALK_MAX = 5, X86_WORDS = X86_STATE_WORDS + 2 * X86_WALK_MAX + X86_CODE_WORDS };
struct x86_noted {
	uint64_t place[X86_WORDS], word[X86_WORDS];
	uint32_t access; /* enum bh_access; NONE: nothing is noted */
	uint32_t count;  /* of words */
	struct x86_mov mov;
	struct x86_code code;
};

/*
 * Finds the MOV at the guest's RIP, and notes it. Each word is read once; the tables are walked once a page, level by level, at most five.
 * Returns false for another instruction, 16-bit code, 32-bit paging without PAE, or a step that leads outside the sandbox's own RAM.
 */
bool x86_fetch(const struct hal_partition *partition, struct x86_noted *noted, enum bh_access access);

/* x86_decode_filtered, of an exit as the vendor's `run` has left it. */
void x86_decode_memory(struct hal_core *core, struct hal_exit *exit);

/*
 * Completes a memory exit that an instruction of the guest's caused: kind DEVICE, with width, length, target and, of a write, value.
 * Returns false if the instruction is none of those above or the access was not its own; the fields of *exit are then undefined.
 */
bool x86_decode_access(struct hal_core *core, struct hal_exit *exit);

/* The general register that instructions call by this number; higher bits are not looked at. */
uint64_t *x86_register(struct hal_core *core, uint32_t number);

/* Returns a mask of as many bits as an access of this width has. */
static inline uint64_t x86_mask_of(uint32_t width)
{
	return UINT64_MAX >> (64 - 8 * width);
}
