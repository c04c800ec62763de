# SPDX-License-Identifier: Apache-2.0
"""What a test plugs a machine's network cards into: the platform as it is, with other options of its emulator; and who is at the other end."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bhtool.platforms import Platform


def plugged(platform: Platform, wires: dict[str, str]) -> Platform:
    """Each card of `wires` leads to a back end, an option of `-netdev` without its id."""
    cards = {one.name: one for one in platform.nics}
    arguments = [*platform.emulator.arguments]
    for name, wire in wires.items():
        card = cards.pop(name)
        arguments += ["-netdev", f"{wire},id={name}", "-device", f"{card.model},addr={card.addr},netdev={name}"]
    return replace(platform, emulator=replace(platform.emulator, arguments=tuple(arguments)), nics=tuple(cards.values()))


@contextmanager
def served(content: bytes) -> Iterator[int]:
    """The port of a server on this host."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
