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
    call("a sleep beyond the deadline", "until = next < deadline ? next : deadline;", "until = next;"),
    call("a sleep until the deadline", "until = next < deadline ? next : deadline;", "until = deadline;"),
    call(
        "who must not sleep waits",
        "if (!sleep_until_maybe(channel, deadline)) {",
        "if (sleep_until_maybe(channel, deadline), false) {",
    ),
    call("a deadline that has passed is waited for", "result == BH_END_AGAIN && arch_counter() < deadline", "result == BH_END_AGAIN"),
    call("what is not to come is waited for", "while (result == BH_END_AGAIN && arch", "while (result != BH_END_OK && arch"),
    call("a transaction survives its connection", "if (result == BH_END_NEW) channel->flags = ALONE;"),
    call("nobody waits for room", ": wait_for_slot(channel, result, data, deadline);", ": result;"),
    call("nobody looks for room", ": go_on_reserving(channel, data, deadline);", ": BH_END_AGAIN;"),
    call("nobody waits for a message", ": wait_for_message(channel, result, message, deadline);", ": result;"),
    call("nobody looks for a message", ": go_on_peeking(channel, message, deadline);", ": BH_END_AGAIN;"),
    call("nobody waits to send", "return go_on_sending(channel, result, data, length, deadline);", "return result;"),
    call("nobody waits to receive", "return go_on_receiving(channel, result, buffer, capacity, message, deadline);", "return result;"),
    call("a copy longer than a slot", "(end->role != BH_END_RING_SENDER) | (length > end->slot_bytes)", "end->role != BH_END_RING_SENDER"),
    call("whoever reads sends", "(end->role != BH_END_RING_SENDER) | (length > end->slot_bytes)", "length > end->slot_bytes"),
    call(
        "too long for whoever reads",
        "return BH_END_SIZE; default: return BH_END_INVALID; } } static ALWAYS",
        "return BH_END_SIZE; default: return BH_END_SIZE; } } static ALWAYS",
    ),
    call("whoever sends receives", "if (__builtin_expect(end->role != BH_END_RING_READER, 0))", "if (false)"),
    call("a copy longer than its buffer", "if (__builtin_expect(found.length > capacity, 0)) return BH_END_SIZE;"),
    call(
        "what does not fit is lost",
        "if (__builtin_expect(found.length > capacity, 0)) return BH_END_SIZE;",
        "if (found.length > capacity) { bh_ring_release(end); return BH_END_SIZE; }",
    ),
    call(
        "what is damaged stays", "bh_ring_release(end); return result; }", "if (result == BH_END_OK) bh_ring_release(end); return result; }"
    ),
    call("what is damaged is copied", "if (__builtin_expect(result == BH_END_OK, 1)) { if", "{ if"),
    call("a copy is told of where it lay", "message->data = buffer;", "message->data = found.data;"),
    call("a poll that is none", ".poll = poll ? poll : thread_running()->on->vcpu.order", ".poll = poll ? poll : 1"),
    call("all begin", "channel->flags = channel->flags & BH_CHANNEL_END ? ALONE : 0;", "channel->flags = ALONE;"),
    call("none ends", "channel->flags = channel->flags & BH_CHANNEL_END ? ALONE : 0;", "channel->flags = 0;"),
    call(
        "one that waited to be sent was none",
        "if (result == BH_END_OK) sent(channel); return result; } enum bh_end_result channel_send",
        "return result; } enum bh_end_result channel_send",
    ),
    call(
        "one that was not sent after all was one",
        "if (result == BH_END_OK) sent(channel); return result; } enum bh_end_result channel_send",
        "sent(channel); return result; } enum bh_end_result channel_send",
    ),
    call("one in place is none", "channel->flags) ? sent(channel) : commit_slowly", "channel->flags) ? BH_END_OK : commit_slowly"),
    call("one in place that is not usual is none", "return result == BH_END_OK ? sent(channel) : result; }", "return result; }"),
    call("one that was not committed was one", "return result == BH_END_OK ? sent(channel) : result; }", "sent(channel); return result; }"),
    call("a transaction within another", "if (channel->flags != ALONE || channel", "if (channel"),
    call("a transaction of latest values", " || channel->end->role == BH_END_LATEST_WRITER)", ")"),
    call("an end of none", "if (channel->flags & BH_CHANNEL_END) return BH_END_INVALID;"),
    call("an end that is none", "channel->flags |= BH_CHANNEL_END;"),
    call("a sleeper does not say so", "bh_end_wants_ring(channel->end, true);", ""),
    call("who is awake is rung", "if (channel->rung && deadline) bh_end_wants_ring(channel->end, false);", ""),
    call("who does not sleep is rung", "if (bh_end_is_wanted(channel->end)) doorbell_tell", "doorbell_tell"),
    call("nobody is rung", "if (bh_end_is_wanted(channel->end)) doorbell_tell(channel->told);", ";"),
    call("without a grant", "doorbell_gap_ns(bell) &&", ""),
    call("on a core that hears nothing", "doorbell_is_heard(bell) &&", ""),
    call("each reader is rung", "doorbell_is_heard(bell) && is_first(end)", "doorbell_is_heard(bell)"),
    call("readers of a latest value ring", "&& end->role != BH_END_LATEST_READER)", ")"),
    call(
        "room of what was damaged is not told of",
        "if (result == BH_END_OK || result == BH_END_CHECK) tell_if",
        "if (result == BH_END_OK) tell_if",
    ),
    call("who has gone is rung", "__atomic_store_n(&channel->end->own->waits, 0, __ATOMIC_RELAXED);", ";"),
    call(
        "a life that ended is waited for",
        "(hears ? clock_from_ns(LOOKS_NS) : channel->poll)",
        "(channel->rung ? deadline : channel->poll)",
    ),
    call(
        "room is not told of",
        "bh_ring_release(channel->end); return __builtin_expect(channel->told != NULL, 0) ? tell(channel) : BH_END_OK;",
        "bh_ring_release(channel->end); return BH_END_OK;",
    ),
)
