# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how an end of a channel is used (abi/channel_inline.h, abi/channel_end.h, abi/channel_bytes.h)."""

from tests.mutation.mutation import ROOT, Mutation

KINDS, ENDS, BYTES = "abi/channel_inline.h", "abi/channel_end.h", "abi/channel_bytes.h"
ATTACHES, CALLS, FAULTS, STEPS, READERS = (
    f"channel_{name}" for name in ("attach_test", "test", "faults_test", "steps_test", "readers_test")
)
CHANNEL_PROGRAMS = {name: f"tests/unit/{name}.c" for name in (ATTACHES, CALLS, FAULTS, STEPS, READERS)}
CHANNEL_PARTS: dict[str, list[str]] = {name: [] for name in CHANNEL_PROGRAMS}  # all of it is in headers


def file_of(old: str) -> str:
    """Where it stands: which of the two headers that is says nothing of a mistake."""
    words = " ".join(old.split())
    return next((file for file in (KINDS, ENDS, BYTES) if words in " ".join((ROOT / file).read_text().split())), KINDS)


def call(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"channel: {what}", file_of(old), old, new, CALLS)


def attach(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"channel: {what}", file_of(old), old, new, ATTACHES)


def fault(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"channel: {what}", file_of(old), old, new, FAULTS)


def step(what: str, old: str, new: str = "") -> Mutation:
    """What goes wrong in some orders of steps only."""
    return Mutation(f"channel: {what}", file_of(old), old, new, STEPS)


def reader(what: str, old: str, new: str = "") -> Mutation:
    """What goes wrong with several readers, or when a writer's program begins again."""
    return Mutation(f"channel: {what}", file_of(old), old, new, READERS)


ATTACHING = (
    attach("nowhere", "!whole || ", ""),
    attach("words that are not aligned", "(uintptr_t)whole % BH_CHANNEL_LINE || ", ""),
    attach("a third side", "side > 1 || ", ""),
    attach("fewer bytes than a page", "|| bytes < BH_PAGE_BYTES ||", "||"),
    attach("a page beyond the end", "|| page_offset > bytes - BH_PAGE_BYTES)", ")"),
    attach("any magic", "page->magic != BH_CHANNEL_MAGIC || ", ""),
    attach("any version", "page->version != BH_CHANNEL_VERSION || ", ""),
    attach("any geometry", " || !bh_channel_valid(kind, slots, slot_bytes))", ")"),
    attach("any stride", "if (page->slot_stride != slot_bytes + sizeof(struct bh_channel_slot)) return BH_END_INVALID;"),
    attach("any first area", "page->area_bytes[0] != area[0] || ", ""),
    attach("any second area", " || page->area_bytes[1] != area[1])", ")"),
    attach("a page elsewhere", "page_offset != area[0] || ", ""),
    attach("any size", "if (page_offset != area[0] || bytes != area[0] + BH_PAGE_BYTES + area[1])", "if (page_offset != area[0])"),
    attach("slots of no bytes", "slot_bytes == 0 || ", ""),
    attach("slots of part of a line", "slot_bytes % BH_CHANNEL_LINE || ", ""),
    attach("slots of any size", " || slot_bytes > BH_CHANNEL_MOST_SLOT_BYTES)", ")"),
    attach("a mailbox of several", "return slots == 1;", "return slots;"),
    attach("no slots", "return slots && (slots &", "return (slots &"),
    attach("slots that are no power of two", "slots && (slots & (slots - 1)) == 0 && slots", "slots && slots"),
    attach("any number of slots", " && slots <= BH_CHANNEL_MOST_SLOTS;", ";"),
    attach("half a pair of a latest value", "return slots % 2 == 0 && slots >=", "return slots >="),
    attach("a latest value for nobody", "slots >= bh_latest_slots(1) && ", ""),
    attach("a latest value for any number", " && slots <= bh_latest_slots(BH_CHANNEL_MOST_READERS);", ";"),
    reader("a reader that there is not", "if (reader >= end->readers) {", "if (false) {"),
    reader("it is a reader all the same", "end->role = BH_END_DETACHED; return BH_END_INVALID;", "return BH_END_INVALID;"),
    reader("all readers are the first", "end->reading = &end->own->reading[reader];"),
    attach("kinds that there are not", "default: return false;", "default: return true;"),
    attach("areas without their control", "sizeof(struct bh_channel_control) + slots *", "slots *"),
    attach("areas are cut", "(bytes + BH_PAGE_BYTES - 1) & ~", "bytes & ~"),
    attach("one slot for both ends", "side == 0 || kind == BH_CHANNEL_MAILBOX ? slots : 0", "side == 0 ? slots : 0"),
    call("the reader sends", "side ? BH_END_RING_READER : BH_END_RING_SENDER", "BH_END_RING_SENDER"),
    call("the reader writes", "side ? BH_END_LATEST_READER : BH_END_LATEST_WRITER", "BH_END_LATEST_WRITER"),
)

