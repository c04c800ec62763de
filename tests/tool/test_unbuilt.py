# SPDX-License-Identifier: Apache-2.0
"""`check` on a machine where nothing has been built or fetched: it judges all but the software that the tool provides, and installs nothing for the rest."""

import subprocess
import sys
from pathlib import Path

import pytest
from bhtool import launch, paths
from bhtool.config.payload import NoFile, NotYet
from bhtool.config.plan import DmaFree, Holding
from bhtool.errors import Status
from bhtool.image import stages as compiling
from bhtool.image.build import PRODUCTS
from bhtool.image.names import Resolver
from bhtool.image.stages import judged_plan, make_plan
from bhtool.platforms import load
from bhtool.provision.needs import BUILD_NEEDS, CHECK_NEEDS, DEBUG_NEEDS, TEST_NEEDS, VENV_NEEDS, Need
from bhtool.terminal.screen import Screen
from bhtool.verbs import LIGHT_VERBS
from bhtool.verbs.check import allocation_table, device_table, memory_table, restart_table, sandbox_table


@pytest.fixture
def nothing_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty build folder, and nobody may fill it."""

    def refuse(*_: object) -> None:
        raise AssertionError("something would be built or fetched")

    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    monkeypatch.setattr(compiling, "build_platform", refuse)
    monkeypatch.setattr("bhtool.image.payloads.fetch", refuse)
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


def test_strict_is_about_the_file(nothing_built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the tool has not built yet is said, and refuses no file; what a file leaves open refuses it."""
    screen = Screen()
    assert judged_plan(load("qemu-aarch64"), paths.PARTITIONS / "mixed.dts", screen, strict=True, provides=False).valid
    assert "BH-W060" in capsys.readouterr().err
    file = nothing_built / "mine.dts"
    file.write_text((paths.PARTITIONS / "native.dts").read_text().replace("ranges;", "ranges; spare: spare { size = <0x0 0x200000>; };", 1))
    plan = judged_plan(load("qemu-aarch64"), file, screen, strict=True, provides=False)
    assert ({one.rule for one in plan.errors}, {one.rule for one in plan.warnings}) == ({"BH-W030"}, {"BH-W060"}), plan.errors


def test_brackets_in_names_are_shown(nothing_built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the file, of a sandbox, its image and devices, and of what lies where: none of it is markup."""
    monkeypatch.setenv("COLUMNS", "160")
    odd = "[red]odd[/]:bell:"
    plan = make_plan(load("qemu-aarch64"), paths.PARTITIONS / "native.dts", said, provides=False)
    first, screen = plan.sandboxes[0], Screen()
    plan.file, first.name, first.image, first.console, first.rest = Path("[red]:bell:"), odd, odd, odd, [odd]
    first.devices, first.restarts = {odd: DmaFree(odd, odd)}, True
    plan.holdings[0] = Holding("memory", 0, 4096, odd, odd, None)
    tables = sandbox_table(plan), device_table(plan), allocation_table(plan), memory_table(plan), restart_table(plan)
    for table, shown in zip(tables, (5, 4, 2, 1, 1), strict=True):
        screen.summary(table)
        assert capsys.readouterr().out.count(odd) == shown, table.title


@pytest.mark.parametrize("words", [["new", "mine"], ["platforms"], ["explain"], ["completion", "bash"]], ids=lambda words: words[0])
def test_light_verbs_do_without_what_is_not_installed(words: list[str], tmp_path: Path) -> None:
    """The launcher installs neither compiler nor libfdt for them; the test's own libfdt is not looked at."""
    assert words[0] in LIGHT_VERBS
    without = "import sys; sys.modules['libfdt'] = None; from bhtool import cli; cli.main()"
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(paths.ROOT / "tools"), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", without, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == Status.GOOD, done.stderr


def test_what_nobody_knows_is_no_excuse(nothing_built: Path) -> None:
    resolve = Resolver(load("qemu-aarch64"), nothing_built / "x.dts", said, provides=False)
    for name in ("sandbox-kernel.elf", "probe.elf"):
        with pytest.raises(NotYet):
            resolve(name)
    with pytest.raises(FileNotFoundError):
        resolve("mine.elf")


def test_a_package_has_no_probe(nothing_built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands attack and measure: no user's sandbox has it, and what a partition file names is not promised."""
    monkeypatch.setattr(paths, "IS_PACKAGE", True)
    resolve = Resolver(load("qemu-aarch64"), nothing_built / "x.dts", said, provides=False)
    with pytest.raises(NotYet):
        resolve("sandbox-kernel.elf")
    with pytest.raises(NoFile):
        resolve("probe.elf")
    assert not [name for name in PRODUCTS if "probe" in name]


def test_only_what_judges_is_installed(nothing_built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[tuple[Need, ...]] = []
    monkeypatch.setattr(launch, "ensure_packages", lambda needs, *_: wanted.append(needs))
    monkeypatch.setattr(launch, "ensure_venv", lambda: None)
    launch.prepare(["check", "x.dts"], yes=False)
    launch.prepare(["--yes", "check", "x.dts"], yes=True)
    launch.prepare(["check", "x.dts", "--build"], yes=False)
    (nothing_built / "build" / "qemu-svm").mkdir(parents=True)
    (nothing_built / "build" / "qemu-svm" / "build.ninja").touch()
    launch.prepare(["check", "x.dts"], yes=False)
    judges, builds = VENV_NEEDS + CHECK_NEEDS, VENV_NEEDS + BUILD_NEEDS
    assert wanted == [judges, judges, builds, builds]


def test_only_tests_bring_the_emulator_of_the_dry_run_and_the_model_checker(nothing_built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[tuple[Need, ...]] = []
    monkeypatch.setattr(launch, "ensure_packages", lambda needs, *_: wanted.append(needs))
    monkeypatch.setattr(launch, "ensure_venv", lambda: None)
    monkeypatch.setattr(launch, "build_bochs", lambda: None)
    for verb, besides in (("test", [TEST_NEEDS]), ("debug", [DEBUG_NEEDS]), ("run", [])):
        wanted.clear()
        launch.prepare([verb], yes=False)
        assert wanted == [VENV_NEEDS + BUILD_NEEDS, *besides]
    launch.setup(["--dry-run"])
    assert set(wanted[-1]) == {*VENV_NEEDS, *BUILD_NEEDS, *TEST_NEEDS}
    assert [need.probe for need in TEST_NEEDS if need not in DEBUG_NEEDS] == ["qemu-system-riscv64", "spin"]
