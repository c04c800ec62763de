# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages, docs/guides/run-zephyr-or-freertos.md. The SDK's sample for Zephyr, without Zephyr: compiled against what it needs of Zephyr's headers, and run on the
host, where another program is the other end of its channels (zephyr/other_end.c)."""

import subprocess
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.delivery.sdk import HEADERS, zephyr_files
from bhtool.families.table import FAMILIES

STUBS = Path(__file__).with_name("zephyr")
WARNINGS = ("-Wall", "-Wextra", "-Werror")
SAID = """\
ask and I answer
ask: a new connection
ask 0: 64 bytes
ask 1: 1 bytes
ask 2: 2 bytes
ask 3: 3 bytes
ask 4: 4 bytes
ask 5: 256 bytes
ask: a new connection
ask 0: 16 bytes
ask: one that is damaged or too long
ask: one that is damaged or too long
ask 3: 32 bytes
ask 4: 1 bytes
the other end is gone, or not what it should be: 3
"""


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """What the SDK has of it, where the SDK has it."""
    files = zephyr_files() | {f"include/bulkhead/abi/{name}": (paths.ABI / name).read_bytes() for name in HEADERS}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def sources(sdk: Path) -> list[Path]:
    return sorted((sdk / "zephyr" / "src").glob("*.c"))


def includes(sdk: Path) -> list[str]:
    return [f"-I{one}" for one in (STUBS / "include", STUBS, sdk / "include", sdk / "zephyr" / "src")]


@pytest.mark.parametrize("standard", ["gnu99", "gnu17"])  # Zephyr's was one, and is the other
@pytest.mark.parametrize("arch", FAMILIES)
def test_it_is_compiled_for_each_processor(arch: str, standard: str, sdk: Path) -> None:
    for source in sources(sdk):
        words = ["clang-19", *FAMILIES[arch].programs.sdk.split(), f"-std={standard}", "-ffreestanding", "-O2", *WARNINGS]
        command = [*words, *includes(sdk), f"-I{STUBS / 'libc'}", "-c", "-o", str(sdk / "object.o"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr


def test_it_answers_and_outlives_the_other_end(sdk: Path) -> None:
    """Messages sent and taken, one after the other and more than there is room for; a new connection after a restart; damage; the end."""
    program = sdk / "program"
    words = ["clang-19", "-std=gnu17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-D_GNU_SOURCE", *WARNINGS]
    objects: list[str] = []
    for source in (*sources(sdk), STUBS / "other_end.c"):
        renamed = ["-Dmain=zephyr_main"] if source.name == "main.c" else []
        objects.append(str(sdk / f"{source.stem}.o"))
        command = [
            *words,
            *renamed,
            *includes(sdk),
            f"-I{paths.ROOT / 'tests' / 'unit'}",
            f"-I{sdk / 'include' / 'bulkhead'}",
            "-c",
            "-o",
            objects[-1],
            str(source),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    subprocess.run([*words, "-o", str(program), *objects], check=True, timeout=60)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == SAID
