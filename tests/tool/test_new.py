# SPDX-License-Identifier: Apache-2.0
"""A folder to begin with is valid as it is, and nothing of the user's is written over."""

import json
import subprocess
from pathlib import Path

import pytest
from bhtool.cli import loaded
from bhtool.delivery import new, sdk
from bhtool.delivery.new import TEMPLATES, write_new
from bhtool.delivery.sdk import MARK, refuse_foreign
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.platforms import load
from click.testing import CliRunner


def no_sdk(folder: Path, _: object) -> None:
    folder.mkdir(parents=True)


@pytest.fixture(autouse=True)
def without_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK has tests of its own."""
    monkeypatch.setattr(new, "write_sdk", no_sdk)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("platform", ["qemu-aarch64", "qemu-svm"])
def test_an_editor_finds_board_and_partition(template: str, platform: str, tmp_path: Path) -> None:
    """Its file is whole by itself: preprocessor and dtc take it without the tool's help."""
    written = write_new(tmp_path / "mine", template, load(platform), lambda _: None)
    assert {"partition.dts", ".vscode/settings.json"} <= set(written)
    settings = json.loads((tmp_path / "mine" / ".vscode" / "settings.json").read_text())
    (context,) = settings["devicetree.contexts"]
    for folder in (*context["deviceOrgTreeBindings"], *context["includePaths"]):
        assert list(Path(folder).iterdir())
    preprocess = ["clang-19", "-E", "-x", "assembler-with-cpp", "-nostdinc", "-undef", "-D__DTS__", context["dtsFile"]]
    source = subprocess.run(preprocess, capture_output=True, check=True, timeout=60).stdout
    tree = subprocess.run(["dtc", "-I", "dts", "-O", "dts"], input=source, capture_output=True, check=True, timeout=60)
    assert b"bulkhead,partitions-v1" in tree.stdout
    assert tree.stderr == b""


def test_a_guest_finds_the_sdk_beside_it(tmp_path: Path) -> None:
    assert "sdk/" in write_new(tmp_path, "guest", load("qemu-aarch64"), lambda _: None)
    assert "$(abspath sdk/lib/pkgconfig)" in (tmp_path / "Makefile").read_text()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "partition.dts").write_text("mine")
    with pytest.raises(BulkheadError, match=r"partition\.dts is there already"):
        write_new(tmp_path, "native", load("qemu-svm"), lambda _: None)
    assert [one.name for one in tmp_path.iterdir()] == ["partition.dts"]


@pytest.mark.parametrize("name", ["partition.dts", ".vscode", ".bulkhead", ".vscode/settings.json"])
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    """A dangling one, too, is a place elsewhere."""
    outside, folder = tmp_path / "elsewhere", tmp_path / "mine"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).symlink_to(outside)
    if "." not in name[1:]:
        outside.mkdir()
    with pytest.raises(BulkheadError, match="is a symbolic link, and may lead out of the folder"):
        write_new(folder, "native", load("qemu-svm"), lambda _: None)
    assert not outside.exists() or not list(outside.iterdir())


@pytest.mark.parametrize("name", ["include", "lib/pkgconfig", "LICENSE", "example/hello.c"])
def test_an_sdk_is_not_written_through_a_link(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "sdk"
    (folder / MARK).parent.mkdir(parents=True)
    (folder / MARK).touch()
    if name == "include":
        (folder / name).rename(tmp_path / "include")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(tmp_path / "include" if name == "include" else tmp_path / "elsewhere")
    with pytest.raises(BulkheadError, match="is a symbolic link"):
        refuse_foreign(folder)


def test_it_refuses_before_it_says_that_it_writes(tmp_path: Path) -> None:
    (tmp_path / "partition.dts").write_text("mine")
    done = CliRunner().invoke(loaded("new"), [str(tmp_path)])
    assert isinstance(done.exception, BulkheadError)
    assert "writing" not in done.output


@pytest.mark.parametrize(
    ("missing", "said"), [(3, "building the SDK for 3 kinds of core, once, about a minute"), (1, "for 1 kind of core,"), (0, "")]
)
def test_the_first_sdk_says_that_it_takes_a_while(missing: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = list(FAMILIES)[:missing]
    monkeypatch.setattr(sdk, "is_built", lambda platform: platform.arch not in lacking)
    done = CliRunner().invoke(loaded("new"), [str(tmp_path / "mine"), "--template", "guest"])
    assert not done.exception
    told, _, writing = done.output.partition("writing")
    assert writing
    assert said in told
    assert bool(said) == ("SDK" in told)
    done = CliRunner().invoke(loaded("new"), [str(tmp_path / "native"), "--template", "native"])
    assert "SDK" not in done.output
