# SPDX-License-Identifier: Apache-2.0
"""BH-F5.board. What a newcomer does, done: a board is one folder and one tree; a CPU family is new files, a row of the build and a row of the tool.

Each is added to a copy of this tree, in which no other file changes: tests/dry, docs/boards.md, CONTRIBUTING.md.
"""

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.platforms import load

from tests.structure.test_layers import ROOT, tracked

DRY = ROOT / "tests" / "dry"
MODEL, SECOND = "qemu-aarch64", "dry-aarch64"  # a board, and one that is made after it
GUEST_RAM = 0x80000000  # not where the model has it
OTHER_RAM = f"/ {{\n\tbulkhead {{\n\t\tguest-ram = <0x0 {GUEST_RAM:#x}>;\n\t}};\n}};\n"
CORES = 32  # as many as a machine may have (abi/table.h); QEMU numbers them in clusters of 16
USED = {"<&cpu1>": "<&cpu16>", "<&cpu2>": "<&cpu31>, <&cpu9>", "<&cpu3>": "<&cpu30>"}
FAMILY, BOARD = "riscv64", "dry"
TABLE = "tools/bhtool/families/table.py"
IMPORT = "from bhtool.families.riscv64 import RISCV64\n"
REFUSAL = "bulkhead: cannot start: this version has no backend for RISC-V; take a machine that `tools/bulkhead platforms` lists as proved"
EMULATOR = "qemu-system-riscv64"
needs_emulator = pytest.mark.skipif(not shutil.which(EMULATOR), reason=f"{EMULATOR} is missing: `tools/bulkhead setup` installs it")
IMAGE = f"""
import sys
from pathlib import Path
from bhtool.image.stages import make_image, make_plan
from bhtool.platforms import load
platform = load("{BOARD}")
Path(sys.argv[1]).write_bytes(make_image(platform, make_plan(platform, Path("build/partition.dts"), lambda said: None)))
"""


class Tree:
    """A copy of the source tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.before = {str(path.relative_to(ROOT)): path.read_bytes() for path in tracked()}
        for name, content in self.before.items():
            self.write(name, content)
            shutil.copymode(ROOT / name, root / name)
        self.run("git", "init", "-q")

    def write(self, name: str, content: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def insert(self, name: str, after: str, text: str) -> None:
        whole = (self.root / name).read_text()
        assert whole.count(after) == 1, f"{name} has no place for a row"
        self.write(name, whole.replace(after, after + text).encode())

    def run(self, *command: str | Path, good: bool = True, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(self.root / "tools"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
        assert not good or not done.returncode, f"{command}: {done.stdout}{done.stderr}"
        return done

    def tool(self, *words: str | Path, good: bool = True, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "bhtool", *words, good=good, seconds=seconds)

    def monitor(self, board: str, cross: str) -> Path:
        """Sets the board up, and builds its monitor alone."""
        build = self.root / "build" / board
        self.run("meson", "setup", build, "--cross-file", f"tools/cross/{cross}.ini", f"-Dplatform={board}")
        self.run("ninja", "-C", build, "bulkhead.elf")
        return build / "bulkhead.elf"

    def resident(self, board: str) -> int:
        """As `size` has it, which builds and compares the monitors of all boards besides."""
        code = f"from bhtool.verbs.size import *; print(measure(load('{board}')).resident_bytes)"
        return int(self.run(sys.executable, "-c", code).stdout)

    def changes(self) -> tuple[set[str], dict[str, list[str]]]:
        """New files, and of those that are not, the lines that changed."""
        now = {str(path.relative_to(self.root)): path for path in self._files()}
        changed = {name: old for name, old in self.before.items() if name not in now or now[name].read_bytes() != old}
        return now.keys() - self.before.keys(), {name: self._lines(name, old) for name, old in changed.items()}

    def _files(self) -> list[Path]:
        listed = self.run("git", "ls-files", "--others", "--cached", "--exclude-standard").stdout.splitlines()
        return [self.root / name for name in listed]

    def _lines(self, name: str, old: bytes) -> list[str]:
        new = (self.root / name).read_text() if (self.root / name).exists() else ""
        return [line for line in difflib.ndiff(old.decode().splitlines(), new.splitlines()) if line[0] in "+-"]


def more_cores(about: str, clustered: bool) -> str:
    """On ARM, QEMU numbers cores in groups of sixteen; on a PC, one after the other."""
    numbers = {core: core // 16 << 8 | core % 16 if clustered else core for core in range(4, CORES)}
    nodes = [f'\t\tcpu{core}: cpu@{one:x} {{ device_type = "cpu"; {about} reg = <{one:#x}>; }};' for core, one in numbers.items()]
    return "\n".join(("\n/ {", "\tcpus {", *nodes, "\t};", "};", ""))


def add_board(tree: Tree, model: str, name: str, guest_ram: int | None = None) -> None:
    """The model's files under another name, with as many cores as a machine may have, on ARM another processor, and guests elsewhere if asked."""
    arm = load(model).arch != "x86_64"
    about = 'compatible = "arm,cortex-a72"; enable-method = "psci";' if arm else 'compatible = "bulkhead,x86-64";'
    for path in (*tracked(f"platforms/{model}"), ROOT / "dts" / "boards" / f"{model}.dtsi"):
        file, text = str(path.relative_to(ROOT)), path.read_text()
        text = re.sub(rf"\b{model}\b(?!-|\.)", name, text).replace("cortex-a57", "cortex-a72").replace('"-smp", "4"', f'"-smp", "{CORES}"')
        if path.name == "meson.build" and guest_ram is not None:
            text += f"guests_at = '{guest_ram + 0x80000:#x}'\n"
        if path.suffix == ".dtsi":
            text = text.replace("0x0 0x80000>", f"0x0 {CORES * 0x20000:#x}>") + more_cores(about, arm)
            text += OTHER_RAM if guest_ram is not None else ""
        tree.write(file.replace(model, name), text.encode())


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """With another board of a family that there is."""
    tree = Tree(tmp_path_factory.mktemp("second") / "tree")
    add_board(tree, MODEL, SECOND, GUEST_RAM)
    return tree


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """With a family that refuses to start, and its board."""
    tree = Tree(tmp_path_factory.mktemp("grown") / "tree")
    for path in tracked("tests/dry/family"):
        tree.write(str(path.relative_to(DRY / "family")), path.read_bytes())
    tree.insert("meson.build", "\nfamilies = {\n", (DRY / "row.txt").read_text())
    tree.insert(TABLE, "from bhtool.families.family import Family\n", IMPORT)
    tree.insert(TABLE, "(AARCH64, ARMV7, ", "RISCV64, ")
    program = ("clang-19", "--target=riscv64-none-elf", "-march=rv64imac", "-nostdlib", "-fuse-ld=lld", "-Wl,--image-base=0x80080000")
    (tree.root / "build").mkdir()
    tree.run(*program, "-Wl,-z,separate-code", DRY / "nothing.S", "-o", tree.root / "build" / "nothing.elf")
    partition = (DRY / "partition.dts").read_text()
    (tree.root / "build" / "partition.dts").write_text(partition)
    (tree.root / "build" / "kernel.dts").write_text(partition.replace("nothing.elf", "sandbox-kernel.elf"))
    return tree