CONNECTIONS = (
    call(
        "counters of another connection go on",
        "if (__atomic_load_n(&control->epoch, __ATOMIC_RELAXED) != own || __atomic_load_n(&control->peer, __ATOMIC_RELAXED) != peer) {",
        "if (false) {",
    ),
    call("another life goes on", "__atomic_load_n(&control->epoch, __ATOMIC_RELAXED) != own || ", ""),
    call("with another life it goes on", " || __atomic_load_n(&control->peer, __ATOMIC_RELAXED) != peer) {", ") {"),
    call(
        "a program anew begins anew",
        "if (__atomic_load_n(&control->epoch, __ATOMIC_RELAXED) != own ||",
        "if (true || __atomic_load_n(&control->epoch, __ATOMIC_RELAXED) != own ||",
    ),
    fault("who takes part again is not unsaid first", "__atomic_store_n(&control->peer, 0, __ATOMIC_RELAXED);"),
    step(
        "said before it is clear",
        "__atomic_store_n(&control->peer, 0, __ATOMIC_RELAXED);",
        "__atomic_store_n(&control->peer, end->peer_epoch, __ATOMIC_RELAXED);",
    ),
    step("what was sent stays", "__atomic_store_n(&control->sent, 0, __ATOMIC_RELEASE);"),
    step("what was taken stays", "__atomic_store_n(&control->taken, 0, __ATOMIC_RELEASE);"),
    reader(
        "slots of pairs stay",
        "for (uint32_t pair = 0; pair <= end->readers; pair++) __atomic_store_n(&control->slot[pair], 0, __ATOMIC_RELEASE);",
    ),
    reader(
        "the last pair's slot stays",
        "pair <= end->readers; pair++) __atomic_store_n(&control",
        "pair < end->readers; pair++) __atomic_store_n(&control",
    ),
    fault("a reader clears", "if (end->role != BH_END_LATEST_READER) bh_end_clear(end);", "bh_end_clear(end);"),
    reader(
        "a reader clears the words of others",
        "if (end->role != BH_END_LATEST_READER) bh_end_clear(end);",
        "if (end->role != BH_END_LATEST_READER) bh_end_clear(end); else for (unsigned n = 0; n < 7; n++) __atomic_store_n(&control->reading[n], 0, __ATOMIC_RELEASE);",
    ),
    reader("a reader is silent as it begins", "if (end->role != BH_END_LATEST_READER) bh_end_clear(end);", "bh_end_clear(end);"),
    reader("a writer waits for the last one to say so", "end->role == BH_END_LATEST_WRITER ? said == 0 : said != own", "said != own"),
    reader("a writer waits for nobody", "end->role == BH_END_LATEST_WRITER ? said == 0 :", "end->role == BH_END_LATEST_WRITER ? false :"),
    reader("a reader takes any life", "end->role == BH_END_LATEST_WRITER ? said == 0 : said != own", "said == 0"),
    reader(
        "nothing is finished",
        "continue; __atomic_store_n(&end->own->latest, pair, __ATOMIC_SEQ_CST);",
        "return; __atomic_store_n(&end->own->latest, pair, __ATOMIC_SEQ_CST);",
    ),
    reader("finished, not the latest", "__atomic_store_n(&end->own->latest, pair, __ATOMIC_SEQ_CST); end->sent++;", "end->sent++;"),
    reader(
        "finished, not counted",
        "end->sent++; __atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELEASE); return; }",
        "end->sent++; return; }",
    ),
    reader(
        "finished, and its number comes again",
        "end->sent++; __atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELEASE); return; }",
        "return; }",
    ),
    reader("any value is finished", "if (!end->slot[pair] || (end->slot[pair] ^ (end->sent + 1) << 1) > 1)", "if (!end->slot[pair])"),
    reader("what was never written is finished", "if (!end->slot[pair] || (", "if (("),
    fault(
        "clearing is not ordered",
        "__atomic_store_n(&control->sent, 0, __ATOMIC_RELEASE);",
        "__atomic_store_n(&control->sent, 0, __ATOMIC_RELAXED);",
    ),
    fault(
        "its life is not ordered",
        "__atomic_store_n(&control->epoch, own, __ATOMIC_RELEASE);",
        "__atomic_store_n(&control->epoch, own, __ATOMIC_RELAXED);",
    ),
    fault(
        "what it says is not ordered",
        "__atomic_store_n(&control->peer, peer, __ATOMIC_RELEASE);",
        "__atomic_store_n(&control->peer, peer, __ATOMIC_RELAXED);",
    ),
    fault("what was broken stays so", "end->broken = end->started = false;", "end->started = false;"),
    call("a reserved slot stays", "if (!connected) { end->reserved = NULL;", "if (!connected) {"),
    call(
        "a message that was shown stays",
        "end->reserved = NULL; end->shown = end->taken; }",
        "end->reserved = NULL; }",
    ),
    step("a value that was read stays", "end->broken = end->started = false;", "end->broken = false;"),
    call(
        "who goes on sends from 0 on",
        "end->sent = end->written = __atomic_load_n(&control->sent, __ATOMIC_RELAXED);",
        "end->sent = end->written = 0;",
    ),
    call(
        "who goes on takes from 0 on",
        "end->taken = end->shown = end->peer_sent = __atomic_load_n(&control->taken, __ATOMIC_RELAXED);",
        "end->taken = end->shown = end->peer_sent = 0;",
    ),
    call(
        "who goes on has shown what is not there",
        "end->taken = end->shown = end->peer_sent =",
        "end->taken = end->peer_sent =",
    ),
    call("who goes on has room", "bh_end_set_taken(end, end->sent - end->slots);", "bh_end_set_taken(end, end->sent);"),
    call(
        "who goes on has other slots", "end->slot[pair] = __atomic_load_n(&end->own->slot[pair], __ATOMIC_RELAXED);", "end->slot[pair] = 0;"
    ),
    call("a new life of its own is the same", "end->connected && own == end->epoch && peer", "end->connected && peer"),
    call("a new life of the other is the same", "own == end->epoch && peer == end->peer_epoch, 1))", "own == end->epoch, 1))"),
    call("connected before it said so", "end->connected && own == end->epoch && peer ==", "own == end->epoch && peer =="),
    call(
        "who has not begun takes part",
        "bh_end_set_connected(end, false); if (own == 0 || peer == 0) return bh_end_absent(end); bh_end_begin",
        "bh_end_begin",
    ),
    call(
        "the other's life may be another",
        "if (__atomic_load_n(&end->peer->epoch, __ATOMIC_ACQUIRE) != peer) return gone ? BH_END_GONE : BH_END_AGAIN;",
    ),
    call("the other may mean another", "said == 0 : said != own)", "said == 0 : false)"),
    fault("the other's life is not acquired", "&end->peer->epoch, __ATOMIC_ACQUIRE)", "&end->peer->epoch, __ATOMIC_RELAXED)"),
    fault("what the other says is not acquired", "&end->peer->peer, __ATOMIC_ACQUIRE)", "&end->peer->peer, __ATOMIC_RELAXED)"),
    fault(
        "what the other says comes before its life",
        "if (__atomic_load_n(&end->peer->epoch, __ATOMIC_ACQUIRE) != peer) return gone ? BH_END_GONE : BH_END_AGAIN; said = __atomic_load_n(&end->peer->peer, __ATOMIC_ACQUIRE);",
        "said = __atomic_load_n(&end->peer->peer, __ATOMIC_ACQUIRE); if (__atomic_load_n(&end->peer->epoch, __ATOMIC_ACQUIRE) != peer) return gone ? BH_END_GONE : BH_END_AGAIN;",
    ),
    fault(
        "what was unsaid is not acquired",
        "if (__atomic_load_n(&end->peer_life->epoch, __ATOMIC_ACQUIRE) != peer) return BH_END_AGAIN;",
    ),
    call(
        "who never had a life is awaited",
        "if (own == 0 || peer == 0) return bh_end_absent(end); bh_end_begin",
        "if (own == 0 || peer == 0) return BH_END_AGAIN; bh_end_begin",
    ),
    call(
        "who closed a channel is gone", "&& __atomic_load_n(&end->peer_life->epoch, __ATOMIC_RELAXED) == 0 ? BH_END_GONE", "? BH_END_GONE"
    ),
    call("who never came is awaited", "!= peer) return gone ? BH_END_GONE : BH_END_AGAIN; said", "!= peer) return BH_END_AGAIN; said"),
    call(
        "who came to a life before this one is awaited",
        "said == 0 : said != own) return gone ? BH_END_GONE : BH_END_AGAIN;",
        "said == 0 : said != own) return BH_END_AGAIN;",
    ),
    fault("what was broken works", "if (end->broken) return BH_END_BROKEN;"),
    fault(
        "what is broken is still connected",
        "end->broken = true; bh_end_set_connected(end, false);",
        "end->broken = true;",
    ),
    fault("broken once only", "end->broken = true; bh_end_set_connected(end, false);", "bh_end_set_connected(end, false);"),
    fault(
        "what a new life cleared is read",
        "const enum bh_end_result result = bh_end_look(end); if (result != BH_END_OK) return result; if (sent - end->taken",
        "if (sent - end->taken",
    ),
    fault("a state is not acquired", "&end->peer_life->state, __ATOMIC_ACQUIRE)", "&end->peer_life->state, __ATOMIC_RELAXED)"),
    fault(
        "gone before the last was read",
        "result = bh_end_read_sent(end); /* what it sent before it went */ return result == BH_END_OK && end->peer_sent == end->taken ? BH_END_GONE : result;",
        "return BH_END_GONE;",
    ),
    call(
        "gone with messages",
        "result = bh_end_read_sent(end); if (result != BH_END_OK || end->peer_sent != end->taken) return result; if (!bh",
        "if (bh_end_peer_gone(end)) return BH_END_GONE; result = bh_end_read_sent(end); if (result != BH_END_OK || end->peer_sent != end->taken) return result; if (!bh",
    ),
    call("never gone", "end->peer_sent == end->taken ? BH_END_GONE : result;", "end->peer_sent == end->taken ? BH_END_AGAIN : result;"),
)

