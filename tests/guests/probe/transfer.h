/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts of a campaign that a network card makes (BH-I1.dma). What it writes says which attempt of which sandbox it was: a frame is four
 * times the sandbox's word, with the attempt's number after each. The host tool looks for it in all of the machine's memory.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "probe/campaign.h"

/*
 * Makes the attempt `number` of the queue. ARM returns RETURNED until the ring is full or the queue at its end, and then never. Otherwise
 * returns RETURNED where anything but zeros was read, a foreign ring sent something, or the card was at a target of the sandbox's own, and
 * also of what it wrote elsewhere; ZERO where that is not so; REFUSED where the card did nothing.
 */
enum campaign_outcome transfer_attempt(const struct campaign_queue *queue, uint32_t number);

/*
 * Of a sandbox that has begun again: returns whether its card went on meanwhile, by what it has taken of its ring, or wrote to spare pages
 * after they were scrubbed. Before any attempt.
 */
bool transfer_outlived(const struct campaign_queue *queue);

/* Has the card send frames to its network without end, from the page at `page`. `word`: theirs, inverted. */
_Noreturn void transfer_flood(uint64_t word, uint64_t page);
