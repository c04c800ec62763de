# SPDX-License-Identifier: Apache-2.0
"""BH-F2.can. Programs out of packages bring their loader and libraries, each once, and nothing else; what no package holds is named."""

import shutil
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.image import debs, programs
from bhtool.provision.apt import PrivateApt

HERE = Path(shutil.which("dpkg-deb") or "/usr/bin/dpkg-deb")  # a program with libraries, whatever the machine


def tree(files: dict[str, bytes]) -> dict[str, bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_files", lambda _: files)
        patch.setattr(debs, "fetch_closure", lambda *_: [])
        return programs.unpacked(programs.packed(PrivateApt(Path(), (), ()), "amd64", (), ["tool"], lambda _: None))


def test_a_program_brings_what_it_needs() -> None:
    program = HERE.read_bytes()
    needed = programs._needed("tool", program)
    assert any(one.startswith("lib/libc.so") for one in needed)
    assert any(one.rpartition("/")[2].startswith("ld-linux") for one in needed)
    # Libraries that need each other: this one stands for all of them.
    libraries = {one.rpartition("/")[2]: program for one in needed}
    found = tree({"tool": program, "other": program, **libraries})
    assert sorted(found) == sorted({"bin/tool", *needed})
    assert set(found.values()) == {program}


def test_a_library_that_no_package_holds_is_named() -> None:
    with pytest.raises(BulkheadError, match="no package that was fetched holds lib"):
        tree({"tool": HERE.read_bytes()})
    with pytest.raises(BulkheadError, match="tool is no program"):
        tree({"tool": b"#!/bin/sh\n"})
