# SPDX-License-Identifier: Apache-2.0
"""A timer of the machine that is always near, for QEMU where it counts instructions.

QEMU runs one core at a time there. Cores share the time to the machine's next timer in equal turns (accel/tcg/tcg-accel-ops-icount.c,
icount_percpu_budget). A timer whose interrupt waits for its core counts for none; if all do, the next is 100 ms away, and a core that works keeps the
others waiting for 25 ms. A filter of packets looks at its network, which no guest is on, whenever its interval ends: that is the next timer then.

It also keeps the clock of a machine in which every core sleeps: without it, the clock stands there, or is set to the next timer however far that is
(icount-common.c, icount_start_warp_timer).
"""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

INTERVAL_US = 500  # turns of four cores are an eighth of a millisecond; at 10, Linux would start three times as slowly
TIMER, NETWORK = "near-timer", "near"
ANSWER_SECONDS = 5.0  # of the host's, after which QEMU is taken for one that does not answer
OPEN, DELETE, ADD = "qmp_capabilities", "object-del", "object-add"
SETS = {DELETE: False, ADD: True}  # whether the timer is set afterwards
FILTER: dict[str, object] = {"qom-type": "filter-buffer", "id": TIMER, "netdev": NETWORK, "interval": INTERVAL_US}


def options(descriptor: int) -> list[str]:
    """The network, the timer, and the line of QEMU's machine protocol over which it is taken away."""
    of_filter = ",".join(["filter-buffer", *(f"{name}={value}" for name, value in FILTER.items() if name != "qom-type")])
    return [
        *("-netdev", f"hubport,id={NETWORK},hubid=1", "-object", of_filter),
        *("-chardev", f"socket,id=control,fd={descriptor}", "-mon", "chardev=control,mode=control"),
    ]


class NearTimer:
    """Ours to take away for a while, so that a machine in which nothing will happen stands still.

    Each command carries an ID, and its answer carries the same (QEMU's manual, "QEMU Machine Protocol Specification", "Issuing Commands"). So an answer
    that comes after we have stopped waiting for it is not taken for that of a later command; what it says has still happened.
    """

    def __init__(self, line: socket.socket) -> None:
        """`line`: our end of QEMU's."""
        self._line, self._read, self._is_open = line, b"", False
        self._count = 0
        self._asked: dict[int, str] = {}  # commands that have not been answered, by ID
        self.is_set = True

    def take_away(self) -> bool:
        """Whether it is gone now."""
        self._ask(DELETE, {"id": TIMER})
        return not self.is_set

    def give_back(self) -> None:
        self._ask(ADD, FILTER)

    def _ask(self, command: str, arguments: dict[str, object]) -> None:
        """Commands are refused until OPEN ("Capabilities Negotiation")."""
        self._line.settimeout(ANSWER_SECONDS)
        with suppress(OSError):  # it does not answer in time, or has ended
            if not self._is_open:
                self._command(OPEN, {})
            if self._is_open:
                self._command(command, arguments)

    def _command(self, command: str, arguments: dict[str, object]) -> None:
        """Returns when it is answered, or the line is closed."""
        self._count += 1
        self._asked[self._count] = command
        said = {"execute": command, **({"arguments": arguments} if arguments else {}), "id": self._count}
        self._line.sendall(json.dumps(said).encode() + b"\n")
        for one in self._said():
            self._note(one)
            if self._count not in self._asked:
                return

    def _note(self, said: dict[str, object]) -> None:
        """The greeting and events carry no ID. A command that was refused has changed nothing."""
        number = said.get("id")
        command = self._asked.pop(number, "") if isinstance(number, int) else ""
        if "return" not in said:
            return
        if command == OPEN:
            self._is_open = True
        elif command in SETS:
            self.is_set = SETS[command]

    def _said(self) -> Iterator[dict[str, object]]:
        """Greeting, events and answers, until the line is closed."""
        while True:
            first, separator, rest = self._read.partition(b"\n")
            if separator:
                self._read = rest
                yield json.loads(first)
            elif more := self._line.recv(1 << 16):
                self._read += more
            else:
                return