COUNTERS = (
    fault("taken back, and more than sent", "if (taken - end->peer_taken > end->sent - end->peer_taken)", "if (false)"),
    fault("taken back", "if (taken - end->peer_taken > end->sent - end->peer_taken)", "if (end->sent - taken > end->slots)"),
    fault("more sent than there are slots", "if (sent - end->taken > end->slots) return bh_end_refuse(end, BH_END_BROKEN);"),
    call("all slots are too many", "if (sent - end->taken > end->slots)", "if (sent - end->taken >= end->slots)"),
    fault("what is taken is not acquired", "&end->peer->taken, __ATOMIC_ACQUIRE)", "&end->peer->taken, __ATOMIC_RELAXED)"),
    fault(
        "what is sent is not acquired",
        "sent = __atomic_load_n(&end->peer->sent, __ATOMIC_ACQUIRE); const",
        "sent = __atomic_load_n(&end->peer->sent, __ATOMIC_RELAXED); const",
    ),
    fault(
        "what was taken is not released",
        "&end->own->taken, end->taken, __ATOMIC_RELEASE)",
        "&end->own->taken, end->taken, __ATOMIC_RELAXED)",
    ),
    fault("any length", "message->length <= end->slot_bytes && ", ""),
    fault("any flags", " && !(message->flags & ~(uint32_t)(BH_CHANNEL_START | BH_CHANNEL_END | BH_CHANNEL_CHECKED));", ";"),
)

