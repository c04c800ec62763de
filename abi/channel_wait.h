/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an end rings the other (BH_CALL_DOORBELL): after it has sent or taken something, if the other one says that it sleeps. So who looks
 * by itself costs nobody a ring. docs/channels.md.
 *
 *   who sleeps                               who sends
 *   bh_end_wants_ring(end, true)             send, publish or release
 *   look; if there is something: go on       if (bh_end_is_wanted(end)) ring
 *   sleep until rung
 *   bh_end_wants_ring(end, false), or not: it may stay
 *
 * Both are sequentially consistent: each end stores one word and then loads another, and at least one of them sees what the other stored,
 * so none sleeps over what was sent. What the other end says there decides how often this one rings and nothing else: the grant bounds it.
 */
#pragma once
#include "channel_inline.h"

/*
 * Says whether this end wants to be rung. It does nothing else: the caller looks at the channel afterwards, and then sleeps. Several
 * readers of a latest value have one word together, so none of them takes it back. Taking it back needs no fence: the other end may still
 * see the old word, and ring for nothing.
 */
static inline void bh_end_wants_ring(struct bh_end *end, bool wants)
{
	if (end->role != BH_END_DETACHED && (wants || end->role != BH_END_LATEST_READER || end->readers == 1))
		__atomic_store_n(&end->own->waits, wants, __ATOMIC_SEQ_CST);
	if (wants)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Whether the other end wants to be rung. Requires: what it is to find has been sent, or given back. */
static inline bool bh_end_is_wanted(const struct bh_end *end)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return end->role != BH_END_DETACHED && __atomic_load_n(&end->peer->waits, __ATOMIC_SEQ_CST);
}
