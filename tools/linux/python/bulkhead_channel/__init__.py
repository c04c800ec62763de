# SPDX-License-Identifier: Apache-2.0
"""Channels of a Linux sandbox: /dev/bulkhead/NAME, which the kernel module makes (docs/guides/channels-from-linux.md).

    with Channel("speed") as speed:
        message = speed.receive(timeout=1.0)

In a kernel without the module, on a PC, the C library does the same by /dev/mem, for root, if it is there: libbulkhead-channel.so.

What goes wrong is an OSError by its errno, so most have a class of Python's own: TimeoutError if nothing came in time; ConnectionResetError says once that the other end lives anew; BrokenPipeError that it will not come back; EMSGSIZE that a
message is longer than a slot, EBADMSG that one came damaged, EPROTO that the other end broke the protocol, EBUSY that somebody else has it open.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import math
import mmap
import os
import select
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from types import TracebackType
from typing import Any

__all__ = ["Channel", "Flags", "Info", "Kind", "Message", "State", "names"]

FOLDER = "/dev/bulkhead"
LIBRARY = "libbulkhead-channel.so"  # as dlopen(3) finds it
NAME_BYTES = 32


class Kind(IntEnum):
    MAILBOX, RING, LATEST = range(3)


class State(IntEnum):
    """Of the other end."""

    COMING, LIVES, GONE, CLOSED = range(4)


class Flags(IntFlag):
    """A transaction is one or more messages: its first has START, its last END."""

    START, END, CHECKED = 1, 2, 4


# include/uapi/bulkhead.h; little-endian on every processor that has sandboxes.
_INFO = struct.Struct("<32s32sIIIIQQQIIIIIIIIIIII8x")
_STATE_AT = 13
_MESSAGE = struct.Struct("<QIIII")
_NO_WAIT, _AGAIN = 1, 2
_MAGIC, _WRITE, _READ = 0xBB, 1, 2
_SLICE = 0.1  # seconds


def _command(direction: int, number: int, size: int) -> int:
    """_IOC of include/uapi/asm-generic/ioctl.h."""
    return direction << 30 | size << 16 | _MAGIC << 8 | number


_GET_INFO = _command(_READ, 0, _INFO.size)
_SEND = _command(_WRITE, 1, _MESSAGE.size)
_RECEIVE = _command(_READ | _WRITE, 2, _MESSAGE.size)
_SET_CHECKED = _command(_WRITE, 3, 4)


@dataclass(frozen=True)
class Info:
    name: str
    peer: str  # the sandbox at the other end
    kind: Kind
    end: int  # 0 or 1
    slots: int
    slot_bytes: int  # of a message, at most
    bytes: int
    own_offset: int  # what may be mapped for writing
    own_bytes: int
    page_offset: int  # of struct bh_channel
    features: int
    epoch: int  # 0: not begun
    peer_epoch: int
    peer_state: State
    sent: int  # in this connection
    taken: int
    peer_sent: int
    peer_taken: int
    connections: int  # since it was opened
    refused: int
    reader: int  # of a latest value: which one this is


@dataclass(frozen=True)
class Message:
    data: bytes
    number: int  # in its connection, from 0 on
    flags: Flags


def names() -> list[str]:
    """Channels of this sandbox that the module has made devices of."""
    return sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode()


def _unpacked(data: bytes) -> Info:
    name, peer, kind, *rest = _INFO.unpack(data)
    values = [_text(name), _text(peer), Kind(kind), *rest]
    values[_STATE_AT] = State(values[_STATE_AT])
    return Info(*values)


class _Layout(ctypes.Structure):
    """struct bulkhead_channel of bulkhead_channel.h."""

    _fields_ = (
        ("file", ctypes.c_int),
        ("memory", ctypes.c_void_p),
        ("info", ctypes.c_uint64 * (_INFO.size // 8)),
        ("direct", ctypes.c_void_p),
    )


def _library() -> Any:
    return ctypes.CDLL(LIBRARY)


class _Memory:
    """A channel in a kernel without the module, by the C library. Each call tries once; one that would have to wait raises BlockingIOError."""

    def __init__(self, name: str) -> None:
        self._library = _library()
        self._layout = _Layout()
        self._asked(self._library.bulkhead_open(ctypes.byref(self._layout), name.encode()))

    def close(self) -> None:
        self._library.bulkhead_close(ctypes.byref(self._layout))

    def info(self) -> bytes:
        data = ctypes.create_string_buffer(_INFO.size)
        self._asked(self._library.bulkhead_ask(ctypes.byref(self._layout), data))
        return data.raw

    def carry(self, command: int, message: bytearray) -> None:
        """As the module's ioctl, but that nothing is told of a message that is too long."""
        address, length, flags, _, options = _MESSAGE.unpack(message)
        one, place, room = ctypes.byref(self._layout), ctypes.c_void_p(address), ctypes.c_size_t(length)
        if command == _SEND:
            self._asked(self._library.bulkhead_send_part(one, place, room, ctypes.c_uint32(flags), 0))
            return
        came = (ctypes.c_char * _MESSAGE.size).from_buffer(message)
        try:
            if options & _AGAIN:
                self._asked(self._library.bulkhead_latest(one, place, room, came))
            else:
                self._asked(self._library.bulkhead_receive_part(one, place, room, came, 0))
        finally:
            del came

    def wait(self, events: int, timeout: float | None) -> int:
        """A little at a time, so that Python hears signals."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if deadline is None else min(_SLICE, max(deadline - time.monotonic(), 0))
            limit = ctypes.c_int(math.ceil(left * 1000))
            found = self._asked(self._library.bulkhead_wait(ctypes.byref(self._layout), ctypes.c_short(events), limit))
            if found or (deadline is not None and time.monotonic() >= deadline):
                return found

    def set_checked(self, checked: bool) -> None:
        self._asked(self._library.bulkhead_set_checked(ctypes.byref(self._layout), int(checked)))

    @staticmethod
    def _asked(result: int) -> int:
        if result >= 0:
            return result
        number = errno.EAGAIN if -result == errno.ETIMEDOUT else -result
        raise OSError(number, os.strerror(number))


def _opened(name: str) -> tuple[int, _Memory | None]:
    try:
        return os.open(f"{FOLDER}/{name}", os.O_RDWR | os.O_CLOEXEC), None
    except FileNotFoundError as missing:
        try:
            return -1, _Memory(name)
        except OSError as error:
            if error.errno is None or error.errno == errno.ENOENT:  # there is no library; or no such channel
                raise missing from None
            raise


class Channel:
    """The end of a channel that this sandbox is. One program has it open at a time, or as many as a latest value has readers.

    A timeout is in seconds; None waits for ever, 0 tries once."""

    def __init__(self, name: str) -> None:
        if not 0 < len(name.encode()) < NAME_BYTES or "/" in name or name.startswith("."):
            raise ValueError(f"no channel can be called {name!r}")
        self._file, self._memory = _opened(name)
        try:
            self._opened = self.info()
        except BaseException:
            self.close()
            raise
        self._buffer = bytearray(self._opened.slot_bytes)

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __iter__(self) -> Iterator[Message]:
        """Messages as they come, until the other end is gone. Raises as `receive` does, and is over then: who is to outlive restarts calls `receive`."""
        while True:
            try:
                yield self.receive()
            except BrokenPipeError:
                return

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._memory:
            self._memory.close()
            self._memory = None

    def fileno(self) -> int:
        """For select, selectors and asyncio: readable if there is a message, writable if one may be sent. Without the module -1: `wait` alone waits."""
        return self._file

    def info(self) -> Info:
        """How it stands now."""
        if self._memory:
            return _unpacked(self._memory.info())
        data = bytearray(_INFO.size)
        fcntl.ioctl(self._file, _GET_INFO, data)
        return _unpacked(bytes(data))

    def send(self, data: bytes | bytearray | memoryview, timeout: float | None = None, flags: Flags = Flags.START | Flags.END) -> None:
        """A bytearray, or a memoryview that may be written, is not copied on its way to the kernel."""
        view = memoryview(data).cast("B") if len(data) else memoryview(bytearray(1))[:0]
        held = bytearray(view) or bytearray(1) if view.readonly or not len(view) else view
        self._carry(_SEND, held, len(view), flags, 0, select.POLLOUT, timeout)

    def receive(self, timeout: float | None = None) -> Message:
        """The next message; of a latest value the next one that was not received yet."""
        return self._received(0, timeout)

    def latest(self) -> Message | None:
        """The latest value, also if it was received before; None: nothing was written yet."""
        try:
            return self._received(_AGAIN, 0)
        except TimeoutError:
            return None

    def wait(self, events: int = select.POLLIN, timeout: float | None = None) -> int:
        """The events of poll(2) that came; 0: none in time."""
        if self._memory:
            return self._memory.wait(events, timeout)
        poll = select.poll()
        poll.register(self._file, events)
        found = poll.poll(None if timeout is None else math.ceil(max(timeout, 0) * 1000))
        return found[0][1] if found else 0

    def set_checked(self, checked: bool = True) -> None:
        """From now on messages have a CRC, and none without one is taken."""
        if self._memory:
            return self._memory.set_checked(checked)
        fcntl.ioctl(self._file, _SET_CHECKED, struct.pack("<I", checked))

    def map(self) -> tuple[mmap.mmap, mmap.mmap]:
        """All of it for reading, and the own part for writing, which readers of a latest value have in common. The end is the program's from now on: `send`
        and `receive` raise EBUSY. Without the module EOPNOTSUPP."""
        if self._memory:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        one = self._opened
        whole = mmap.mmap(self._file, one.bytes, mmap.MAP_SHARED, mmap.PROT_READ)
        try:
            own = mmap.mmap(self._file, one.own_bytes, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=one.own_offset)
        except BaseException:
            whole.close()
            raise
        return whole, own

    def _received(self, options: int, timeout: float | None) -> Message:
        length, flags, number = self._carry(_RECEIVE, self._buffer, len(self._buffer), 0, options, select.POLLIN, timeout)
        return Message(bytes(self._buffer[:length]), number, Flags(flags))

    def _carry(
        self, command: int, held: bytearray | memoryview, length: int, flags: int, options: int, event: int, timeout: float | None
    ) -> tuple[int, int, int]:
        """Tries, and waits if it has to. What is held stays where it is meanwhile."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with _Pinned(held) as address:
            while True:
                message = bytearray(_MESSAGE.pack(address, length, flags, 0, options | _NO_WAIT))
                try:
                    if self._memory:
                        self._memory.carry(command, message)
                    else:
                        fcntl.ioctl(self._file, command, message)
                except BlockingIOError:
                    left = None if deadline is None else deadline - time.monotonic()
                    if (left is not None and left <= 0) or not self.wait(event, left):
                        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)) from None
                    continue
                _, found, found_flags, number, _ = _MESSAGE.unpack(message)
                return found, found_flags, number


class _Pinned:
    """The address of a buffer, which cannot be resized until it is given back."""

    def __init__(self, held: bytearray | memoryview) -> None:
        self._held = held

    def __enter__(self) -> int:
        self._view = (ctypes.c_char * len(self._held)).from_buffer(self._held)
        return ctypes.addressof(self._view)

    def __exit__(self, *_: object) -> None:
        del self._view
