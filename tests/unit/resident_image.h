/* SPDX-License-Identifier: Apache-2.0 */
/* The resident image: five pages, each told by what fills it, of which start-up copies the parts and maps all. `monitor` ends it. */
#pragma once
#include "monitor/monitor.h"

enum { TEXT, OTHER_MACHINE, THIS_MACHINE, RODATA, DATA, RESIDENT_PAGES };

__asm__(".pushsection .data\n"
	".balign 4096\n"
	".globl __resident_text_start, __resident_text_end, __resident_rodata_start, __resident_rodata_end\n"
	".globl __resident_data_start, __resident_data_end, monitor, of_another_machine, of_this_machine\n"
	"__resident_text_start: .fill 1024, 4, 0x11111111\n"
	"__resident_text_end:\n"
	"of_another_machine: .fill 1024, 4, 0x22222222\n"
	"of_this_machine: .fill 1024, 4, 0x33333333\n"
	"__resident_rodata_start: .fill 1024, 4, 0x44444444\n"
	"__resident_rodata_end:\n"
	"__resident_data_start: .fill 512, 4, 0x55555555\n"
	"monitor: .fill 256, 8, 0\n"
	"__resident_data_end:\n"
	".popsection\n");
extern char __resident_text_start[], of_another_machine[], of_this_machine[];
extern char __resident_rodata_start[], __resident_data_start[], __resident_data_end[];
_Static_assert(sizeof(struct monitor) <= 2048, "what the assembly above leaves for it");
