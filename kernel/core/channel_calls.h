/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels for threads: the calls of abi/channel_inline.h that wait, at most until a deadline, and transactions. An open channel belongs to
 * the thread that opened it, which pays for its waiting.
 *
 * Who waits looks again and again, and sleeps in between, for `poll` ticks. So it finds what it waits for at the latest `poll` after that
 * is there, if its VCPU has budget then, and a look costs what `bench channel` says. No interrupt and no exit takes part, at either end.
 *
 * If the channel has a doorbell for this end (doorbells.h), and the thread runs on the first core, it sleeps until that rings instead, as
 * the other end does when it has sent or taken something and finds that this one waits; one exit there. Of a latest value's readers the
 * first alone does. It tells of messages, not of lives: who waits looks all the same every tenth of a second, so it finds a new life, or
 * that the other end is gone, at the latest then.
 *
 * All return what the call that they are named after returns, and:
 *   BH_END_AGAIN    the deadline has passed
 *   BH_END_NEW      at once, before anything is waited for: what was under way is lost, a transaction, too, which is to begin anew
 *   BH_END_INVALID  also if the caller would sleep and must not, as it holds a mutex or serves a call (sync.h)
 * `deadline` is a time of arch_counter(); TIMER_NEVER: wait for ever; 0: not at all. All: T.
 */
#pragma once
#include "abi/channel_inline.h"

struct doorbell; /* doorbells.h */

/* The fields are channel_calls.c's. */
struct channel {
	struct bh_end *end;
	uint64_t poll;
	uint32_t flags;        /* of the next message that is sent */
	struct doorbell *rung; /* by which this end is rung, where it hears that; else NULL */
	struct doorbell *told; /* by which it rings the other; NULL: it may not */
};

/*
 * Opens this sandbox's end of the channel of that name, at its monitor, too, if it is opened on request. `poll`: ticks; 0: the period of
 * the caller's VCPU, after which its budget is there again, whatever of it its looks have used. Requires: the caller has a VCPU. Returns
 * BH_END_OK, or BH_END_INVALID if there is no such channel, or none that this kernel understands, or somebody has it, or all its readers.
 */
enum bh_end_result channel_open(struct channel *channel, const char *name, uint64_t poll);
/*
 * Gives it back, so that it can be opened again; one that is opened on request is closed if nobody else has it, and a message that was
 * shown must not be looked at any more.
 */
void channel_close(struct channel *channel);

/* ---- In place: rings ------------------------------------------------------------------------------------------------------ */

/* Waits for a free slot, to be filled at `*data`. Until it is committed it is the same one again. */
enum bh_end_result channel_reserve(struct channel *channel, void **data, uint64_t deadline);
/* Sends what was filled in, `length` bytes. Does not wait. */
enum bh_end_result channel_commit(struct channel *channel, uint32_t length);
/* Waits for a message, and shows it where it lies, until channel_release. */
enum bh_end_result channel_peek(struct channel *channel, struct bh_message *message, uint64_t deadline);
/* Gives its slot back. Does not wait. */
enum bh_end_result channel_release(struct channel *channel);

/* ---- By a copy: all kinds ------------------------------------------------------------------------------------------------ */

/* Waits until it can send, which for a latest value is at once, and sends a copy. */
enum bh_end_result channel_send(struct channel *channel, const void *data, uint32_t length, uint64_t deadline);
/*
 * Waits for a message, or for the first latest value, and copies it to `buffer`. BH_END_SIZE: it is longer than `capacity`, and stays, as
 * `*message` says. BH_END_CHECK: it was damaged, and is gone.
 */
enum bh_end_result channel_receive(struct channel *channel, void *buffer, uint32_t capacity, struct bh_message *message, uint64_t deadline);

/* ---- Transactions ------------------------------------------------------------------------------------------------------- */

/*
 * A message is a transaction of its own, with BH_CHANNEL_START and BH_CHANNEL_END, unless it is sent between these two: the next message is
 * the first of one; the next message is its last. Return BH_END_OK; BH_END_INVALID within a transaction, or outside of one, or if it is a
 * latest value.
 */
enum bh_end_result channel_begin(struct channel *channel);
enum bh_end_result channel_end(struct channel *channel);