def test_a_board_is_a_folder_and_a_tree(second: Tree) -> None:
    new, changed = second.changes()
    assert {name for name in new if not name.startswith(f"platforms/{SECOND}/")} == {f"dts/boards/{SECOND}.dtsi"}
    assert not changed


@pytest.mark.slow
def test_its_monitor_is_built(second: Tree) -> None:
    elf = second.monitor(SECOND, load(MODEL).arch)
    assert SECOND.encode() + b"\0" in elf.read_bytes(), "the name that its tables carry"
    assert second.resident(SECOND) > 0


@pytest.mark.slow
def test_the_tool_knows_the_board(second: Tree) -> None:
    second.tool("platforms", "--json", "platforms.json")
    known = json.loads((second.root / "platforms.json").read_text())["platforms"]
    (second.root / "platforms.json").unlink()
    assert next(one for one in known if one["name"] == SECOND)["here"] == "ready"
    assert "monitor of `west`" in second.tool("check", "dts/partitions/native.dts", "--platform", SECOND).stdout


@pytest.mark.long
def test_the_board_runs(second: Tree) -> None:
    """On cores of both clusters, the last among them."""
    text = (second.root / "dts" / "partitions" / "native.dts").read_text()
    for before, after in USED.items():
        text = text.replace(f"cores = {before}", f"cores = {after}")
    named = {int(core) for core in re.findall(r"cores = .*;", text) for core in re.findall(r"cpu(\d+)", core)}
    idle = ", ".join(f"<&cpu{core}>" for core in range(CORES) if core not in named)
    partition = second.root / "build" / "wide.dts"
    partition.parent.mkdir(exist_ok=True)
    partition.write_text(text.replace('partitions-v1";', f'partitions-v1";\n\t\tidle-cores = {idle};'))
    done = second.tool("run", "--platform", SECOND, "--partition", partition, "--seconds", "1", "--json", "build/run.json", seconds=600)
    found = json.loads((second.root / "build" / "run.json").read_text())["sandboxes"]
    assert [one["state"] for one in found] == ["ready"] * 4, done.stdout
    assert named == {0, 9, 16, 30, 31}


def test_a_family_is_new_files_and_two_rows(grown: Tree) -> None:
    new, changed = grown.changes()
    assert new == {str(path.relative_to(DRY / "family")) for path in tracked("tests/dry/family")}
    row = [f"+ {line}" for line in (DRY / "row.txt").read_text().splitlines()]
    assert changed.keys() == {"meson.build", TABLE}
    assert changed["meson.build"] == row
    assert [line for line in changed[TABLE] if "RISCV64" not in line] == [line for line in changed[TABLE] if line[0] == "-"]
    assert len(changed[TABLE]) == 3, "its import, and the row that it stands in, before and after"


