# SPDX-License-Identifier: Apache-2.0
"""Exit statuses scripts rely on, and the one sentence that goes with each refusal."""

import subprocess
import sys
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.machine.emulated import require_emulator
from bhtool.platforms import load
from bhtool.provision import debian, sources
from bhtool.provision.apt import Estimate, PrivateApt
from bhtool.provision.needs import Need
from bhtool.provision.progress import Report, silent
from bhtool.verbs import VERBS

from tests.tool.conftest import Inside

LAUNCHER = paths.ROOT / "tools" / "bulkhead"


def bulkhead(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, LAUNCHER, *arguments], capture_output=True, text=True, timeout=300, check=False)


def test_usage_from_the_launcher() -> None:
    for arguments in (("frobnicate",), ("setup", "--bogus")):
        done = bulkhead(*arguments)
        assert done.returncode == Status.USAGE, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--platform", "no-such-board"),
        ("run", "--seconds", "5", "--until", "ready"),
        ("run", "--attach", "linux", "--until", "ready"),
        ("run", "--seconds", "soon"),
        ("run", "--partition", "no-such-file.dts"),
        ("check",),
        ("test", "--platform"),
    ],
)
def test_usage(arguments: tuple[str, ...], inside: Inside) -> None:
    assert inside(*arguments) == Status.USAGE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rnu",), "there is no verb `rnu` (did you mean `run`?); `tools/bulkhead --help` lists them"),
        (("run", "--platform", "qemu-arch64"), "(did you mean 'qemu-aarch64'?)"),
        (("size", "--platform", "bochs_vtx"), "(did you mean 'bochs-vtx'?)"),
        (("attack", "--class", "memry"), "(did you mean 'memory'?)"),
        (("image", "--format", "ios"), "(did you mean 'iso'?)"),
        (("run", "--platfrom", "qemu-svm"), "Did you mean '--platform'?"),
        (("run", "--partition", "mixd.dts"), "there is no partition file mixd.dts (did you mean dts/partitions/mixed.dts?)"),
        (("overlay", "nativ.dts", "north", "--for", "c"), "there is no partition file nativ.dts (did you mean dts/partitions/native.dts?)"),
        (("check", "--platform", "a\x1b[31mb"), r"a\x1b[31mb"),
    ],
    ids=["verb", "platform", "underscore", "class", "format", "option", "file", "overlay", "escape"],
)
def test_who_is_close_is_told_what_was_meant(
    arguments: tuple[str, ...], said: str, inside: Inside, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inside(*arguments) == Status.USAGE
    shown = capsys.readouterr().err
    assert said in shown
    assert all(line.isprintable() for line in shown.splitlines())


def test_the_folder_that_was_named_is_looked_in_first(
    inside: Inside, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "partition.dts").touch()
    assert inside("run", "--partition", "mine/nothing.dts") == Status.USAGE
    assert "there is no partition file mine/nothing.dts (did you mean mine/partition.dts?)" in capsys.readouterr().err


def test_help_names_every_verb_and_succeeds(inside: Inside) -> None:
    done = bulkhead("--help")
    assert done.returncode == Status.GOOD
    for verb in VERBS:
        assert f"  {verb} " in done.stdout
        assert inside(verb, "--help") == Status.GOOD


def fake_emulator(folder: Path, version: str) -> None:
    program = folder / "qemu-system-aarch64"
    program.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version}'\n")
    program.chmod(0o755)


@pytest.mark.parametrize(("version", "sentence"), [("7.2.19", "version 7.2.19 is too old, 10.0 or newer is needed"), (None, "missing")])
def test_a_wrong_emulator_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, sentence: str) -> None:
    if version:
        fake_emulator(tmp_path, version)
    monkeypatch.setenv("PATH", str(tmp_path) + (":/usr/bin:/bin" if version else ""))
    with pytest.raises(BulkheadError, match=sentence) as refusal:
        require_emulator(load("qemu-aarch64"))
    assert refusal.value.status == Status.MISSING
    assert "tools/bulkhead setup" in str(refusal.value)


class FakeApt(PrivateApt):
    """Knows one package; installing it changes nothing."""

    installed: list[str]

    def prepare(self) -> None: ...
    def update(self, report: Report = silent) -> None: ...
    def estimate(self, packages: list[str]) -> Estimate:
        return Estimate(tuple(packages), "1 MB", "3 MB")

    def install(self, packages: list[str], estimate: Estimate, report: Report) -> None:
        type(self).installed = packages


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Need, ...]:
    """Needs that this machine does not meet, and a private APT without network."""
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    monkeypatch.setattr(debian, "system_apt", lambda: FakeApt(tmp_path / "apt", ()))
    monkeypatch.delenv("CI", raising=False)
    FakeApt.installed = []
    return (Need("some-package", "no-such-program", "test"),)


def test_nothing_is_installed_without_consent(missing: tuple[Need, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BulkheadError, match="nothing was installed") as refusal:
        debian.ensure_packages(missing, yes=False)
    assert refusal.value.status == Status.MISSING
    assert FakeApt.installed == []
    said = capsys.readouterr().out
    assert "some-package (missing)" in said
    assert "1 package: 1 MB to download, 3 MB on disk" in said


def test_dry_run_only_lists(missing: tuple[Need, ...]) -> None:
    debian.ensure_packages(missing, yes=True, dry_run=True)
    assert FakeApt.installed == []


@pytest.mark.parametrize("consent", ["--yes", "CI"])
def test_what_is_still_missing_is_named(missing: tuple[Need, ...], monkeypatch: pytest.MonkeyPatch, consent: str) -> None:
    if consent == "CI":
        monkeypatch.setenv("CI", "true")
    with pytest.raises(BulkheadError, match="still not usable after installing: some-package"):
        debian.ensure_packages(missing, yes=consent == "--yes")
    assert FakeApt.installed == ["some-package"]


def test_other_distributions_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "release", lambda: ("fedora", ""))
    with pytest.raises(BulkheadError, match="only on Debian or Ubuntu") as refusal:
        debian.system_apt()
    assert refusal.value.status == Status.MISSING
