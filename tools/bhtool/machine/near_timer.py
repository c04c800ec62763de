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

INTERVAL_US = 500  # turns of four cores are an eighth of a millisecond; at 10, Linux would start three times as slowly
TIMER, NETWORK = "near-timer", "near"
ANSWER_SECONDS = 5.0  # of the host's, after which QEMU is taken for one that does not answer
FILTER = {"qom-type": "filter-buffer", "id": TIMER, "netdev": NETWORK, "interval": INTERVAL_US}


def options(descriptor: int) -> list[str]:
    """The network, the timer, and the line of QEMU's machine protocol over which it is taken away."""
    of_filter = ",".join(["filter-buffer", *(f"{name}={value}" for name, value in FILTER.items() if name != "qom-type")])
    return [
        *("-netdev", f"hubport,id={NETWORK},hubid=1", "-object", of_filter),
        *("-chardev", f"socket,id=control,fd={descriptor}", "-mon", "chardev=control,mode=control"),
    ]


class NearTimer:
    """Ours to take away for a while, so that a machine in which nothing will happen stands still."""

    def __init__(self, line: socket.socket) -> None:
        """`line`: our end of QEMU's."""
        self._line, self._read, self._is_open = line, b"", False
        self.is_set = True

    def take_away(self) -> bool:
        """Whether it is gone now."""
        self.is_set = not self._ask("object-del", {"id": TIMER})
        return not self.is_set

    def give_back(self) -> None:
        self.is_set = self._ask("object-add", FILTER)

    def _ask(self, command: str, arguments: object) -> bool:
        """QEMU's manual, "QEMU Machine Protocol": commands are refused until qmp_capabilities."""
        self._line.settimeout(ANSWER_SECONDS)
        try:
            if not self._is_open:
                self._is_open = self._answer({"execute": "qmp_capabilities"})
            return self._is_open and self._answer({"execute": command, "arguments": arguments})
        except OSError:
            return False  # it does not answer in time, or has ended

    def _answer(self, command: object) -> bool:
        self._line.sendall(json.dumps(command).encode() + b"\n")
        return next(("return" in one for one in self._said() if "return" in one or "error" in one), False)

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
