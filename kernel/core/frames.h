/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox's free RAM as frames of 4 KiB: from the end of the kernel's image to the end of the RAM grant that holds it. What lies below
 * the image is left out: the entry's stack, firmware tables, descriptions that a loader has laid. A program with more of its own in RAM,
 * such as a further segment of its ELF file, claims that before it takes anything.
 *
 *   | image | frames' own notes | frames, the lowest free ones taken first ->                                     |
 *
 * Each frame has an owner, by which it is given back: a frame that is free, or somebody else's, is not. All notes lie in RAM and are made
 * anew by frames_init, so a sandbox that its monitor starts again begins with all frames free. BH-D530.
 *
 * A frame that is taken holds zeros: nothing passes from one owner to the next. A claimed one keeps what it holds.
 *
 * Any core, in the main program or in a handler; each function locks for itself. Times: one frame is taken in a bounded number of steps
 * that does not grow with RAM; a run in one step for each 64 frames of RAM; and zeros are written for each frame.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { FRAME_SHIFT = 12, FRAME_BYTES = 1 << FRAME_SHIFT };

/* Numbers from FRAME_OTHERS on are up to who takes. */
enum frame_owner { FRAME_FREE, FRAME_NOTES, FRAME_TABLE, FRAME_STACK, FRAME_PROGRAM, FRAME_OTHERS, FRAME_OWNERS = 256 };

/*
 * Makes [start, end) the frames, all free but those that it takes for its notes, at `start`.
 * Requires: RAM that nobody uses, mapped one to one; 0 < start <= end; the first core, before anything else here.
 * Returns false, with no frames, if that is not one whole frame, or if it is more than FRAMES_MOST.
 */
bool frames_init(uint64_t start, uint64_t end);
enum { FRAMES_MOST = 1 << 24 }; /* 64 GiB */

/* Takes the lowest free frame, of zeros. Returns its address, or 0 if no frame is free. */
uint64_t frames_take(unsigned owner);

/*
 * Takes the lowest `count` free frames in a row, of zeros, whose first has an address that is a multiple of `alignment`, in frames.
 * Returns the address of the first, or 0, with nothing taken, if there is no such run, count is 0, or alignment no power of two.
 */
uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner);

/*
 * Takes the frames that hold [address, address + size) and leaves in them what they hold.
 * Returns false, with nothing taken, if one of them is taken, or is no frame of the sandbox, or size is 0.
 */
bool frames_claim(uint64_t address, uint64_t size, unsigned owner);

/*
 * Gives `count` frames from `address` on back.
 * Returns false, with nothing given, unless each of them is a frame that `owner` has.
 */
bool frames_give(uint64_t address, uint64_t count, unsigned owner);

/* Returns the owner of the frame that holds `address`; FRAME_OWNERS if there is no such frame. */
unsigned frames_owner(uint64_t address);

/* Returns how many frames are free. */
uint64_t frames_free(void);

/* Returns the address from which on all frames to the last are free, and in *end where that ends. */
uint64_t frames_rest(uint64_t *end);
