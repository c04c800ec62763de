# SPDX-License-Identifier: Apache-2.0
"""One emulated machine: started, watched through its RAM file and serial lines, always stopped.

RAM is a shared file so that the tool can read statistics, logs and crash records; nothing in the machine exists for that.
The serial lines are socket pairs, connected before the first instruction, so that no character is lost.
"""

import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.platforms import Platform
from bhtool.provision.needs import BUILD_NEEDS, lacking

SHARED_MEMORY = Path("/dev/shm")
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class Timing:
    """How emulated time passes. With an icount shift one instruction takes 2**shift ns and runs repeat exactly."""

    icount_shift: int | None = None
    single_step: bool = False  # translate instruction by instruction: ten times slower

    def arguments(self) -> list[str]:
        if self.icount_shift is None:
            return []
        return ["-icount", f"shift={self.icount_shift},sleep=off", *(["-accel", "tcg,one-insn-per-tb=on"] if self.single_step else [])]


def timing_for(platform: Platform, plan: Plan, exact: bool | None = None) -> Timing:
    """Counted instructions where that is fast; `exact`: everywhere (True) or nowhere (False), at any price.

    Linux on a PC reads its timer's count in the middle of a translated block, which ends QEMU with "Bad icount read".
    """
    hard = not platform.emulator.counts_linux and any(sandbox.os == "linux" for sandbox in plan.sandboxes)
    if exact is False or (exact is None and hard):
        return Timing()
    return Timing(platform.emulator.icount_shift, single_step=hard)


def ram_directory(size: int) -> str | None:
    """Memory-backed where there is room for all of it; else the ordinary temporary directory (the file is sparse)."""
    if SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > size:
        return str(SHARED_MEMORY)
    return None


def require_emulator(platform: Platform) -> None:
    for need in BUILD_NEEDS:
        if need.probe == platform.emulator.program and (why := lacking(need)):
            remedy = f"run `tools/bulkhead setup` to install {need.package}"
            raise BulkheadError(f"{platform.name} needs {need.probe}: {why}; {remedy}", Status.MISSING)


@dataclass
class Machine:
    """Use as a context manager: entering starts it, leaving ends it and removes its files."""

    platform: Platform
    image: bytes = field(repr=False)
    timing: Timing = Timing()
    extra: tuple[str, ...] = ()
    serials: dict[str, socket.socket] = field(default_factory=dict)

    def __enter__(self) -> Self:
        require_emulator(self.platform)
        self._files = tempfile.TemporaryDirectory(prefix="bulkhead-", dir=ram_directory(self.platform.ram_size))
        directory = Path(self._files.name)
        self.ram_file = directory / "ram"
        self._errors = directory / "errors"
        (directory / "image.elf").write_bytes(self.image)
        with self.ram_file.open("wb") as ram:
            ram.truncate(self.platform.ram_size)
        self._process = self._start(directory / "image.elf")
        return self

    def _start(self, image: Path) -> subprocess.Popen[bytes]:
        far_ends: list[socket.socket] = []
        lines: list[str] = []
        for label in self.platform.emulator.serials:
            near, far = socket.socketpair()
            near.setblocking(False)
            self.serials[label] = near
            far_ends.append(far)
            lines += ["-chardev", f"socket,id={label},fd={far.fileno()}", "-serial", f"chardev:{label}"]
        command = ["setpriv", "--pdeathsig", "KILL", self.platform.emulator.program, *self.platform.emulator.arguments]
        command += ["-m", f"{self.platform.ram_size >> 20}M", "-object", self._memory_object(), *lines, *self.timing.arguments()]
        command += ["-nodefaults", "-display", "none", "-monitor", "none", "-kernel", str(image), *self.extra]
        with self._errors.open("wb") as errors:
            fds = tuple(end.fileno() for end in far_ends)
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, pass_fds=fds)
        for end in far_ends:
            end.close()
        return process

    def _memory_object(self) -> str:
        return f"memory-backend-file,id=ram,size={self.platform.ram_size},mem-path={self.ram_file},share=on"

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_status(self) -> int | None:
        """None while the machine runs."""
        return self._process.poll()

    def complaint(self) -> str:
        """What the emulator itself said, first line; empty if nothing."""
        lines = self._errors.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[0].strip() if lines else ""

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        for line in self.serials.values():
            line.close()
        self._files.cleanup()
