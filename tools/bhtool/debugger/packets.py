# SPDX-License-Identifier: Apache-2.0
"""Packets of gdb's remote protocol over a socket: GDB manual, Appendix E.1 "Overview". Both ends of it."""

from __future__ import annotations

import socket

from bhtool.errors import BulkheadError

INTERRUPT = b"\x03"
SECONDS = 20.0
MOST_BYTES = 1 << 20  # of what waits for its end


class Ended(BulkheadError):
    """The other end has closed."""


class Line:
    def __init__(self, line: socket.socket, is_server: bool) -> None:
        self._line, self._is_server = line, is_server
        self._waiting = b""

    def fileno(self) -> int:
        return self._line.fileno()

    def close(self) -> None:
        self._line.close()

    def send(self, data: bytes) -> None:
        self._line.settimeout(SECONDS)
        try:
            self._line.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        except OSError as error:
            raise Ended("the debugger's line has closed") from error

    def interrupt(self) -> None:
        self._line.sendall(INTERRUPT)

    def receive(self, seconds: float = SECONDS) -> bytes | None:
        """The next packet's data, or INTERRUPT; None: nothing whole came in that time. Raises Ended."""
        while (found := self._take()) is None:
            self._line.settimeout(seconds or 0.001)
            try:
                more = self._line.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                raise Ended("the debugger's line has closed") from error
            if not more or len(self._waiting) > MOST_BYTES:
                raise Ended("the debugger's line has closed")
            self._waiting += more
        return found

    def _take(self) -> bytes | None:
        """Acknowledgements are dropped: sockets lose nothing."""
        text = self._waiting.lstrip(b"+-")
        if self._is_server and text[:1] == INTERRUPT:
            self._waiting = text[1:]
            return INTERRUPT
        start = text.find(b"$")
        end = text.find(b"#", start)
        if start < 0 or end < 0 or len(text) < end + 3:
            self._waiting = text
            return None
        self._waiting = text[end + 3 :]
        self._line.sendall(b"+")
        return text[start + 1 : end]

    def ask(self, data: str | bytes) -> bytes:
        """A command's answer."""
        self.send(data.encode() if isinstance(data, str) else data)
        answer = self.receive()
        if answer is None:
            raise BulkheadError(f"the machine did not answer its debugger for {SECONDS:.0f} s")
        return answer
