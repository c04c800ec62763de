# SPDX-License-Identifier: Apache-2.0
"""`check` on a machine where nothing has been built or fetched: it judges all but the software that the tool provides, and installs nothing for the rest."""

from pathlib import Path

import pytest
from bhtool import compile as compiling
from bhtool import paths
from bhtool.compile import make_plan
from bhtool.config.payload import NotYet
from bhtool.images import Resolver
from bhtool.platforms import load
from bhtool.provision import launch
from bhtool.provision.needs import BUILD_NEEDS, CHECK_NEEDS, VENV_NEEDS, Need


@pytest.fixture
def nothing_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty build folder, and nobody may fill it."""

    def refuse(*_: object) -> None:
        raise AssertionError("something would be built or fetched")

    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    monkeypatch.setattr(compiling, "build_platform", refuse)
    monkeypatch.setattr("bhtool.payloads.fetch", refuse)
    return tmp_path


def said(_: str) -> None:
    pass


@pytest.mark.parametrize("partition", ["mixed.dts", "restart.dts", "native.dts"])
@pytest.mark.parametrize("platform", ["qemu-aarch64", "qemu-svm"])
def test_all_else_is_judged(partition: str, platform: str, nothing_built: Path) -> None:
    plan = make_plan(load(platform), paths.PARTITIONS / partition, said, provides=False)
    assert plan.errors == []
    assert {warning.rule for warning in plan.warnings} == {"BH-W060"}
    assert plan.sandboxes[0].ram_size
    assert not list((nothing_built / "build").glob("*/build.ninja"))


def test_what_nobody_knows_is_no_excuse(nothing_built: Path) -> None:
    resolve = Resolver(load("qemu-aarch64"), nothing_built / "x.dts", said, provides=False)
    with pytest.raises(NotYet):
        resolve("sandbox-kernel.elf")
    with pytest.raises(FileNotFoundError):
        resolve("mine.elf")


def test_only_what_judges_is_installed(nothing_built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[tuple[Need, ...]] = []
    monkeypatch.setattr(launch, "ensure_packages", lambda needs, *_: wanted.append(needs))
    monkeypatch.setattr(launch, "ensure_venv", lambda: None)
    launch.prepare(["check", "x.dts"], yes=False)
    launch.prepare(["check", "x.dts", "--build"], yes=False)
    (nothing_built / "build" / "qemu-svm").mkdir(parents=True)
    (nothing_built / "build" / "qemu-svm" / "build.ninja").touch()
    launch.prepare(["check", "x.dts"], yes=False)
    assert wanted == [VENV_NEEDS + CHECK_NEEDS, VENV_NEEDS + BUILD_NEEDS, VENV_NEEDS + BUILD_NEEDS]
