# SPDX-License-Identifier: Apache-2.0
"""Bounds on what a partition file can make the tool do: a file it names may have no end, and a macro may double for ever.

Compilers run with limits on processor time, memory and output; the kernel keeps them to these, however slow the machine is.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bhtool.errors import BulkheadError, Status
from bhtool.text import size_text

MIB = 1 << 20
SOURCE_BYTES = MIB  # of one source file
IMAGE_BYTES = 512 * MIB  # of a kernel, a program, an initrd
PROCESSOR_SECONDS, MEMORY_BYTES, OUTPUT_BYTES = 10, 1024 * MIB, 8 * MIB  # of one run of a compiler
SECONDS = 60  # a compiler that waits for something takes no processor time
LIMITED = ("prlimit", f"--cpu={PROCESSOR_SECONDS}", f"--as={MEMORY_BYTES}", f"--fsize={OUTPUT_BYTES}", "--core=0", "--")
OUT_OF_MEMORY = (b"alloc() failed", b"out of memory")  # dtc's words, LLVM's


class Unbounded(Exception):
    """What has no end, or is larger than anything that makes sense: the end of a sentence that begins with its name."""


@dataclass(frozen=True)
class Done:
    status: int
    output: bytes
    messages: bytes


def run_bounded(command: list[str], text: bytes) -> Done:
    """Runs a compiler over `text`. Raises Unbounded when it reaches a limit."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        source.write(text)
        source.seek(0)
        status = _status(command, source, output, messages)
        done = Done(status, _whole(output), _whole(messages))
    if status < 0 or len(done.output) >= OUTPUT_BYTES or any(words in done.messages.lower() for words in OUT_OF_MEMORY):
        raise Unbounded(
            f"takes {command[0]} more than {PROCESSOR_SECONDS} s, {MEMORY_BYTES // MIB} MiB, or {OUTPUT_BYTES // MIB} MiB of output"
        )
    return done


def _status(command: list[str], source: BinaryIO, output: BinaryIO, messages: BinaryIO) -> int:
    """Limits hold from the command's first instruction, for whatever it starts, too, and nothing of it is left behind."""
    if not shutil.which(command[0]):
        raise BulkheadError(f"{command[0]} is missing; run `tools/bulkhead setup`", Status.MISSING)
    process = subprocess.Popen([*LIMITED, *command], stdin=source, stdout=output, stderr=messages, process_group=0)
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired as late:
        raise Unbounded(f"keeps {command[0]} waiting for more than {SECONDS} s") from late
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _whole(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(OUTPUT_BYTES)


def refuse_unbounded(path: Path, most: int) -> None:
    """Raises Unbounded where a file is none, or a large one. OSError: it cannot be looked at."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Unbounded("is no ordinary file")
    if status.st_size > most:
        raise Unbounded(f"has {size_text(status.st_size)}, {size_text(most)} at most can be read")


def read_bounded(path: Path, most: int) -> bytes:
    """Raises Unbounded as above, and OSError. A file that grows meanwhile is large, too."""
    refuse_unbounded(path, most)
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unbounded(f"has more than the {size_text(most)} that can be read")
    return data