# What is usual is told from what is not by checks that stand in for those of bh_ring_find_room and bh_ring_find_message.
RINGS = (
    call(
        "who reads reserves",
        "if (end->role != BH_END_RING_SENDER) return BH_END_INVALID; if (!end->connected) result",
        "if (!end->connected) result",
    ),
    call("a ring for nobody", "if (bh_end_peer_gone(end)) return BH_END_GONE; return bh_ring", "return bh_ring"),
    call("a full ring has room", "return bh_ring_is_full(end) ? BH_END_AGAIN : BH_END_OK;", "return BH_END_OK;"),
    call(
        "a slot is never free again",
        "result = bh_ring_is_full(end) ? bh_end_read_taken(end) : bh_end_look(end);",
        "result = bh_end_look(end);",
    ),
    call(
        "who has room asks for no new life",
        "result = bh_ring_is_full(end) ? bh_end_read_taken(end) : bh_end_look(end);",
        "if (bh_ring_is_full(end)) result = bh_end_read_taken(end);",
    ),
    fault("taken is asked of whoever is there", "if (!end->connected) result = bh_end_look(end);"),
    call("usually whoever reads, sends", "end->sends_to = connected && end->role == BH_END_RING_SENDER ?", "end->sends_to = connected ?"),
    call(
        "usually whoever is not there",
        "end->expected = connected ? end->peer_epoch : 1;",
        "end->expected = connected ? end->peer_epoch : 0;",
    ),
    call("usually whoever sends, reads", "reads = connected && end->role == BH_END_RING_READER;", "reads = connected;"),
    fault(
        "a counter is read of nobody",
        "end->peer_counter = reads ? &end->peer->sent : &bh_nobody.epoch;",
        "end->peer_counter = &end->peer->sent;",
    ),
    call(
        "usually nobody asks for whom",
        "unusual |= __atomic_load_n(&life->epoch, __ATOMIC_RELAXED) != expected; unusual |= __atomic_load_n(&life->state",
        "unusual |= __atomic_load_n(&life->state",
    ),
    call("usually for nobody", "unusual |= __atomic_load_n(&life->state, __ATOMIC_RELAXED) == BH_CHANNEL_GONE;"),
    call("usually there is room", "unusual = written == full_at;", "unusual = false;"),
    call(
        "slots do not come round",
        "slot = (struct bh_channel_slot *)(slots + (size_t)(written & mask) * stride);",
        "slot = (struct bh_channel_slot *)slots;",
    ),
    call("nothing reserved, something committed", "if (!slot || !bh_flags_valid(flags))", "if (!bh_flags_valid(flags))"),
    call("any flags of the caller's", "if (!slot || !bh_flags_valid(flags))", "if (!slot)"),
    call("longer than a slot", "if (length > end->slot_bytes) return BH_END_SIZE; bh_slot_close", "bh_slot_close"),
    call("longer than a slot, and plain", "end->plain_end = slot_bytes + 1; end->stride", "end->plain_end = slot_bytes + 64; end->stride"),
    fault("nobody is checked", "end->plain_end = checked ? 0 : end->slot_bytes + 1;"),
    fault("checked for ever", "end->plain_end = checked ? 0 : end->slot_bytes + 1;", "end->plain_end = 0;"),
    fault(
        "what must have a CRC has none",
        "bh_slot_close(end, slot, number, length, flags); } else",
        "bh_slot_write(slot, number, length, flags); } else",
    ),
    call("committed twice", "end->reserved = NULL; end->written = number + 1;", "end->written = number + 1;"),
    call("commits without a number", "bh_slot_write(slot, number, length, flags); } end", "bh_slot_write(slot, 0, length, flags); } end"),
    call(
        "published where nobody is",
        "if (!end->connected) { result = bh_end_look(end); if (result != BH_END_OK) return result; } end->sent",
        "end->sent",
    ),
    fault(
        "counted before it is written, or read",
        "__atomic_store_n(own_counter, count, __ATOMIC_RELEASE);",
        "__atomic_store_n(own_counter, count, __ATOMIC_RELAXED);",
    ),
    call(
        "a batch is seen early",
        "end->reserved = NULL; end->written = number + 1;",
        "end->reserved = NULL; end->written = number + 1; __atomic_store_n(end->own_counter, end->written, __ATOMIC_RELEASE);",
    ),
    call("sent as if there were none before", "end->sent = end->written; bh_ring_count(counter", "end->sent++; bh_ring_count(counter"),
    call(
        "usually nothing is reserved, and sent",
        "if (BH_ONE_BRANCH(!slot | !bh_flags_valid(flags) |",
        "if (BH_ONE_BRANCH(!bh_flags_valid(flags) |",
    ),
    call("usually sent with any flags", "if (BH_ONE_BRANCH(!slot | !bh_flags_valid(flags) |", "if (BH_ONE_BRANCH(!slot |"),
    fault("usually what must have a CRC has none", " | (length >= end->plain_end))) return false;", ")) return false;"),
    call("usually of any length", "(length >= end->plain_end)))", "(end->plain_end == 0)))"),
    call("usually sent twice", "end->reserved = NULL; end->written = next;", "end->written = next;"),
    call(
        "usually sent without a number",
        "bh_slot_write(slot, number, length, flags); end->reserved = NULL; end->written = next",
        "bh_slot_write(slot, 0, length, flags); end->reserved = NULL; end->written = next",
    ),
    call("usually nobody sees it", "bh_ring_count(counter, next);"),
    call("usually it is not counted as sent", "end->sent = next;"),
    fault(
        "usually what is sent is not acquired", "__atomic_load_n(counter, __ATOMIC_ACQUIRE);", "__atomic_load_n(counter, __ATOMIC_RELAXED);"
    ),
    fault(
        "usually the page is not asked",
        "unusual = __atomic_load_n(&life->epoch, __ATOMIC_RELAXED) != expected; unusual |= sent",
        "unusual = false; unusual |= sent",
    ),
    fault("usually there are messages", "unusual |= sent - next > mask;"),
    fault("usually there are as many as are said", "unusual |= sent - next > mask;", "unusual |= sent == taken;"),
    call(
        "who sends peeks", "return end->role == BH_END_RING_READER ? bh_end_waiting(end) : BH_END_INVALID;", "return bh_end_waiting(end);"
    ),
    fault("any number", "if (!bh_message_valid(end, found) || found->number != end->taken)", "if (!bh_message_valid(end, found))"),
    fault("usually any number", " | (found.number != taken))) return", ")) return"),
    call(
        "what was refused is shown",
        "if (result == BH_END_OK || result == BH_END_CHECK) bh_ring_show(end",
        "bh_ring_show(end",
    ),
    fault(
        "what is damaged is not shown",
        "if (result == BH_END_OK || result == BH_END_CHECK) bh_ring_show(end",
        "if (result == BH_END_OK) bh_ring_show(end",
    ),
    fault("what is not usual is shown to nobody", "if (result == BH_END_OK || result == BH_END_CHECK) *message = found;"),
    call("a slot that was sought is nobody's", "if (result == BH_END_OK) *data = slot;"),
    call(
        "what is sought and not found is shown",
        "return result == BH_END_OK ? bh_ring_show_judged(end, message) : result;",
        "return bh_ring_show_judged(end, message);",
    ),
    fault("anything in a ring", "if (!bh_message_valid(end, found) || found->number != end->taken)", "if (found->number != end->taken)"),
    fault("usually any length", "BH_ONE_BRANCH((found.length >= plain_end) | ", "BH_ONE_BRANCH("),
    fault("usually any flags", "(found.flags >= BH_CHANNEL_CHECKED) | ", ""),
    fault(
        "slots are read in one place",
        "slot = (const struct bh_channel_slot *)(slots + (size_t)(taken & mask) * stride);",
        "slot = (const struct bh_channel_slot *)slots;",
    ),
    call("what is known to be sent is forgotten", "end->peer_sent = sent; end->shown", "end->shown"),
    call(
        "released unseen",
        "if (__builtin_expect(shown == end->taken, 0)) return bh_ring_none_shown(end); end->taken = shown;",
        "end->taken++;",
    ),
    call("released twice", "if (__builtin_expect(shown == end->taken, 0)) return bh_ring_none_shown(end);"),
    call(
        "who has nothing to release hears of no new life",
        "const enum bh_end_result result = end->role == BH_END_RING_READER ? bh_end_look(end) : BH_END_OK;",
        "const enum bh_end_result result = BH_END_OK;",
    ),
)

