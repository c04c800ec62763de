# SPDX-License-Identifier: Apache-2.0
"""BH-E1.compilers. The unit tests by a compiler that shares nothing with clang, and by clang otherwise optimized: a mistake of a compiler shows as a difference.

The sources are those of the mutations on the host, which have the programs and what each is made of.
"""

import subprocess
from pathlib import Path

import pytest

from tests.mutation.host_programs import ARGUMENTS, BOARDS, COMPILE, PARTS, PROGRAMS, SUBJECTS, SUPPORT
from tests.mutation.mutation import ROOT
from tests.mutation.test_host_mutations import MUTATIONS

BUILTINS = [f"-D__builtin_{name}_inline=__builtin_{name}" for name in ("memcpy", "memset")]  # of clang, that have no like there
GCC = ("gcc", "-O2", *BUILTINS)
CLANG = ("clang-19", "-fuse-ld=lld")
COMMON = [option for option in COMPILE if option not in ("clang-19", "-O1")]
LIMIT_SECONDS = 120
COMPILERS = [
    pytest.param(GCC, id="gcc", marks=pytest.mark.slow),
    pytest.param((*CLANG, "-O0"), id="clang-O0", marks=pytest.mark.long),
    pytest.param((*CLANG, "-O3"), id="clang-O3", marks=pytest.mark.long),
]


def compiled(source: Path, name: str, compiler: tuple[str, ...], folder: Path) -> Path:
    """`name`: of the file that `source` is, or stands for. Objects are made once."""
    target = folder / (name.replace("/", "_") + ".o")
    if not target.exists():
        board = f"-I{ROOT}/platforms/{BOARDS.get(name, 'qemu-svm')}"
        command = [*compiler, *COMMON, board, "-Wno-unused-command-line-argument", "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True, timeout=LIMIT_SECONDS)
    return target


def wrong_with(program: str, compiler: tuple[str, ...], folder: Path, spoilt: dict[str, Path] | None = None) -> str:
    """What the program says if it fails; `spoilt`: files that others stand in for."""
    sources = [*PARTS.get(program, [*SUBJECTS, *SUPPORT]), PROGRAMS[program]]
    objects = [str(compiled((spoilt or {}).get(one, ROOT / one), one, compiler, folder)) for one in sources]
    subprocess.run([*compiler, *objects, "-pthread", "-o", str(folder / program)], check=True, timeout=LIMIT_SECONDS)
    command = [str(folder / program), *ARGUMENTS.get(program, [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    return f"{program}: {done.stderr or done.returncode}" if done.returncode else ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_unit_tests_pass(compiler: tuple[str, ...], tmp_path: Path) -> None:
    wrong = [said for program in PROGRAMS if (said := wrong_with(program, compiler, tmp_path))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_a_wrong_word_is_noticed_by_the_second_compiler(tmp_path: Path) -> None:
    """As if it had been compiled into another one: the access flag of ARM's leaves is missing."""
    mistake = next(one for one in MUTATIONS if one.what == "ARM: no access flag")
    (tmp_path / "spoilt.c").write_text(mistake.text())
    assert wrong_with(mistake.caught_by, GCC, tmp_path, {mistake.file: tmp_path / "spoilt.c"})
