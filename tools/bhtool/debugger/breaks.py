# SPDX-License-Identifier: Apache-2.0
"""What `debug` is told to stop at, and the symbols for it, judged by gdb before a machine starts: gdb itself would only say so, and run on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bhtool import elf
from bhtool.errors import BulkheadError, Status
from bhtool.text import did_you_mean

PROGRAM = "gdb-multiarch"
JUDGE = [PROGRAM, "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set breakpoint pending off"]
FUNCTION = re.compile(r"[A-Za-z_][\w.$]*")
DECLARED = re.compile(r"(\w+)\(.*\);$", re.MULTILINE)  # `info functions`, with types
BARE = re.compile(r"^0x[0-9a-f]+\s+(\S+)$", re.MULTILINE)  # without
SECONDS = 120.0  # of the host: a kernel's symbols are many


def is_elf(file: Path) -> bool:
    with file.open("rb") as opened:
        return elf.form_of(opened.read(64)) is not None


def require_elf(symbols: Path) -> None:
    """Refuses what has no symbols, whatever it is called."""
    try:
        has_symbols = is_elf(symbols)
    except OSError as error:
        raise BulkheadError(f"--symbols: {symbols}: {error.strerror}", Status.USAGE) from error
    if not has_symbols:
        raise BulkheadError(f"--symbols: {symbols} is no ELF file", Status.USAGE)


def require_breaks(breaks: tuple[str, ...], symbols: Path | None) -> None:
    """Refuses a place that does not exist. `*ADDRESS` may need registers, which only the machine has."""
    for place in breaks:
        if place.startswith("*"):
            continue
        if symbols is None:
            raise BulkheadError(f"--break {place}: no symbols; give the kernel's vmlinux with --symbols", Status.USAGE)
        said = _asked(symbols, f"break {place}")
        if "Breakpoint 1" not in said.stdout:
            raise BulkheadError(f"--break: {_why(place, symbols, said.stderr)}", Status.USAGE)


def missing() -> BulkheadError:
    return BulkheadError(f"{PROGRAM} is not installed: run `tools/bulkhead setup`", Status.MISSING)


def _asked(symbols: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = [*JUDGE, "-ex", command, str(symbols.resolve())]  # absolute: an image may have the name of an option
    try:
        return subprocess.run(
            words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise missing() from error


def _why(place: str, symbols: Path, said: str) -> str:
    if not FUNCTION.fullmatch(place):
        return f"{place}: {' '.join(said.split()).rstrip('.')}"
    listed = _asked(symbols, "info functions -q").stdout
    names = [*DECLARED.findall(listed), *BARE.findall(listed)]
    return f"`{symbols.name}` has no function `{place}`{did_you_mean(place, names)}"


def script(breaks: tuple[str, ...], runs: bool) -> str:
    """For gdb's `source`, which ends at the first command that fails: with a place that cannot be stopped at nothing runs on."""
    return "".join(
        f"{line}\n" for line in ("set breakpoint pending off", *(f"break {place}" for place in breaks), *(["continue"] if runs else []))
    )
