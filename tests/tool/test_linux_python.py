# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. The Python package for channels: it speaks as the header says, waits no longer than it is told, and is a wheel. The kernel is a stand-in, and so
is the library that it takes without the module."""

import ctypes
import errno
import fcntl
import importlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bhtool import VERSION, paths

PACKAGE = paths.ROOT / "tools" / "linux" / "python"
LIBRARY = paths.ROOT / "tools" / "linux" / "lib"
HEADERS = paths.ROOT / "tools" / "linux" / "include" / "uapi"
LIMIT = 120
PRINTS = """
#include <stddef.h>
#include <stdio.h>
#include "bulkhead.h"
#define AT(field) offsetof(struct bulkhead_info, field)
int main(void)
{
    printf("%zu %zu %lu %lu %lu %lu %zu %zu %zu\\n", sizeof(struct bulkhead_info), sizeof(struct bulkhead_message), (unsigned long)BULKHEAD_GET_INFO,
    (unsigned long)BULKHEAD_SEND, (unsigned long)BULKHEAD_RECEIVE, (unsigned long)BULKHEAD_SET_CHECKED, AT(bytes), AT(refused), AT(reader));
    return 0;
}
"""


@pytest.fixture
def binding(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.delitem(sys.modules, "bulkhead_channel", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield importlib.import_module("bulkhead_channel")
    sys.modules.pop("bulkhead_channel", None)


class Kernel:
    """One channel; `answers` are errnos, or messages for whoever receives."""

    def __init__(self, binding: Any) -> None:
        self.binding = binding
        self.answers: list[int | bytes] = []
        self.sent: list[bytes] = []
        self.options: list[int] = []
        self.checked = False

    def ioctl(self, file: int, command: int, argument: Any) -> int:
        one = self.binding
        if command == one._GET_INFO:
            argument[:] = one._INFO.pack(
                b"speed", b"control", 2, 1, 4, 64, 0x3000, 0x2000, 0x1000, 0x1000, 0, 3, 4, 2, 5, 6, 7, 8, 9, 10, 1
            )
            return 0
        if command == one._SET_CHECKED:
            self.checked = bool(int.from_bytes(argument, "little"))
            return 0
        address, length, _, _, options = one._MESSAGE.unpack(argument)
        self.options.append(options)
        answer = self.answers.pop(0) if self.answers else 0
        if isinstance(answer, int) and answer:
            raise OSError(answer, os.strerror(answer))
        if command == one._SEND:
            self.sent.append(ctypes.string_at(address, length))
        elif isinstance(answer, bytes):
            ctypes.memmove(address, answer, len(answer))
            argument[:] = one._MESSAGE.pack(address, len(answer), 3, 41, options)
        return 0


@pytest.fixture
def kernel(binding: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    (tmp_path / "speed").touch()
    monkeypatch.setattr(binding, "FOLDER", str(tmp_path))
    kernel = Kernel(binding)
    monkeypatch.setattr(fcntl, "ioctl", kernel.ioctl)
    return kernel


def test_it_speaks_as_the_header_says(binding: Any, tmp_path: Path) -> None:
    (tmp_path / "prints.c").write_text(PRINTS)
    subprocess.run(["clang-19", f"-I{HEADERS}", "-o", tmp_path / "prints", tmp_path / "prints.c"], check=True, timeout=LIMIT)
    said = subprocess.run([tmp_path / "prints"], check=True, capture_output=True, text=True, timeout=LIMIT).stdout
    sizes = [binding._INFO.size, binding._MESSAGE.size]
    commands = [binding._GET_INFO, binding._SEND, binding._RECEIVE, binding._SET_CHECKED]
    assert [int(word) for word in said.split()] == [*sizes, *commands, 80, 144, 148]
    text = (HEADERS / "bulkhead.h").read_text()
    for kind in (binding.Kind, binding.State, binding.Flags):
        for name in kind.__members__:
            assert f"BULKHEAD_{name}" in text


def test_what_it_is(binding: Any, kernel: Kernel) -> None:
    with binding.Channel("speed") as channel:
        info = channel.info()
    assert (info.name, info.peer, info.kind, info.end, info.slots, info.slot_bytes) == ("speed", "control", binding.Kind.LATEST, 1, 4, 64)
    assert (info.bytes, info.own_offset, info.own_bytes, info.page_offset) == (0x3000, 0x2000, 0x1000, 0x1000)
    assert (info.epoch, info.peer_epoch, info.peer_state, info.sent, info.refused, info.reader) == (3, 4, binding.State.GONE, 5, 10, 1)
    assert binding.names() == ["speed"]
    assert channel.fileno() == -1


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "x" * 32])
def test_names_that_none_can_be(binding: Any, kernel: Kernel, name: str) -> None:
    with pytest.raises(ValueError, match="no channel can be called"):
        binding.Channel(name)
    with pytest.raises(FileNotFoundError):
        binding.Channel("nothing")


@pytest.mark.parametrize("data", [b"", b"order", bytearray(b"order"), memoryview(b"order"), memoryview(bytearray(b"order"))])
def test_a_message_is_sent_as_it_is(binding: Any, kernel: Kernel, data: Any) -> None:
    with binding.Channel("speed") as channel:
        channel.send(data, timeout=1)
        channel.set_checked()
    assert kernel.sent == [bytes(data)]
    assert kernel.checked
    assert kernel.options == [1]


def test_a_message_is_received_with_its_number(binding: Any, kernel: Kernel) -> None:
    kernel.answers = [b"fifty", b"sixty", errno.EAGAIN]
    with binding.Channel("speed") as channel:
        assert channel.receive(timeout=1) == binding.Message(b"fifty", 41, binding.Flags.START | binding.Flags.END)
        assert channel.latest().data == b"sixty"
        assert channel.latest() is None
    assert kernel.options == [1, 3, 3]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ECONNRESET, ConnectionResetError), (errno.EPIPE, BrokenPipeError), (errno.EMSGSIZE, OSError), (errno.EBADMSG, OSError)],
)
def test_what_goes_wrong_has_its_class(binding: Any, kernel: Kernel, number: int, kind: type[OSError]) -> None:
    kernel.answers = [number]
    with binding.Channel("speed") as channel, pytest.raises(kind) as raised:
        channel.receive()
    assert raised.value.errno == number


def test_it_waits_no_longer_than_it_is_told(binding: Any, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float | None] = []

    def wait(self: Any, events: int, timeout: float | None) -> int:
        waited.append(timeout)
        return 0 if timeout == 0 else events

    monkeypatch.setattr(binding.Channel, "wait", wait)
    with binding.Channel("speed") as channel:
        kernel.answers = [errno.EAGAIN]
        with pytest.raises(TimeoutError):
            channel.receive(timeout=0)
        kernel.answers = [errno.EAGAIN, errno.EAGAIN, b"late"]
        assert channel.receive(timeout=None).data == b"late"
        kernel.answers = [errno.EAGAIN] * 10_000_000
        with pytest.raises(TimeoutError):
            channel.send(b"never", timeout=0.01)
    assert waited[:2] == [None, None]
    assert all(one is not None and 0 < one <= 0.01 for one in waited[2:])


def test_messages_come_until_the_other_end_is_gone(binding: Any, kernel: Kernel) -> None:
    kernel.answers = [b"one", b"two", errno.EPIPE]
    with binding.Channel("speed") as channel:
        assert [message.data for message in channel] == [b"one", b"two"]


# ---- Without the module ----------------------------------------------------------------------------------------------------------------

LAYOUT = """
#include <stdio.h>
#include "bulkhead_channel.h"
#define AT(field) offsetof(struct bulkhead_channel, field)
int main(void)
{
    printf("%zu %zu %zu %zu\\n", sizeof(struct bulkhead_channel), AT(memory), AT(info), AT(direct));
    return 0;
}
"""
# The library as the package calls it, over one message that is there; what it cannot do now it says as the library does.
STAND_IN = """
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "bulkhead_channel.h"
static char held[64];
static int length = -1, opened, checked, waits;
int bulkhead_open(struct bulkhead_channel *channel, const char *name)
{
    *channel = (struct bulkhead_channel){ .file = -1 };
    if (strcmp(name, "speed"))
        return strcmp(name, "arm") ? -ENOENT : -EOPNOTSUPP;
    return opened++ ? -EBUSY : bulkhead_ask(channel, &channel->info);
}
void bulkhead_close(struct bulkhead_channel *channel) { opened = 0; }
int bulkhead_ask(const struct bulkhead_channel *channel, struct bulkhead_info *info)
{
    *info = (struct bulkhead_info){ .name = "speed", .peer = "control", .kind = BULKHEAD_RING, .slot_bytes = 64, .refused = (unsigned)checked };
    return 0;
}
int bulkhead_send_part(const struct bulkhead_channel *channel, const void *data, size_t bytes, uint32_t flags, int limit_ms)
{
    if (limit_ms || flags != 3)
        return -EINVAL;
    if (length >= 0)
        return -ETIMEDOUT;
    memcpy(held, data, bytes);
    length = (int)bytes;
    return 0;
}
int bulkhead_receive_part(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message, int limit_ms)
{
    if (limit_ms || room != 64)
        return -EINVAL;
    if (length < 0)
        return -ETIMEDOUT;
    memcpy(data, held, (size_t)length);
    *message = (struct bulkhead_message){ .length = (unsigned)length, .flags = 3, .number = 41 };
    length = -1;
    return (int)message->length;
}
int bulkhead_latest(const struct bulkhead_channel *channel, void *data, size_t room, struct bulkhead_message *message)
{
    return length < 0 ? -EAGAIN : bulkhead_receive_part(channel, data, room, message, 0);
}
int bulkhead_wait(const struct bulkhead_channel *channel, short events, int limit_ms)
{
    return limit_ms > 100 ? -EINVAL : ++waits % 3 == 0 ? events : 0;
}
int bulkhead_set_checked(const struct bulkhead_channel *channel, int is) { return checked = is, 0; }
"""


@pytest.fixture
def without_module(binding: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    (tmp_path / "stand_in.c").write_text(STAND_IN)
    command = ["clang-19", "-shared", "-fPIC", f"-I{HEADERS}", f"-I{LIBRARY}", "-o", f"{tmp_path}/stand_in.so", f"{tmp_path}/stand_in.c"]
    subprocess.run(command, check=True, timeout=LIMIT)
    monkeypatch.setattr(binding, "FOLDER", str(tmp_path / "none"))
    monkeypatch.setattr(binding, "LIBRARY", str(tmp_path / "stand_in.so"))
    return binding


def test_it_lays_a_channel_out_as_the_library_does(binding: Any, tmp_path: Path) -> None:
    (tmp_path / "prints.c").write_text(LAYOUT)
    subprocess.run(
        ["clang-19", f"-I{HEADERS}", f"-I{LIBRARY}", "-o", tmp_path / "prints", tmp_path / "prints.c"], check=True, timeout=LIMIT
    )
    said = subprocess.run([tmp_path / "prints"], check=True, capture_output=True, text=True, timeout=LIMIT).stdout
    one = binding._Layout
    assert [int(word) for word in said.split()] == [ctypes.sizeof(one), one.memory.offset, one.info.offset, one.direct.offset]


def test_without_the_module_the_library_carries_messages(without_module: Any) -> None:
    with without_module.Channel("speed") as channel:
        assert (channel.fileno(), channel.info().peer, channel.info().kind) == (-1, "control", without_module.Kind.RING)
        assert channel.latest() is None
        channel.send(b"order", timeout=0)
        with pytest.raises(TimeoutError):
            channel.send(b"full", timeout=0)
        assert channel.receive(timeout=0) == without_module.Message(b"order", 41, without_module.Flags.START | without_module.Flags.END)
        channel.send(b"again")
        assert channel.latest().data == b"again"
        with pytest.raises(TimeoutError):
            channel.receive(timeout=0.01)
        channel.set_checked()
        assert channel.info().refused == 1
        assert channel.wait(timeout=None) != 0
        with pytest.raises(OSError, match="not supported"):
            channel.map()
        with pytest.raises(OSError, match="busy"):
            without_module.Channel("speed")
    without_module.Channel("speed").close()  # it was given back


@pytest.mark.parametrize(("name", "number"), [("nothing", errno.ENOENT), ("arm", errno.EOPNOTSUPP)])
def test_what_the_library_refuses(without_module: Any, name: str, number: int) -> None:
    with pytest.raises(OSError, match=os.strerror(number)) as raised:
        without_module.Channel(name)
    assert raised.value.errno == number


def test_without_a_library_there_is_no_such_file(without_module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(without_module, "LIBRARY", "/none/of/them.so")
    with pytest.raises(FileNotFoundError):
        without_module.Channel("speed")


def test_it_is_of_this_version() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION


def test_it_becomes_a_wheel(tmp_path: Path) -> None:
    """By pip, without the network, where what it builds with is there; the sources are copied, as setuptools builds beside them."""
    pytest.importorskip("setuptools")
    pytest.importorskip("wheel")
    for file in (one for one in PACKAGE.rglob("*") if one.is_file() and "__pycache__" not in one.parts):
        (tmp_path / "source" / file.relative_to(PACKAGE)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / file.relative_to(PACKAGE)).write_bytes(file.read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        str(tmp_path),
        "./source",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=LIMIT)
    (wheel,) = tmp_path.glob("*.whl")
    assert re.fullmatch(rf"bulkhead_channel-{re.escape(VERSION)}-py3-none-any\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        assert {"bulkhead_channel/__init__.py", "bulkhead_channel/py.typed"} <= set(archive.namelist())
