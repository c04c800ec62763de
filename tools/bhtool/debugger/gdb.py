# SPDX-License-Identifier: Apache-2.0
"""gdb itself, with the sandbox's symbols, on a socket of ours."""

from __future__ import annotations

import select
import signal
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bhtool.debugger.breaks import PROGRAM, missing, script
from bhtool.debugger.packets import Line
from bhtool.families.table import FAMILIES
from bhtool.platforms import Platform

BREAKS = "breaks"  # beside the port
MOST_FRAMES = 32  # a function that never returns may not have kept who called it


@dataclass(frozen=True)
class Wish:
    """What gdb is told."""

    symbols: Path | None
    breaks: tuple[str, ...]
    commands: tuple[str, ...]  # if any, gdb ends after them
    runs: bool  # whether the sandbox can run on


def command(platform: Platform, port: Path, wish: Wish) -> list[str]:
    """The symbols' path is absolute: an image may have the name of an option, and gdb's options run commands."""
    words = [PROGRAM, "-q", "-iex", "set debuginfod enabled off", "-iex", f"set backtrace limit {MOST_FRAMES}"]
    words += ["-nx", "-batch", "-iex", "set pagination off", "-iex", "set confirm off"] if wish.commands else []
    orders = [f"set architecture {FAMILIES[platform.arch].registers.gdb}", f"directory {platform.build}", f"target remote {port}"]
    orders += [f"source {port.with_name(BREAKS)}"] if wish.breaks else []
    for order in (*orders, *wish.commands):
        words += ["-ex", order]
    return [*words, str(wish.symbols.resolve())] if wish.symbols else words


def run_gdb(platform: Platform, directory: Path, wish: Wish, serve: Callable[[Line], None]) -> int:
    """gdb's exit status. Ctrl-C is gdb's."""
    port = directory / "sandbox"
    port.with_name(BREAKS).write_text(script(wish.breaks, wish.runs), encoding="utf-8")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(port))
        listener.listen(1)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            gdb = _started(command(platform, port, wish))
            try:
                if line := _accepted(listener, gdb):
                    serve(Line(line, is_server=True))
                    line.close()
                return gdb.wait()
            finally:
                gdb.kill()
                gdb.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _started(words: list[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(words, preexec_fn=_hear_interrupts)
    except FileNotFoundError as error:
        raise missing() from error


def _hear_interrupts() -> None:
    """What is ignored here would be ignored there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _accepted(listener: socket.socket, gdb: subprocess.Popen[bytes]) -> socket.socket | None:
    while not select.select([listener], [], [], 0.1)[0]:
        if gdb.poll() is not None:
            return None
    return listener.accept()[0]
