# SPDX-License-Identifier: Apache-2.0
"""`--log FILE`: everything that was said, plain, whatever the terminal shows of it."""

import io
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from bhtool.errors import BulkheadError, Status
from bhtool.text import visible_lines

HEADER = "# seconds: guest time once the machine runs, before that the host's since the command began\n"
TOOL = "bulkhead"  # whose words are no sandbox's


class Log:
    """Use as a context manager. Lines of text, each with a stamp and a name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._started = time.monotonic()
        self._guest: Callable[[], float] | None = None
        self._width = len(TOOL)

    def __enter__(self) -> "Log":
        try:
            self._file: io.TextIOBase = self._path.open("w", encoding="utf-8", errors="backslashreplace", buffering=1 << 16)
        except OSError as error:
            raise BulkheadError(f"--log: {self._path}: {error.strerror}; choose another file", Status.USAGE) from error
        self._file.write(HEADER)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, BulkheadError):
            self.write(f"bulkhead: {visible_lines(str(error))}")
        self._file.close()

    def name_sandboxes(self, names: list[str]) -> None:
        self._width = max(map(len, (TOOL, *names)))

    def follow(self, guest_seconds: Callable[[], float] | None) -> None:
        """From now on stamps are guest time; None: the host's again."""
        self._guest = guest_seconds

    def write(self, text: str, name: str = TOOL) -> None:
        """One line, or several under one name."""
        seconds, clock = (self._guest(), "guest") if self._guest else (time.monotonic() - self._started, "host")
        for line in text.splitlines() or [""]:
            self._file.write(f"{seconds:11.3f} {clock:5} {name:>{self._width}} │ {line.rstrip()}\n")

    def flush(self) -> None:
        """For who reads along."""
        self._file.flush()