@pytest.mark.slow
def test_its_rules_are_kept(grown: Tree) -> None:
    rules = ("test_families", "test_tool_families", "test_layers", "test_rooms", "test_circles")
    files = [f"tests/structure/{one}.py" for one in rules]
    said = grown.run(sys.executable, "-m", "pytest", "-q", *files, good=False)
    assert not said.returncode, said.stdout


@pytest.mark.slow
def test_the_familys_monitor_refuses(grown: Tree) -> None:
    elf = grown.monitor(BOARD, FAMILY)
    assert REFUSAL.split(": ")[2].encode() in elf.read_bytes()
    assert 0 < grown.resident(BOARD) < 10_752


@pytest.mark.slow
def test_the_tool_knows_the_family(grown: Tree) -> None:
    known = grown.tool("platforms").stdout
    assert "\ndry: RISC-V in QEMU, which is refused" in f"\n{known}"
    checked = grown.tool("check", "build/partition.dts", "--platform", BOARD)
    assert re.search(r"monitor of `second`", checked.stdout)
    for verb, words, why in (
        ("attack", (), "there are no attacks for RISC-V yet"),
        ("oracle", ("--partition", "build/partition.dts"), "the oracle does not read the tables of dry yet"),
        ("check", ("build/kernel.dts",), "BH-R060"),
    ):
        refused = grown.tool(verb, *words, "--platform", BOARD, good=False)
        assert refused.returncode, verb
        assert why in refused.stderr, verb
        assert "Traceback" not in refused.stderr, verb


@pytest.mark.slow
def test_a_missing_emulator_is_named(grown: Tree) -> None:
    description = grown.root / "platforms" / BOARD / "platform.toml"
    text = description.read_text()
    try:
        description.write_text(text.replace(EMULATOR, "qemu-system-none"))
        said = grown.tool("run", "--platform", BOARD, "--partition", "build/partition.dts", "--until", "ready", good=False)
    finally:
        description.write_text(text)
    assert said.returncode == 3
    assert "dry needs qemu-system-none 10.0 or newer: missing" in said.stderr


@pytest.mark.slow
@needs_emulator
def test_the_family_refuses_on_its_console(grown: Tree) -> None:
    """One sentence, after what firmware says; then firmware is asked to switch the machine off, and it does."""
    said = grown.tool("run", "--platform", BOARD, "--partition", "build/partition.dts", "--until", "ready", good=False, seconds=300)
    own = [line.removeprefix("monitor │ ") for line in said.stdout.splitlines() if "bulkhead:" in line]
    assert own == [REFUSAL]
    assert said.returncode == 1
    assert "the machine ended early" in said.stderr


@pytest.mark.slow
@needs_emulator
def test_its_hart_sleeps_where_nobody_switches_it_off(grown: Tree) -> None:
    """On a machine whose firmware has no SRST. QEMU writes down each block that is executed in the image: who sleeps adds none."""
    image, console, trace = (grown.root / "build" / name for name in ("dry.bin", "console.txt", "trace.txt"))
    grown.run(sys.executable, "-c", IMAGE, image)
    tree = without_power(grown)
    machine: list[str | Path] = [
        EMULATOR,
        "-machine",
        "virt",
        "-cpu",
        "rv64",
        "-smp",
        "4",
        "-m",
        "2G",
        "-nodefaults",
        "-display",
        "none",
        "-dtb",
        tree,
    ]
    log: list[str | Path] = [
        "-d",
        "exec,nochain",
        "-dfilter",
        "0x80200000+0x100000",
        "-D",
        trace,
        "-serial",
        f"file:{console}",
        "-kernel",
        image,
    ]
    with subprocess.Popen([*machine, *log], stdin=subprocess.DEVNULL) as process:
        try:
            until(lambda: console.exists() and REFUSAL in console.read_text(errors="replace"), 120)
            until(lambda: stands(trace), 60)
            assert process.poll() is None, "the machine is on"
        finally:
            process.kill()


def until(reached: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, reached
        time.sleep(0.1)


def stands(trace: Path) -> bool:
    """A hart that spins writes thousands of lines in a millisecond."""
    before = trace.stat().st_size
    time.sleep(1)
    return before == trace.stat().st_size > 0


def without_power(tree: Tree) -> Path:
    """QEMU's own device tree, without that by which firmware switches it off."""
    whole, source, less = (tree.root / "build" / name for name in ("whole.dtb", "whole.dts", "less.dtb"))
    tree.run(EMULATOR, "-machine", f"virt,dumpdtb={whole}", "-cpu", "rv64", "-smp", "4", "-m", "2G", "-nodefaults", "-display", "none")
    text = tree.run("dtc", "-q", "-I", "dtb", "-O", "dts", whole).stdout
    for name in ("poweroff", "reboot", "test@100000"):
        text, count = re.subn(rf"\n\t+{name} {{\n[^{{}}]*}};\n", "\n", text)
        assert count == 1, name
    source.write_text(text)
    tree.run("dtc", "-q", "-I", "dts", "-O", "dtb", "-o", less, source)
    return less
