# SPDX-License-Identifier: Apache-2.0
"""gdb's end: what it asks of a remote target, in terms of one sandbox. GDB manual, Appendix E "Remote Serial Protocol". Threads count from 1."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bhtool.debugger.packets import INTERRUPT, Ended, Line
from bhtool.debugger.target import CRASHED, INTERRUPTED, NO_SPAN, Stop, Target

SUPPORTED, DESCRIBES = b"PacketSize=1000;vContSupported+", b";qXfer:features:read+"
MOST_READ = 0x10000
STEP = re.compile(rb";(?:[sS][0-9a-f]*|r([0-9a-f]+),([0-9a-f]+)):([0-9a-f]+)")
KILL = b"k"  # has no answer
MANY_STEPS = 300  # of one command
FOR_GOOD = "`{}` is parked for good: look at it, or quit\n"
LONG = "still in the same line after {} steps: Ctrl-C ends that; `advance LINE` and `finish` get past a wait at full speed\n"


@dataclass
class Server:
    target: Target
    line: Line  # to gdb
    poll: Callable[[], str]  # looks after the machine while it runs; text for the user's terminal
    wants_stop: Callable[[], bool] = lambda: False  # the sandbox has ended: it is to stand
    stop: Stop = field(default_factory=lambda: Stop(0))
    slot: int = 0  # that gdb asks about
    was_interrupted: bool = False  # by a Ctrl-C that no stop has told of
    steps: int = 0  # since gdb last came to its prompt
    has_told_end: bool = False  # that nothing runs on

    def serve(self) -> None:
        """Until gdb closes its end."""
        while True:
            packet = self.line.receive(3600.0)
            if packet == INTERRUPT:  # between two steps of a `next`
                self.was_interrupted = True
            elif packet is not None and packet != KILL:
                self.line.send(self.answer(packet))

    def answer(self, packet: bytes) -> bytes:
        try:
            return self._answer(packet)
        except (ValueError, IndexError):  # no packet of gdb's
            return b"E01"

    def _answer(self, packet: bytes) -> bytes:
        word = re.match(rb"[A-Za-z?]+", packet)
        name = word[0] if word else b""
        for known in (name, packet[:1]):
            handler = HANDLERS.get(known)
            if handler and (known == name or packet[:1] not in b"qQv"):
                return handler(self, packet)
        return b""

    def stop_reply(self, stop: Stop) -> bytes:
        self.stop = stop
        if stop.is_end:
            return b"W00"
        self.slot = stop.slot
        return b"T%02xthread:%x;" % (stop.signal, stop.slot + 1) + stop.more

    def _thread(self, packet: bytes) -> bytes:
        """Hg, Hc. 0 and -1 are any and all."""
        number = int(packet[2:] or b"0", 16)
        if number > len(self.target.cores):
            return b"E01"
        if number > 0 and packet[1:2] == b"g":
            self.slot = number - 1
        return b"OK"

    def _alive(self, packet: bytes) -> bytes:
        return b"OK" if 0 < int(packet[1:], 16) <= len(self.target.cores) else b"E01"

    def _threads(self, _: bytes) -> bytes:
        """gdb asks at each stop that it tells its user of."""
        self.steps = 0
        return b"m" + b",".join(b"%x" % (n + 1) for n in range(len(self.target.cores)))

    def _about(self, packet: bytes) -> bytes:
        slot = int(packet.rpartition(b",")[2], 16) - 1
        return self.target.about(slot).encode().hex().encode() if 0 <= slot < len(self.target.cores) else b"E01"

    def _read(self, packet: bytes) -> bytes:
        address, size = (int(text, 16) for text in packet[1:].split(b","))
        data = self.target.memory(self.slot, address, min(size, MOST_READ))
        return data.hex().encode() if data else b"E14"

    def _write(self, packet: bytes) -> bytes:
        where, _, text = packet[1:].partition(b":")
        address = int(where.split(b",")[0], 16)
        return b"OK" if self.target.write_memory(self.slot, address, bytes.fromhex(text.decode())) else b"E14"

    def _forward(self, packet: bytes) -> bytes:
        return self.target.forward(self.slot, packet)

    def _resume(self, packet: bytes) -> bytes:
        """vCont: a step of one core, or all run. A signal for the sandbox means nothing."""
        step = STEP.search(packet)
        if step is None:
            return self._run(None)
        slot = int(step[3], 16) - 1
        span = range(int(step[1], 16), int(step[2], 16)) if step[1] else NO_SPAN
        return self._run(slot if slot < len(self.target.cores) else 0, span)

    def _run(self, slot: int | None, span: range = NO_SPAN) -> bytes:
        self._count(slot is not None)
        if self.stop.signal == CRASHED and not self.has_told_end:
            self.has_told_end = True
            self._tell(FOR_GOOD.format(self.target.sandbox.name))
        stop = Stop(self.slot, INTERRUPTED) if self.was_interrupted else self.target.resume(slot, self._tick, span)
        self.was_interrupted = False
        return self.stop_reply(stop)

    def _count(self, is_step: bool) -> None:
        """gdb steps through a line that calls functions or waits in many steps of its own, and says nothing meanwhile."""
        self.steps += is_step
        if is_step and self.steps == MANY_STEPS:
            self._tell(LONG.format(MANY_STEPS))

    def _tell(self, text: str) -> None:
        self.line.send(b"O" + text.encode().hex().encode())

    def _tick(self) -> bool:
        if text := self.poll():
            self._tell(text)
        return self.line.receive(0) == INTERRUPT or self.wants_stop()


HANDLERS: dict[bytes, Callable[[Server, bytes], bytes]] = {
    b"qSupported": lambda server, _: SUPPORTED + (DESCRIBES if server.target.describes_itself else b""),
    b"?": lambda server, _: server.stop_reply(server.stop),
    b"H": Server._thread,
    b"T": Server._alive,
    b"qC": lambda server, _: b"QC%x" % (server.slot + 1),
    b"qAttached": lambda _server, _packet: b"0",  # gdb says of `quit` that it ends what it looks at
    b"qfThreadInfo": Server._threads,
    b"qsThreadInfo": lambda _server, _packet: b"l",
    b"qThreadExtraInfo": Server._about,
    b"qXfer": Server._forward,
    b"g": lambda server, _: server.target.registers(server.slot),
    b"G": Server._forward,
    b"p": Server._forward,
    b"P": Server._forward,
    b"m": Server._read,
    b"M": Server._write,
    b"Z": Server._forward,
    b"z": Server._forward,
    b"vCont": Server._resume,
    b"vCont?": lambda _server, _packet: b"vCont;c;C;s;S;r",
    b"c": lambda server, _: server._run(None),
    b"s": lambda server, _: server._run(server.slot),
    b"D": lambda _server, _packet: b"OK",
}


def serve(server: Server) -> None:
    """gdb may close its end at any time."""
    try:
        server.serve()
    except Ended:
        return
