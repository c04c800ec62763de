# SPDX-License-Identifier: Apache-2.0
"""One emulated machine: started, watched through its RAM and serial lines, always stopped.

RAM is shared memory so that the tool can read statistics, logs and crash records; nothing in the machine exists for that.
The serial lines are socket pairs, connected before the first instruction, so that no character is lost.
"""

import os
import socket
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from bhtool.children import owned
from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.platforms import Platform
from bhtool.provision.needs import BUILD_NEEDS, lacking

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


def require_emulator(platform: Platform) -> None:
    for need in BUILD_NEEDS:
        if need.probe == platform.emulator.program and (why := lacking(need)):
            remedy = f"run `tools/bulkhead setup` to install {need.package}"
            raise BulkheadError(f"{platform.name} needs {need.probe}: {why}; {remedy}", Status.MISSING)


def path_of(descriptor: int) -> str:
    """How a child that inherits the descriptor opens it anew."""
    return f"/proc/self/fd/{descriptor}"


@dataclass
class Machine:
    """Use as a context manager: entering starts it, leaving ends it."""

    platform: Platform
    image: bytes = field(repr=False)
    timing: Timing = Timing()
    extra: tuple[str, ...] = ()
    serials: dict[str, socket.socket] = field(default_factory=dict)

    def __enter__(self) -> Self:
        require_emulator(self.platform)
        with ExitStack() as stack:
            self.ram = self._file(stack, "ram")
            os.ftruncate(self.ram, self.platform.ram_size)
            self._errors = self._file(stack, "errors")
            self._process = self._start(stack)
            self._files = stack.pop_all()
        return self

    def _file(self, stack: ExitStack, name: str, content: bytes = b"") -> int:
        """A file without a name: it cannot be left behind."""
        descriptor = os.memfd_create(f"bulkhead-{name}")
        stack.callback(os.close, descriptor)
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        return descriptor

    def _start(self, stack: ExitStack) -> subprocess.Popen[bytes]:
        lines, far_ends = self._serial_lines(stack)
        kernel = self._file(stack, "image", self.image)
        emulator = self.platform.emulator
        command = owned([emulator.program, *emulator.arguments, "-m", f"{self.platform.ram_size >> 20}M", "-object", self._memory_object()])
        command += [*lines, *self.timing.arguments(), "-nodefaults", "-display", "none", "-monitor", "none"]
        command += ["-kernel", path_of(kernel), *self.extra]
        fds = (self.ram, kernel, *(end.fileno() for end in far_ends))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors, pass_fds=fds)
        for end in far_ends:
            end.close()
        return process

    def _serial_lines(self, stack: ExitStack) -> tuple[list[str], list[socket.socket]]:
        """QEMU's options for its serial lines, and the ends of them it is to inherit; ours go into `serials`."""
        options: list[str] = []
        far_ends: list[socket.socket] = []
        for label in self.platform.emulator.serials:
            near, far = socket.socketpair()
            near.setblocking(False)
            stack.callback(near.close)
            self.serials[label] = near
            far_ends.append(far)
            options += ["-chardev", f"socket,id={label},fd={far.fileno()}", "-serial", f"chardev:{label}"]
        return options, far_ends

    def _memory_object(self) -> str:
        return f"memory-backend-file,id=ram,size={self.platform.ram_size},mem-path={path_of(self.ram)},share=on"

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_status(self) -> int | None:
        """None while the machine runs."""
        return self._process.poll()

    def complaint(self) -> str:
        """What the emulator itself said, first line; empty if nothing."""
        said = os.pread(self._errors, 4096, 0).decode("utf-8", "replace").splitlines()
        return said[0].strip() if said else ""

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
        self._files.close()
