# SPDX-License-Identifier: Apache-2.0
"""What tests/emulated/test_linux_python.py has Python in Linux do with bulkhead_channel; one line for each thing that came.

talk.py receive NAME COUNT | send NAME TEXT | latest NAME | wait NAME | twice NAME | info NAME | none NAME
"""

import errno
import importlib
import sys
from typing import Any

binding = importlib.import_module("bulkhead_channel")  # in the sandbox
SOON = 1.0


def receive(channel: Any, count: str) -> None:
    for _ in range(int(count)):
        message = channel.receive(timeout=SOON)
        print(message.number, message.data.decode(), repr(message.flags))


def send(channel: Any, text: str) -> None:
    channel.send(text.encode(), timeout=SOON)
    print("sent")


def latest(channel: Any) -> None:
    message = channel.receive(timeout=SOON)
    again = channel.latest()
    print(len(message.data), again is not None and again.number >= message.number)


def wait(channel: Any) -> None:
    print(channel.wait(timeout=0.02), channel.fileno() >= 0)


def twice(channel: Any) -> None:
    binding.Channel(channel.info().name)


def info(channel: Any) -> None:
    about = channel.info()
    print(
        about.name,
        about.peer,
        about.kind.name,
        about.end,
        about.slots,
        about.slot_bytes,
        about.peer_state.name,
        about.kind is binding.Kind.RING,
    )
    print(*binding.names())


def main(what: str, name: str, *words: str) -> None:
    try:
        with binding.Channel(name) as channel:
            globals()[what](channel, *words)
    except OSError as error:
        print(type(error).__name__, errno.errorcode[error.errno or 0])


main(*sys.argv[1:])
