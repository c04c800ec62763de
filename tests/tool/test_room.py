# SPDX-License-Identifier: Apache-2.0
"""A full disk is called one, and where it is is said: a compiler that has no room for its own message says nothing."""

import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from bhtool import cli, launch
from bhtool.config import source
from bhtool.config.bounded import Done
from bhtool.config.source import SourceError, read_source
from bhtool.errors import BulkheadError, Status
from bhtool.platforms import load

from tests.config.test_broken import BROKEN

GIB = 1 << 30


def with_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int) -> None:
    """Temporary files go where so much is free; elsewhere there is plenty."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free if folder == tmp_path else 90 * GIB))


def test_a_full_disk_is_told_by_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def write(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with_room(monkeypatch, tmp_path, 3 << 10)
    monkeypatch.setattr(cli.bulkhead, "main", write)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == Status.FAILED
    said = " ".join(capsys.readouterr().err.split())
    assert f"the disk is full: {tmp_path} has room for 3 KiB, where 256 MiB should be free;" in said


@pytest.mark.parametrize(
    ("error", "words", "status"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "the disk is full: ", Status.FAILED),
        (
            PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/clone/build"),
            "/clone/build: Permission denied; choose ",
            Status.FAILED,
        ),
        (subprocess.TimeoutExpired(["qemu-system-arm", "--version"], 20), "qemu-system-arm has not ended within 20 s; ", Status.TIME_LIMIT),
    ],
    ids=["full", "denied", "late"],
)
@pytest.mark.parametrize("begin", ["launcher", "tool"])
def test_what_nobody_foresaw_is_a_sentence(
    begin: str, error: Exception, words: str, status: Status, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when the launcher makes its environment, with nothing but Python's own library."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(launch, "prepare", fail)
    monkeypatch.setattr(cli.bulkhead, "main", fail)
    with pytest.raises(SystemExit) as ended:
        launch.launch(["platforms"]) if begin == "launcher" else cli.main()
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(f"bulkhead: {words}")
    assert ended.value.code == status


@pytest.mark.parametrize(("free", "error", "words"), [(0, BulkheadError, "the disk is full"), (GIB, SourceError, "no message")])
def test_a_compiler_that_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, error: type[Exception], words: str
) -> None:
    with_room(monkeypatch, tmp_path, free)
    monkeypatch.setattr(source, "run_bounded", lambda *_: Done(1, b"", b""))
    with pytest.raises(error, match=words):
        read_source(BROKEN / "good.dtsi", load("qemu-aarch64").board)
