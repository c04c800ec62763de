# SPDX-License-Identifier: Apache-2.0
"""Steps of one core: over a line's instructions, and to where its guest goes on."""

from __future__ import annotations

from typing import Protocol

from bhtool.debugger.target import Stop, Tick


class Stepped(Protocol):
    """A sandbox in a machine, as far as a step needs it."""

    def step(self, slot: int, tick: Tick) -> Stop:
        """One instruction of the core's guest."""

    def run(self, tick: Tick) -> Stop:
        """Everything, to the sandbox's next stop."""

    def pass_over(self, slot: int, tick: Tick) -> bool:
        """Past a breakpoint; whether the machine was to be stopped."""

    def interrupted(self, slot: int) -> Stop: ...
    def address(self, slot: int) -> int: ...
    def has_breakpoint(self, address: int) -> bool: ...

    def set_places(self, addresses: set[int]) -> list[bytes]:
        """Breakpoints of our own, where gdb has none; what clear_places has to know of them."""

    def clear_places(self, places: list[bytes]) -> None: ...


def step_through(target: Stepped, slot: int, tick: Tick, span: range) -> Stop:
    """One instruction, and on as long as the next is in `span` and no breakpoint."""
    while True:
        stop = target.step(slot, tick)
        at = target.address(slot)
        if stop != Stop(slot) or at not in span or target.has_breakpoint(at):
            return stop
        if tick():
            return target.interrupted(slot)


def run_to(target: Stepped, slot: int, tick: Tick, addresses: set[int]) -> Stop:
    """Everything runs until this core is at one of the addresses, or the sandbox has another reason to stop."""
    places = target.set_places(addresses)
    try:
        while True:
            stop = target.run(tick)
            if stop.slot == slot or stop != Stop(stop.slot) or target.has_breakpoint(target.address(stop.slot)):
                return stop
            if target.pass_over(stop.slot, tick):
                return target.interrupted(slot)
    finally:
        target.clear_places(places)
