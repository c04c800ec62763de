/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident, pure: one MOV. SDM vol. 2A, 2.1 "Instruction Format for Protected Mode, Real-Address Mode, and Virtual-8086 Mode",
 * 2.2.1 "REX Prefixes"; APM vol. 3, "MOV", and Appendix A "Opcode and Operand Encodings".
 */
#include "hal/x86/decode.h"

/* The opcodes, but for bit 0 (operands wider than a byte) and bit 1 (into a register). */
enum { MOV_REGISTER = 0x88, MOV_CONSTANT = 0xc6, OPCODE_WIDE = 1, OPCODE_LOAD = 2 };
enum { PREFIX_OPERAND = 0x66, REX = 0x40, REX_MASK = 0xf0, REX_W = 8, REX_R = 4 };
enum { MODRM_REGISTER = 3, MODRM_SIB = 4, MODRM_NO_BASE = 5 };

/* ES, CS, SS, DS; FS, GS. They count for the address, which the exit has told. */
static bool is_segment(uint8_t byte)
{
	return (byte & 0xe7) == 0x26 || (byte & 0xfe) == 0x64;
}

/* ModRM with what follows it of an address, in bytes. SDM vol. 2A, tables 2-2 and 2-3. */
static unsigned address_bytes(const uint8_t *modrm)
{
	unsigned mod = *modrm >> 6, base = *modrm & 7, bytes = 1;

	if (base == MODRM_SIB) {
		base = modrm[1] & 7;
		bytes++;
	}
	if (mod == 2 || (!mod && base == MODRM_NO_BASE))
		bytes += 4;
	return bytes + (mod == 1);
}

/* A byte register without REX is one of AL, CL, DL, BL, AH, CH, DH, BH. */
static uint32_t target_of(uint8_t modrm, uint8_t rex, uint32_t width)
{
	uint32_t number = modrm >> 3 & 7;

	if (width == 1 && !rex && number & 4)
		return (number & 3) | X86_TARGET_HIGH;
	return number | (rex & REX_R) << 1;
}

/* Four bytes, of which a narrow store takes the first; one of eight takes all, with their sign. */
static uint64_t constant_at(const uint8_t *at)
{
	return (uint64_t)(int32_t)(at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24);
}

/* What follows the fetched bytes may be anything: it is part of no whole instruction. Zeros at the end stop the prefixes. */
HAL_OUTLINE bool x86_decode_mov(const struct x86_code *code, enum bh_access access, struct x86_mov *mov)
{
	bool narrow = false, load = access == BH_ACCESS_READ;
	const uint8_t *start = code->bytes + code->first, *at = start;
	uint8_t rex = 0, opcode;

	for (; is_segment(*at) || *at == PREFIX_OPERAND; at++)
		narrow |= *at == PREFIX_OPERAND;
	if (code->is64 && (*at & REX_MASK) == REX)
		rex = *at++;
	opcode = *at++;
	mov->width = !(opcode & OPCODE_WIDE) ? 1 : rex & REX_W ? 8 : narrow ? 2 : 4;
	mov->mask = x86_mask_of(mov->width);
	mov->target = target_of(*at, rex, mov->width);
	if (*at >> 6 == MODRM_REGISTER)
		return false;
	if ((opcode & ~OPCODE_WIDE) == MOV_CONSTANT && !load && !(*at >> 3 & 7)) {
		at += address_bytes(at);
		mov->target = X86_TARGET_CONSTANT;
		mov->value = constant_at(at);
		at += mov->width < 4 ? mov->width : 4;
	} else if ((opcode & ~OPCODE_WIDE) == (load ? MOV_REGISTER | OPCODE_LOAD : MOV_REGISTER) &&
		   !(load && mov->target == X86_TARGET_RSP))
		at += address_bytes(at);
	else
		return false;
	mov->length = (uint32_t)(at - start);
	return mov->length <= code->count;
}
