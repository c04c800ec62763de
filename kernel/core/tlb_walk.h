/* SPDX-License-Identifier: Apache-2.0 */
/* A program that measures what address translation costs. */
#pragma once

/*
 * The program "tlbwalk": reads a word of each of TLB_WALK_PAGES pages in a row, again and again, and notes how many ticks a round took.
 * Ends at once if there is no memory for them. `run` is its struct program_run.
 */
enum { TLB_WALK_PAGES = 512 };
void tlb_walk(void *run);
