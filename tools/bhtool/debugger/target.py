# SPDX-License-Identifier: Apache-2.0
"""What the server asks of a sandbox, live or on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bhtool.config.plan import SandboxPlan

TRAP, INTERRUPTED, CRASHED = 5, 2, 11  # SIGTRAP, SIGINT, SIGSEGV as gdb numbers them


@dataclass(frozen=True)
class Stop:
    """Why the sandbox stands. `slot` counts its cores from 0, boot core first."""

    slot: int
    signal: int = TRAP
    more: bytes = b""  # as in a stop reply: `watch:40080000;`
    is_end: bool = False  # the machine or the sandbox has ended


NO_SPAN = range(0)
Tick = Callable[[], bool]  # called while the sandbox runs, many times a second; whether it is to be interrupted


class Target(Protocol):
    @property
    def sandbox(self) -> SandboxPlan: ...

    @property
    def cores(self) -> list[int]: ...

    @property
    def describes_itself(self) -> bool:
        """Whether it has a description of its registers; else gdb takes the architecture's own."""

    def about(self, slot: int) -> str:
        """One line for `info threads`."""

    def registers(self, slot: int) -> bytes:
        """A `g` packet."""

    def memory(self, slot: int, address: int, size: int) -> bytes | None:
        """None: the sandbox has nothing there."""

    def write_memory(self, slot: int, address: int, data: bytes) -> bool: ...

    def forward(self, slot: int, packet: bytes) -> bytes:
        """Register, breakpoint and description packets, which the machine answers itself; empty: it does not know them."""

    def resume(self, slot: int | None, tick: Tick, span: range = NO_SPAN) -> Stop:
        """Runs everything until the sandbox stops. If `slot` names a core: one instruction of it, and on as long as the next is in `span`."""