MAILBOXES = (
    call("any flags in a mailbox", "BH_END_MAILBOX || !bh_flags_valid(flags))", "BH_END_MAILBOX)"),
    call(
        "a letter for nobody",
        "if (bh_end_peer_gone(end)) return BH_END_GONE; if (length > end->slot_bytes) return BH_END_SIZE; result = bh_end_read_taken",
        "if (length > end->slot_bytes) return BH_END_SIZE; result = bh_end_read_taken",
    ),
    call(
        "a letter of any length",
        "if (length > end->slot_bytes) return BH_END_SIZE; result = bh_end_read_taken",
        "result = bh_end_read_taken",
    ),
    call("a letter over another", "end->peer_taken != end->sent || end->peer_sent", "end->peer_sent"),
    call(
        "a letter before the answer is read", " || end->peer_sent != end->taken) return BH_END_AGAIN; slot", ") return BH_END_AGAIN; slot"
    ),
    fault(
        "a letter before it is written",
        "end->sent++; __atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELEASE); return BH_END_OK; } /* * Copies the other",
        "end->sent++; __atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELAXED); return BH_END_OK; } /* * Copies the other",
    ),
    fault(
        "another letter",
        " || found.number != end->taken) return bh_end_refuse(end, BH_END_BROKEN); found.data",
        ") return bh_end_refuse(end, BH_END_BROKEN); found.data",
    ),
    call("a letter longer than the buffer", "if (found.length > capacity) return BH_END_SIZE; bh_copy_from_slot", "bh_copy_from_slot"),
    call("a letter stays", "bh_end_take(end); return result; } /* ---- LATEST", "return result; } /* ---- LATEST"),
)

