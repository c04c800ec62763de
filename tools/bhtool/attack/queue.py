# SPDX-License-Identifier: Apache-2.0
"""Requests as the hostile sandbox finds them in its RAM, and the notes it leaves in its log ring: tests/guests/probe/campaign.h."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from bhtool import abi
from bhtool import elf as files
from bhtool.attack.request import ENTRY, MASK, Outcome, Request
from bhtool.config.span import Span
from bhtool.machine.memory import Memory

HEADER = struct.Struct("<IIIIQQQ24x")  # struct campaign_queue
NOTES = struct.Struct("<IIII")  # struct campaign_notes, before the outcomes
MAGIC, NOTES_AT = 0x4D414342, 2048
NOWHERE = Span(0, 0)
TEXT_AT = 64  # of struct bh_log
MOST = abi.lib.BH_LOG_TEXT_BYTES - NOTES_AT - NOTES.size  # requests in one queue


@dataclass(frozen=True)
class Notes:
    begun: int
    done: bool
    lives: int
    outcomes: bytes

    def outcome(self, n: int) -> Outcome:
        """A hostile sandbox may write anything there."""
        value = self.outcomes[n]
        return Outcome(value) if value in Outcome._value2member_map_ else Outcome.RETURNED


def pack_queue(requests: Sequence[Request], first: int, identity: int, room: int = 0, word: int = 0, spare: Span = NOWHERE) -> bytes:
    """`word`: of frames that its network card writes, which stands inverted there. `spare`: of its RAM, for what that writes to itself."""
    assert len(requests) <= MOST
    packed = HEADER.pack(MAGIC, len(requests), first, identity, ~word & MASK, spare.start, spare.size) + b"".join(
        request.pack() for request in requests
    )
    return packed.ljust(HEADER.size + room * ENTRY.size, b"\0")


def read_notes(memory: Memory, pool: int, identity: int) -> Notes | None:
    """None before the sandbox has begun with this queue."""
    found, begun, done, lives = NOTES.unpack(memory.read(pool + abi.lib.BH_POOL_LOG + TEXT_AT + NOTES_AT, NOTES.size))
    if found != identity:
        return None
    outcomes = memory.read(pool + abi.lib.BH_POOL_LOG + TEXT_AT + NOTES_AT + NOTES.size, MOST)
    return Notes(min(begun, MOST), bool(done), lives, outcomes)


def with_queue(kernel: bytes, queue: bytes, address: int) -> bytes:
    """The sandbox kernel's ELF file with one more segment. Of the other parts, what is loaded stays."""
    form = files.form_of(kernel)
    assert form
    header = files.read_header(form, kernel)
    loads = [one for one in files.read_programs(form, header, kernel) or [] if one.type == files.PT_LOAD]
    content, programs = b"", []
    offset = form.headers_size(len(loads) + 1)
    for one in loads:
        programs.append(files.Program(one.type, one.flags, offset + len(content), *_rest(one)))
        content += kernel[one.offset : one.offset + one.file_bytes]
    size = len(queue)
    programs.append(files.Program(files.PT_LOAD, 4, offset + len(content), address, address, size, size, 8))
    return form.pack_headers(header, programs) + content + queue


def _rest(one: files.Program) -> tuple[int, int, int, int, int]:
    return one.virtual, one.physical, one.file_bytes, one.memory_bytes, one.alignment
