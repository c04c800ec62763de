# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. The scheduler's lists, ranks and queues by CBMC: for all states that a harness allows, all values of so many bits at once.

Small values are tried one by one in every run (tests/meson.build); CBMC has larger ones where it comes to an end, and notices an access out of bounds by
itself. Lists of four that are charged, and heaps of more than three, are the host's alone.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.paths import ROOT
from bhtool.provision.cbmc import command, ensure_cbmc

from tests.emulated.scene import silent
from tests.touched import inputs

LIMIT_SECONDS = 1800
OPTIONS = ("--unwinding-assertions", "--slice-formula")
DIVIDES = "use_whole_budgets"  # its division is too much for a solver; the host's run has it


@dataclass(frozen=True)
class Proof:
    subject: str  # tests/proof/SUBJECT_proof.c of kernel/sched/SUBJECT.c
    defines: tuple[str, ...]
    turns: int  # of any loop, at most
    never: str = ""  # a function that must not be reached

    @property
    def name(self) -> str:
        return "-".join((self.subject, *self.defines)).replace("=", "")


def of_list(what: str, count: int, room: int, bits: int, never: str = "") -> Proof:
    return Proof("sporadic", (what, f"COUNT={count}", f"ROOM={room}", f"BITS={bits}"), 10, never)


PROOFS = (
    *(of_list("WAKE", count, room, 4) for room in (2, 3, 4) for count in range(1, room + 1)),
    *(of_list("CHARGE", count, room, 2, DIVIDES) for room in (2, 3) for count in range(1, room + 1)),
    Proof("ranks", ("LEAVES=8", "BITS=16"), 17),
    Proof("heap", ("MOST=3",), 8),
)
ROWS = [
    pytest.param(one, id=one.name, marks=inputs([f"kernel/sched/{one.subject}.c", f"tests/proof/{one.subject}_proof.c"], [__file__]))
    for one in PROOFS
]
pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def _cbmc() -> None:
    try:
        ensure_cbmc(silent)
    except BulkheadError as missing:
        pytest.skip(str(missing))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    program, *arguments = words
    return subprocess.run([*command(program), *arguments], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)


def checked(proof: Proof, folder: Path, *further: str) -> subprocess.CompletedProcess[str]:
    """CBMC's verdict: its status is 0 where everything is proved, 10 where something is not."""
    defines = [f"-D{one}" for one in (*proof.defines, *further)]
    files = [f"tests/proof/{proof.subject}_proof.c", f"kernel/sched/{proof.subject}.c"]
    made = str(folder / "made.gb")
    steps = [["goto-cc", "-D__CPROVER__", *defines, "-I.", "-Itests/proof", "--function", "prove", *files, "-o", made]]
    if proof.never:
        reached = ["--generate-function-body", proof.never, "--generate-function-body-options", "assert-false"]
        steps += [["goto-instrument", "--remove-function-body", proof.never, made, made], ["goto-instrument", *reached, made, made]]
    for step in steps:
        done = run(*step)
        assert done.returncode == 0, done.stdout + done.stderr
    return run("cbmc", made, "--unwind", str(proof.turns), *OPTIONS)


@pytest.mark.parametrize("proof", ROWS)
def test_it_is_so(proof: Proof, tmp_path: Path) -> None:
    done = checked(proof, tmp_path)
    assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if "FAILURE" in line) or done.stderr


@pytest.mark.parametrize("proof", ROWS)
def test_some_state_reaches_the_end(proof: Proof, tmp_path: Path) -> None:
    """Else assumptions that contradict each other would prove anything."""
    done = checked(proof, tmp_path, "NOT_PROVED")
    failures = [line for line in done.stdout.splitlines() if line.endswith("FAILURE")]
    assert done.returncode == 10
    assert len(failures) == 1
    assert "the end is reached" in failures[0]