LATEST = (
    call(
        "a value for nobody",
        "if (bh_end_peer_gone(end)) return BH_END_GONE; if (length > end->slot_bytes) return BH_END_SIZE; pair",
        "if (length > end->slot_bytes) return BH_END_SIZE; pair",
    ),
    call("a value of any length", "if (length > end->slot_bytes) return BH_END_SIZE; pair", "pair"),
    step(
        "the pair that is read is written",
        "&end->peer->reading[0], __ATOMIC_SEQ_CST) & 1) ^ 1;",
        "&end->peer->reading[0], __ATOMIC_SEQ_CST) & 1);",
    ),
    step("the newest slot is written", "(~end->slot[pair] & 1);", "(end->slot[pair] & 1);"),
    step("a pair has one slot", "slot = bh_own_slot(end, index); bh_copy", "slot = bh_own_slot(end, index & ~1U); bh_copy"),
    fault("any pair is written", "&end->peer->reading[0], __ATOMIC_SEQ_CST) & 1) ^ 1;", "&end->peer->reading[0], __ATOMIC_SEQ_CST)) ^ 1;"),
    reader("the first reader is not asked", "reader = 0; reader < end->readers;", "reader = 1; reader < end->readers;"),
    Mutation(
        "channel: a reader is not rung for another one",
        "abi/channel_wait.h",
        " && (wants || end->role != BH_END_LATEST_READER || end->readers == 1))",
        ")",
        READERS,
    ),
    reader("the last reader is not asked", "reader < end->readers; reader++) said", "reader + 1 < end->readers; reader++) said"),
    reader("a pair that somebody reads", "while (said >> pair & 1)", "while (false)"),
    reader("a word without the number", "word = (number + 1) << 1 | (index & 1);", "word = index & 1;"),
    fault("a pair that there is not", "if (pair > end->readers) return bh_end_refuse(end, BH_END_BROKEN);", "pair %= 2;"),
    fault(
        "any slot is read",
        "(__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST) & 1));",
        "(__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST) % 3));",
    ),
    fault("who reads is not seen", "&end->peer->reading[0], __ATOMIC_SEQ_CST)", "&end->peer->reading[0], __ATOMIC_ACQUIRE)"),
    fault(
        "who of several reads is not seen",
        "&end->peer->reading[reader], __ATOMIC_SEQ_CST)",
        "&end->peer->reading[reader], __ATOMIC_ACQUIRE)",
    ),
    fault("the latest pair is not seen", "&own->latest, pair, __ATOMIC_SEQ_CST)", "&own->latest, pair, __ATOMIC_RELEASE)"),
    fault("the latest slot is not seen", "&own->slot[pair], word, __ATOMIC_SEQ_CST)", "&own->slot[pair], word, __ATOMIC_RELEASE)"),
    fault("reading is not seen", "end->reading, pair, __ATOMIC_SEQ_CST)", "end->reading, pair, __ATOMIC_RELEASE)"),
    fault("the pair is read late", "&peer->latest, __ATOMIC_SEQ_CST)", "&peer->latest, __ATOMIC_ACQUIRE)"),
    fault("the slot is read late", "&peer->slot[pair], __ATOMIC_SEQ_CST)", "&peer->slot[pair], __ATOMIC_ACQUIRE)"),
    step("who reads does not say so", "__atomic_store_n(end->reading, pair, __ATOMIC_SEQ_CST);"),
    reader("a value, and then the one before", "if (__builtin_expect(!end->started || first + 1 != end->taken, 1)) {", "if (true) {"),
    reader("the pair that is said is forgotten", "end->pair = pair; __atomic_store_n(end->reading", "__atomic_store_n(end->reading"),
    step(
        "the pair before its slot",
        "__atomic_store_n(&own->slot[pair], word, __ATOMIC_SEQ_CST); __atomic_store_n(&own->latest, pair, __ATOMIC_SEQ_CST);",
        "__atomic_store_n(&own->latest, pair, __ATOMIC_SEQ_CST); __atomic_store_n(&own->slot[pair], word, __ATOMIC_SEQ_CST);",
    ),
    call("a value before any", "if (first == 0 && !end->started) {", "if (false) {"),
    step(
        "a value of a life that has ended",
        "__atomic_thread_fence(__ATOMIC_ACQUIRE); result = bh_end_look(end); if (result != BH_END_OK) return result; first--;",
        "first--;",
    ),
    fault("a value too long", "if (!valid || found.number", "if (found.number"),
    fault("an old value, and one to come", " || found.number - first > last - first)", ")"),
    fault("an old value", "found.number - first > last - first)", "found.number > last)"),
    call("a value longer than the buffer", "if (valid && found.length <= capacity)", "if (valid)"),
    call("the last value is gone", "if (gone && end->started && found.number + 1 == end->taken)", "if (gone)"),
    call("the last value for ever", "if (gone && end->started && found.number + 1 == end->taken) return BH_END_GONE;"),
)

