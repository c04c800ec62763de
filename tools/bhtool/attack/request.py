# SPDX-License-Identifier: Apache-2.0
"""One attempt to break out, as it is drawn by the host tool and carried out by tests/guests/probe/campaign.c."""

import enum
import struct
from dataclasses import dataclass, field

CODE_BYTES = 40
ENTRY = struct.Struct(f"<QQII{CODE_BYTES}s")  # struct campaign_request
MASK = (1 << 64) - 1


class Outcome(enum.IntEnum):
    """enum campaign_outcome."""

    UNTRIED = 0
    STOPPED = 1  # never came back
    REFUSED = 2  # an exception in the sandbox
    RETURNED = 3  # with a value that is none of these
    ZERO = 4
    ONES = 5
    OUTLIVED = 6  # never came back, but its network card went on


ANYTHING = frozenset(Outcome) - {Outcome.UNTRIED, Outcome.OUTLIVED}
NEVER_BACK = frozenset({Outcome.STOPPED})
NO_VALUE = frozenset({Outcome.STOPPED, Outcome.REFUSED, Outcome.ZERO, Outcome.ONES})
NOTHING_THERE = frozenset({Outcome.STOPPED, Outcome.REFUSED, Outcome.ZERO})
EMPTY_BUS = frozenset({Outcome.STOPPED, Outcome.REFUSED, Outcome.ONES})
NOT_DONE = frozenset({Outcome.STOPPED, Outcome.REFUSED})


class Aim(enum.IntFlag):
    """enum campaign_flags: what the code's first argument is, and in which mode it runs."""

    NUMBER = 0  # `target` itself
    ADDRESS = 1  # where `target` is mapped
    TABLE = 2  # where `target`, made a page table, leads
    ALIAS = 4  # where `target` is mapped, of three places
    PROTECTED = 8  # `target` itself; the code runs in 32-bit protected mode
    REAL = 16  # `target` itself; the code runs in real mode
    DMA = 32  # no code: a network card does what `value` says at `target`
    PARTNER = 64  # or-ed: the sandbox takes part in its channels before it runs the code, and opens those on request
    CLOSED = 128  # or-ed: after that it closes them
    FRESH = 256  # or-ed: the code runs first of all in a life, after one that has left them open


class Rival(enum.IntEnum):
    """enum campaign_rival: what the sandbox's other core turns over and back meanwhile."""

    NONE = 0
    REWRITE = 1  # the code's second eight bytes, for `value`
    REAIM = 2  # the page that `target` is seen by, for that of `value`
    RECODE = 3  # the page that the code is run from, for that of `value`
    TOUCH = 4  # the eight bytes at `target` itself, for their complement: `value` remains


@dataclass(frozen=True)
class Attempt:
    """What a class draws: instructions, what to run them on, and which outcomes leave the others unharmed."""

    text: str
    code: bytes = field(repr=False)
    target: int
    value: int = 0
    aim: Aim = Aim.NUMBER
    contained: frozenset[Outcome] = ANYTHING
    rival: Rival = Rival.NONE


@dataclass(frozen=True)
class Request:
    """The attempt with this number of a campaign."""

    number: int
    group: str
    attempt: Attempt
    cast: int = 1  # of the machine on which it is made: the cores that it takes, or the state of the card
    place: int = 0  # of the sandbox that makes it among the hostile ones
    edge: str = ""  # of a page, and
    state: str = ""  # of the card, where it is the card that attacks
    left_out: bool = False  # the emulator is known to let it through

    def pack(self) -> bytes:
        one = self.attempt
        assert len(one.code) <= CODE_BYTES, self
        return ENTRY.pack(one.target & MASK, one.value & MASK, one.aim, one.rival, one.code)

    def __str__(self) -> str:
        return f"attempt {self.number}, {self.group}: {self.attempt.text}"
