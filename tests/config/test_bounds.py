# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. Whatever a partition file takes in, the compiler ends, with a sentence: pipes, devices, macros that double, deep trees."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config import bounded
from bhtool.config.bounded import SOURCE_BYTES, Unbounded, read_bounded, run_bounded
from bhtool.config.plan import Plan

from tests.config.test_broken import BROKEN

Compile = Callable[[Path, str], Plan]
GOOD = f'#include "{BROKEN / "good.dtsi"}"\n'
TRIES = 3000
DOUBLING = "\n".join(f"#define D{n} D{n - 1} D{n - 1}" for n in range(1, 40))


def refusal(compile_on: Compile, file: Path) -> str:
    (error,) = compile_on(file, "qemu-aarch64").errors
    assert error.rule == "BH-R008"
    return f"{Path(error.file).name}:{error.line}: {error.text}"


def written(folder: Path, text: str) -> Path:
    file = folder / "partition.dts"
    file.write_text(text)
    return file


def test_a_pipe_as_partition_file(compile_on: Compile, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.dts")
    assert refusal(compile_on, tmp_path / "pipe.dts").startswith("pipe.dts:1: this file is no ordinary file")


def test_a_large_partition_file(compile_on: Compile, tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    os.truncate(file, SOURCE_BYTES + 1)
    assert refusal(compile_on, file).startswith("partition.dts:1: this file has 1,048,577 B, 1 MiB at most can be read")


def test_a_pipe_in_an_included_file(compile_on: Compile, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.dtsi")
    (tmp_path / "between.dtsi").write_text('\n#include "pipe.dtsi"\n')
    file = written(tmp_path, GOOD + '#include "between.dtsi"\n')
    assert refusal(compile_on, file).startswith("between.dtsi:2: ")


def test_raw_files_by_way_of_a_macro(compile_on: Compile, tmp_path: Path) -> None:
    file = written(tmp_path, GOOD + '#define RAW /incbin/("/dev/zero")\n&two {\nbootargs = RAW;\n};\n')
    assert refusal(compile_on, file).startswith("partition.dts:4: `/incbin/` takes in")


def test_raw_files_between_quotes_of_characters(compile_on: Compile, tmp_path: Path) -> None:
    """A quote within a character begins no text."""
    around = "/ { reserved-memory { one { x = <'\"'>; }; }; };\n"
    file = written(tmp_path, GOOD + around + '/include/ "/dev/zero"\n' + around)
    assert refusal(compile_on, file).startswith("partition.dts:3: `/include/` takes in")


def test_raw_files_in_text_are_text(compile_on: Compile, tmp_path: Path) -> None:
    assert not compile_on(written(tmp_path, GOOD + '&two { bootargs = "/incbin/ /include/"; };\n'), "qemu-aarch64").errors


def test_macros_that_double(compile_on: Compile, tmp_path: Path) -> None:
    file = written(tmp_path, f"{DOUBLING}\n#define D0 0\n{GOOD}&two {{ cores = <D39>; }};\n")
    assert "takes clang-19 more than" in refusal(compile_on, file)


def test_a_pipe_that_only_the_preprocessor_finds(compile_on: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 1)
    os.mkfifo(tmp_path / "pipe.dtsi")
    file = written(tmp_path, f'{GOOD}#define PIPE "pipe.dtsi"\n#include PIPE\n')
    assert "keeps clang-19 waiting for more than 1 s" in refusal(compile_on, file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a {" * 400 + "};" * 400, "there are more than 16 levels of nodes"),
        ("".join(f"n{n} {{}};" for n in range(5000)), "there are more than 4096 nodes"),
        (f"long = <{'0 ' * 20000}>;", "there are more than 65536 characters in a value"),
    ],
    ids=["levels", "nodes", "value"],
)
def test_trees_beyond_reason(compile_on: Compile, tmp_path: Path, text: str, words: str) -> None:
    assert refusal(compile_on, written(tmp_path, f"{GOOD}/ {{\n{text}\n}};\n")).startswith(f"partition.dts:3: {words}")


def test_dtc_keeps_to_its_memory() -> None:
    """Whatever way there may be past the preprocessor."""
    with pytest.raises(Unbounded, match="takes dtc more than"):
        run_bounded(["dtc", "-I", "dts", "-O", "dtb", "-"], b'/dts-v1/;\n/ { a = /incbin/("/dev/zero"); };\n')


def test_a_device_is_no_image(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(Unbounded, match="is no ordinary file"):
            read_bounded(path, 1)


def test_a_file_that_grows_is_large() -> None:
    """Files of /proc say that they are empty."""
    with pytest.raises(Unbounded, match="has more than the 10 B that"):
        read_bounded(Path("/proc/self/maps"), 10)


def test_limits_hold_for_what_a_compiler_starts() -> None:
    limits = run_bounded(["sh", "-c", "sh -c 'ulimit -t; ulimit -v; ulimit -f; ulimit -c'"], b"").output
    assert limits.split() == [b"10", b"1048576", b"16384", b"0"]  # seconds, KiB, blocks of 512 bytes


def test_nothing_that_a_compiler_starts_outlives_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that went on writing would fill the disk."""
    monkeypatch.setattr(bounded, "SECONDS", 1)
    note = tmp_path / "pid"
    with pytest.raises(Unbounded):
        run_bounded(["sh", "-c", f"sleep 600 & echo $! >{note}; wait"], b"")
    child = int(note.read_text())
    for _ in range(TRIES):  # a killed process is gone when it next runs
        if not is_alive(child):
            return
        time.sleep(0.01)
    pytest.fail(f"process {child} is left behind")


def is_alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    try:
        return state.read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
