# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in what monitors say of the ends of channels, in how these begin, and in what the sandbox kernel does with them. Start-up's checks:
rows_table.py; the calls: rows_channel.py."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_channel import CHANNEL_ENDS
from tests.mutation.rows_channel_calls import CALL_PARTS, CALL_PROGRAMS, CHANNEL_CALLS
from tests.mutation.rows_doorbell import DOORBELL_PARTS, DOORBELL_PROGRAMS, DOORBELL_ROWS
from tests.mutation.rows_linux_memory import LINUX_MEMORY_PARTS, LINUX_MEMORY_PROGRAMS, LINUX_MEMORY_ROWS
from tests.mutation.rows_request import REQUEST_PARTS, REQUEST_PROGRAMS, REQUEST_ROWS
from tests.mutation.rows_table import CHANNEL_CHECKS
from tests.mutation.rows_telemetry import TELEMETRY_PARTS, TELEMETRY_PROGRAMS, TELEMETRY_ROWS
from tests.mutation.rows_terminal import TERMINAL_PARTS, TERMINAL_PROGRAMS, TERMINAL_ROWS

TELL = "monitor/tell.h"
PARTITION = "monitor/boot/partition_boot.c"
CHANNELS, CHANNELS_START = "monitor/channels.c", "monitor/boot/channels_boot.c"
KERNEL, SHELL, PROGRAM = (f"kernel/core/{name}.c" for name in ("channels", "shell_channels", "channel_programs"))
MEMORY_PROGRAMS = {name: f"tests/unit/{name}.c" for name in ("channels_boot_test", "kernel_channels_test")}
MEMORY_PARTS = {
    "channels_boot_test": [CHANNELS_START, "tests/unit/fake_arch.c"],
    "kernel_channels_test": [KERNEL, SHELL, PROGRAM, "kernel/core/text.c", "kernel/core/clock.c", "tests/unit/fake_cpu.c"],
}
MEMORY_PROGRAMS |= CALL_PROGRAMS | DOORBELL_PROGRAMS | TERMINAL_PROGRAMS | TELEMETRY_PROGRAMS | REQUEST_PROGRAMS | LINUX_MEMORY_PROGRAMS
MEMORY_PARTS |= CALL_PARTS | DOORBELL_PARTS | TERMINAL_PARTS | TELEMETRY_PARTS | REQUEST_PARTS | LINUX_MEMORY_PARTS


def told(what: str, old: str, new: str = "", caught_by: str = "restart_test", file: str = CHANNELS) -> Mutation:
    return Mutation(f"channels: {what}", file, old, new, caught_by)


def order(what: str, old: str, new: str) -> Mutation:
    return Mutation(f"channels: {what}", TELL, old, new, "channels_boot_test")


def begins(what: str, old: str, new: str = "", caught_by: str = "channels_boot_test") -> Mutation:
    return Mutation(f"channels begin: {what}", CHANNELS_START, old, new, caught_by)


def kernel(what: str, old: str, new: str = "", file: str = KERNEL) -> Mutation:
    return Mutation(f"kernel's channels: {what}", file, old, new, "kernel_channels_test")


