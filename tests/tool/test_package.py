# SPDX-License-Identifier: Apache-2.0
"""The command without the clone: a package holds all that it needs, and nothing that only a clone can use is offered."""

import csv
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bhtool import paths
from bhtool.delivery import package
from bhtool.errors import Status
from bhtool.platforms import load
from bhtool.provision import debian
from bhtool.verbs import SOURCE_VERBS, VERBS
from bhtool.versions import version_text

PLATFORM = "qemu-aarch64"
LIMIT = 300


@pytest.fixture(scope="module")
def tree() -> package.Tree:
    """With one platform, which is as good as all."""
    patch = pytest.MonkeyPatch()
    patch.setattr(package, "every", lambda: [load(PLATFORM)])
    try:
        return package.collect(lambda _: None)
    finally:
        patch.undo()


@pytest.fixture(scope="module")
def installed(tree: package.Tree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as pip installs it."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = package.write_wheel(tree, folder)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(folder / "site"), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True, timeout=LIMIT)
    return folder / "site"


def command(installed: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a folder that has nothing to do with the clone; `module`: the launcher, or the tool that it starts."""
    search = installed if module == "bulkhead_launcher" else installed / "bulkhead_tree" / "tools"
    environment = os.environ | {"PYTHONPATH": str(search), "BULKHEAD_CACHE": str(installed / "cache")}
    run = (
        [sys.executable, "-c", "import bulkhead_launcher; bulkhead_launcher.main()"]
        if search == installed
        else [sys.executable, "-m", module]
    )
    return subprocess.run([*run, *arguments], cwd=installed, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)


def test_it_says_what_it_is(installed: Path) -> None:
    assert command(installed, "bulkhead_launcher", "--version").stdout == version_text() + "\n"
    said = command(installed, "bulkhead_launcher", "--help").stdout
    assert "Usage: bulkhead [OPTIONS]" in said
    assert "tools/bulkhead" not in said
    assert [verb for verb in VERBS if f"\n  {verb} " in said] == [verb for verb in VERBS if verb not in SOURCE_VERBS]


def test_documents_are_named_by_where_they_are(installed: Path) -> None:
    said = command(installed, "bhtool", "explain", "BH-R003").stdout
    assert str(installed / "bulkhead_tree" / "docs" / "configuration.md") in said


def test_it_is_called_by_its_name(installed: Path) -> None:
    """Where a clone's texts say tools/bulkhead."""
    for words in (["nothing"], ["check", "nothing.dts"], ["explain", "nothing"], ["check", "nothing.dts", "--platform", "bochs"]):
        said = command(installed, "bhtool", *words)
        assert said.returncode
        assert "tools/bulkhead" not in said.stdout + said.stderr.replace("bulkhead_tree/tools", ""), words


def test_the_first_command_makes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything that it needs is there already."""
    monkeypatch.setattr(paths, "BUILD", tmp_path / "new" / "package")
    debian.ensure_packages((), False)
    assert (tmp_path / "new" / "package").is_dir()


def test_what_needs_sources_is_refused(installed: Path) -> None:
    done = command(installed, "bulkhead_launcher", "test")
    assert (done.returncode, "use a clone" in done.stderr) == (Status.USAGE, True)


def test_it_judges_and_packs(installed: Path) -> None:
    partition = installed / "bulkhead_tree" / "dts" / "partitions" / "native.dts"
    done = command(
        installed, "bhtool", "image", "--platform", PLATFORM, "--format", "elf", "--partition", str(partition), "-o", "native.elf"
    )
    assert done.returncode == Status.GOOD, done.stderr
    assert (installed / "native.elf").read_bytes()[:4] == b"\x7fELF"
    assert not (installed / "bulkhead_tree" / "build").exists()


def write_at(seconds: int, write: Callable[[package.Tree, Path], Path], folder: Path, patch: pytest.MonkeyPatch) -> bytes:
    """A small package whose files, and the clock of who writes it, say `seconds`."""
    run = subprocess.run

    def run_aged(words: list[str], **given: Any) -> object:
        root = Path(words[-2])
        for file in (*root.rglob("*"), root):
            os.utime(file, (seconds, seconds), follow_symlinks=False)
        return run(words, **given)

    folder.mkdir(parents=True)
    with patch.context() as scene:
        scene.setattr(time, "time", lambda: float(seconds))
        scene.setattr(subprocess, "run", run_aged)
        return write({"tools/bulkhead": b"#!/bin/sh\n", "docs/guest.md": b"text\n"}, folder).read_bytes()


@pytest.mark.parametrize("form", package.FORMATS)
def test_the_same_sources_give_the_same_package(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another day: SOURCE_DATE_EPOCH caps every time that dpkg-deb writes, EPOCH stands in every entry of the wheel."""
    one, two = (write_at(at, package.FORMATS[form], tmp_path / str(at), monkeypatch) for at in (1_600_000_000, 1_700_000_000))
    assert one == two


def test_no_part_of_the_clone_is_forgotten(tree: package.Tree) -> None:
    """What the tool reads by its place."""
    for name in (
        "abi/guest.h",
        "dts/boards/qemu-virt.dtsi",
        "tools/requirements.txt",
        "docs/commands.md",
        f"prebuilt/{PLATFORM}/bulkhead.elf",
    ):
        assert tree[name], name
    assert not [name for name in tree if name.startswith(("tests/", "monitor/", "build/"))]
    tool = [file for file in (paths.ROOT / "tools" / "bhtool").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert not [file for file in tool if str(file.relative_to(paths.ROOT)) not in tree]


def test_a_wheel_is_a_zip_whose_record_names_everything(tree: package.Tree, tmp_path: Path) -> None:
    with zipfile.ZipFile(package.write_wheel(tree, tmp_path)) as wheel:
        record = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
        named = {row[0] for row in csv.reader(wheel.read(record).decode().splitlines())}
        assert named == set(wheel.namelist())
