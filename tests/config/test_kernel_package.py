# SPDX-License-Identifier: Apache-2.0
"""BH-F1.kernel. A sandbox's kernel comes from the Debian package that its partition file names, and from the platform's where it names none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.compile import compile_partition
from bhtool.config.payload import NotYet
from bhtool.config.plan import Plan
from bhtool.image import names, payloads
from bhtool.image.names import Resolver
from bhtool.platforms import load

from tests.config.software import Files

GOOD = Path(__file__).parent / "broken" / "good.dtsi"
PACKAGES = {
    "qemu-aarch64": "linux-image-cloud-arm64",
    "qemu-armv7": "linux-image-armmp",
    "qemu-svm": "linux-image-6.1.0-40-amd64-unsigned",
    "bochs-vtx": "linux-image-rt-amd64",
}


def partition(folder: Path, properties: str) -> Path:
    file = folder / "mine.dts"
    file.write_text(f'#include "{GOOD}"\n&linux {{ {properties} }};\n')
    return file


@pytest.mark.parametrize("platform", PACKAGES)
def test_kernel_and_modules_come_from_the_package(platform: str, files: Callable[[str], Files], tmp_path: Path) -> None:
    asked: list[str] = []
    package = PACKAGES[platform]
    stand_ins = files(load(platform).arch)

    def resolve(name: str) -> Path:
        asked.append(name)
        return stand_ins(name.removeprefix(f"{package}/"))

    plan: Plan = compile_partition(partition(tmp_path, f'kernel-package = "{package}"; modules = "virtio_net";'), load(platform), resolve)
    assert (plan.errors, plan.warnings) == ([], [])
    assert {f"{package}/vmlinuz", f"{package}/vmlinuz.modules"} <= set(asked)
    assert not {"vmlinuz", "vmlinuz.modules"} & set(asked)


def test_without_it_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def cached(package: str, architecture: str, *_: object) -> Path:
        asked.append((package, architecture))
        raise FileNotFoundError

    monkeypatch.setattr(payloads, "cached", cached)
    for name in ("vmlinuz", "linux-image-amd64/vmlinuz"):
        with pytest.raises(FileNotFoundError):
            Resolver(load("qemu-svm"), tmp_path / "mine.dts", lambda _: None)(name)
    assert asked == [("linux-image-cloud-amd64", "amd64"), ("linux-image-amd64", "amd64")]


def test_kernels_of_two_packages_lie_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One machine may have both."""
    for package in ("linux-image-cloud-amd64", "linux-image-amd64"):
        (tmp_path / package).write_text(package)
    monkeypatch.setattr(payloads, "cached", lambda package, *_: tmp_path / package)
    monkeypatch.setattr("bhtool.platforms.Platform.build", tmp_path / "build")
    paths = [payloads.kernel(load("qemu-svm"), lambda _: None, package) for package in ("", "linux-image-amd64")]
    assert [path.read_text() for path in paths] == ["linux-image-cloud-amd64", "linux-image-amd64"]


@pytest.mark.parametrize(
    "name", ["vmlinuz", "folder/vmlinuz", "linux-image-amd64/other", "linux-image-amd64", "a/linux-image-amd64/vmlinuz"]
)
def test_other_names_stand_for_files(name: str) -> None:
    assert names.split(name) == ("", name)


def test_what_may_not_be_fetched_is_not(tmp_path: Path) -> None:
    with pytest.raises(NotYet):
        Resolver(load("qemu-svm"), tmp_path / "mine.dts", lambda _: None, provides=False)("linux-image-amd64/vmlinuz")