CHANNEL_ROWS = (
    *CHANNEL_ENDS,
    *TERMINAL_ROWS,
    *TELEMETRY_ROWS,
    *LINUX_MEMORY_ROWS,
    *REQUEST_ROWS,
    *CHANNEL_CALLS,
    *DOORBELL_ROWS,
    told("every life is the first", "end->seen->epoch + 1", "1", file=TELL),
    told("lives count from 0", "end->seen->epoch + 1", "end->seen->epoch", file=TELL),
    told("nobody is told", "end < monitor.ends + monitor.end_count", "false"),
    told("a life speaks for the next one", "__atomic_store_n(end->peer, 0, __ATOMIC_RELAXED);", file=TELL),
    order("an end is a new life", "if (state == BH_CHANNEL_LIVES) {", "{"),
    order(
        "a life is told of before it is silent",
        "__atomic_store_n(end->peer, 0, __ATOMIC_RELAXED); __atomic_store_n(&end->seen->epoch, end->seen->epoch + 1, __ATOMIC_RELEASE);",
        "__atomic_store_n(&end->seen->epoch, end->seen->epoch + 1, __ATOMIC_RELEASE); __atomic_store_n(end->peer, 0, __ATOMIC_RELAXED);",
    ),
    order("its life is not ordered", "+ 1, __ATOMIC_RELEASE", "+ 1, __ATOMIC_RELAXED"),
    order("its state is not ordered", "state, __ATOMIC_RELEASE", "state, __ATOMIC_RELAXED"),
    told("who has begun again is not told of", "channels_tell(core, BH_CHANNEL_LIVES);", file="monitor/restart.c"),
    told("who has ended lives on", "channels_tell(core, BH_CHANNEL_GONE);", ";", file="monitor/restart.c"),
    told(
        "who still sends is gone",
        "quiet = (quiet || ends) && hal_partition_quiesce(core); if (ends) { channels_tell(core, BH_CHANNEL_GONE);",
        "if (ends) channels_tell(core, BH_CHANNEL_GONE); quiet = (quiet || ends) && hal_partition_quiesce(core); if (ends) {",
        file="monitor/restart.c",
    ),
    told("who trapped while it ended lives on", "channels_tell(core, BH_CHANNEL_GONE);", ";", caught_by="run_test", file="monitor/run.c"),
    told("who runs has yet to come", "channels_tell(core, BH_CHANNEL_LIVES);", caught_by="run_test", file="monitor/run.c"),
    begins("what a loader left", "words_fill(words, bytes / WORD_BYTES, 0);"),
    begins("with caches only", "arch_cache_publish(words, bytes);"),
    begins(
        "less is emptied", "return row->area_bytes[0] + BH_PAGE_BYTES + row->area_bytes[1];", "return row->area_bytes[0] + BH_PAGE_BYTES;"
    ),
    begins("without a name", "page->name[n] = row->name[n];", ";"),
    begins("slots lie close", "row->slot_bytes + (uint32_t)sizeof(struct bh_channel_slot)", "row->slot_bytes"),
    begins("everybody tells", "if (end == 2) continue;", "end %= 2;"),
    begins("of the other end", ".seen = &page_of(row)->end[end],", ".seen = &page_of(row)->end[!end],"),
    begins("the other end's control", "&control_of(row, end)->peer", "&control_of(row, !end)->peer"),
    told("a monitor maps no page", "map_one_to_one(space, page, page + BH_PAGE_BYTES);", "", "space_test", PARTITION),
    told("or no area", "map_one_to_one(space, row->hpa, row->hpa + BH_PAGE_BYTES);", "", "space_test", PARTITION),
    told("the area of the other end", "page + UINT64_C(2) * BH_PAGE_BYTES", "page + BH_PAGE_BYTES", "space_test", PARTITION),
    told("a form that overflows", "bytes - least < BH_PAGE_BYTES", "true", "table_test", CHANNEL_CHECKS),
    told("one slot too many", "&& row->slots <= BH_CHANNEL_MOST_SLOTS", "", "table_test", CHANNEL_CHECKS),
    told("slots of no power of two", "is_power_of_two(row->slots) &&", "", "table_test", CHANNEL_CHECKS),
    told("a mailbox with two", "return row->slots == 1;", "return row->slots;", "table_test", CHANNEL_CHECKS),
    told("half a pair", "row->slots % 2 == 0 &&", "", "table_test", CHANNEL_CHECKS),
    told("no reader", "row->slots >= 4 &&", "", "table_test", CHANNEL_CHECKS),
    told("one reader too many", "&& row->slots <= 2 * BH_CHANNEL_MOST_READERS + 2", "", "table_test", CHANNEL_CHECKS),
    told("a part of another's end", "row->sandbox[end] == region->sandbox && is_part", "is_part", "table_test", CHANNEL_CHECKS),
    kernel("an end is taken twice", "one->taken |= 1;", ""),
    kernel("another end each time", "&& one->grant != grant", ""),
    kernel("one that is not understood", "grant->vector) == BH_END_OK;", "grant->vector) <= BH_END_INVALID;"),
    kernel("a text that is too long", "if (length > end->slot_bytes) return BH_END_SIZE;", file=SHELL),
    kernel("what is damaged is shown for ever", "if (result == BH_END_CHECK) bh_ring_release(end);", file=SHELL),
    kernel("what is too long stays in a mailbox", "bh_end_take(end);", "", SHELL),
    kernel("more of it than there is room for", "message->length = SHOWN_BYTES;", "", SHELL),
    kernel("anybody's bytes on the console", "if (text[n] < ' ' || text[n] > '~')", "if (false)", SHELL),
    kernel("a full channel counts as sent", "else if (result == BH_END_AGAIN && end->connected)", "else if (false)", PROGRAM),
    kernel("the same value again and again", "result == BH_END_OK && end->taken != before", "result == BH_END_OK", PROGRAM),
    kernel("a damaged message stays", "if (result != BH_END_OK && result != BH_END_CHECK)", "if (result != BH_END_OK)", PROGRAM),
    kernel("how late is not told", "if (right && late > run->notes[LATEST_NS].count)", "if (false)", PROGRAM),
)