CHECKS = (
    attach("a CRC begins with 0", "crc = ~crc; for", "for"),
    attach("another polynomial", "0x105ec76f", "0x105ec76e"),
    fault("its life is not checked", "{ from, to, message->number,", "{ 0, to, message->number,"),
    fault("the other's life is not checked", "{ from, to, message->number,", "{ from, 0, message->number,"),
    fault("the flags are not checked", "message->number, message->flags, message->length }", "message->number, message->length }"),
    fault("the length is not checked", "message->flags, message->length }", "message->flags }"),
    fault(
        "the data are not checked",
        "return bh_crc32c(bh_crc32c(0, head, sizeof(head)), message->data, message->length);",
        "return bh_crc32c(0, head, sizeof(head));",
    ),
    fault("a message without a CRC passes", "return bh_end_is_checked(end);", "return false;"),
    fault(
        "nobody checks who need not",
        "if (message->flags & BH_CHANNEL_CHECKED) return",
        "if (bh_end_is_checked(end) && message->flags & BH_CHANNEL_CHECKED) return",
    ),
    fault(
        "who checks, is not checked",
        "return bh_message_check(end->peer_epoch, end->epoch, message) != __atomic_load_n(&slot->check, __ATOMIC_RELAXED);",
        "return false;",
    ),
    fault("a damaged letter passes", "if (bh_message_damaged(end, slot, &found)) {", "if (false) {"),
    fault(
        "a damaged value passes",
        "if (found.length <= capacity && bh_message_damaged(end, slot, &found)) return bh_end_refuse(end, BH_END_CHECK);",
    ),
    fault(
        "a damaged message passes",
        "return bh_message_damaged(end, slot, found) ? bh_end_refuse(end, BH_END_CHECK) : BH_END_OK;",
        "return BH_END_OK;",
    ),
)

CHANNEL_ENDS = (*ATTACHING, *CONNECTIONS, *COUNTERS, *RINGS, *MAILBOXES, *LATEST, *CHECKS)
