# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in the sandbox kernel's calls on channels that wait."""

from tests.mutation.mutation import Mutation

CALLS = "kernel/core/channel_calls.c"
TEST = "kernel_channel_calls_test"
CALL_PROGRAMS = {TEST: f"tests/unit/{TEST}.c"}
CALL_PARTS = {TEST: [CALLS]}


def call(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"channel calls: {what}", CALLS, old, new, TEST)


CHANNEL_CALLS = (
    call("a sleep beyond the deadline", "thread_sleep_until(next < deadline ? next : deadline)", "thread_sleep_until(next)"),
    call("a sleep until the deadline", "thread_sleep_until(next < deadline ? next : deadline)", "thread_sleep_until(deadline)"),
    call(
        "who must not sleep waits",
        "if (!sleep_until_maybe(channel, deadline)) return BH_END_INVALID;",
        "(void)sleep_until_maybe(channel, deadline);",
    ),
    call("a deadline that has passed is waited for", "result == BH_END_AGAIN && arch_counter() < deadline", "result == BH_END_AGAIN"),
    call("what is not to come is waited for", "while (result == BH_END_AGAIN && arch", "while (result != BH_END_OK && arch"),
    call("a transaction survives its connection", "if (result == BH_END_NEW) channel->flags = ALONE;"),
    call("a copy longer than a slot", "if (__builtin_expect(request->length > channel->end->slot_bytes, 0))", "if (false)"),
    call(
        "too long for whoever reads",
        "return channel->end->role == BH_END_RING_SENDER ? BH_END_SIZE : BH_END_INVALID;",
        "return BH_END_SIZE;",
    ),
    call("a copy longer than its buffer", "if (__builtin_expect(found.length <= request->length, 1))", "if (true)"),
    call(
        "what does not fit is lost",
        "if (__builtin_expect(result != BH_END_SIZE, 1)) bh_ring_release(channel->end);",
        "bh_ring_release(channel->end);",
    ),
    call("what is damaged stays", "if (__builtin_expect(result != BH_END_SIZE, 1)) bh_ring", "if (result == BH_END_OK) bh_ring"),
    call("a copy is told of where it lay", "found.data = request->buffer;"),
    call("a poll that is none", ".poll = poll ? poll : thread_running()->on->vcpu.order", ".poll = poll ? poll : 1"),
    call("all begin", "channel->flags = channel->flags & BH_CHANNEL_END ? ALONE : 0;", "channel->flags = ALONE;"),
    call("none ends", "channel->flags = channel->flags & BH_CHANNEL_END ? ALONE : 0;", "channel->flags = 0;"),
    call(
        "what was not sent was the first",
        "if (result == BH_END_OK) sent(channel); return result; } enum bh_end_result channel_receive",
        "sent(channel); return result; } enum bh_end_result channel_receive",
    ),
    call("a transaction within another", "if (channel->flags != ALONE || channel", "if (channel"),
    call("a transaction of latest values", " || channel->end->role == BH_END_LATEST_WRITER)", ")"),
    call("an end of none", "if (channel->flags & BH_CHANNEL_END) return BH_END_INVALID;"),
    call("an end that is none", "channel->flags |= BH_CHANNEL_END;"),
)
