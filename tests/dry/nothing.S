/* SPDX-License-Identifier: Apache-2.0 */
/* A program of any machine whose assembler knows a jump by this name. */
	.global _start
_start:
	j	_start
