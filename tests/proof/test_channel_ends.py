# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages. The ends of a channel by CBMC, for every content of what others write (channel_proof.c); and without one of their checks, which it has to notice."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.paths import ROOT
from bhtool.provision.cbmc import command, ensure_cbmc

from tests.emulated.scene import silent
from tests.mutation.mutation import Mutation
from tests.touched import inputs

LIMIT_SECONDS = 1800
HEADERS = [f"abi/{name}.h" for name in ("channel", "channel_bytes", "channel_end", "channel_inline", "guest")]
KINDS, ENDS = "abi/channel_inline.h", "abi/channel_end.h"
ATTACHING = 300  # bytes of struct bh_end, which bh_end_attach clears one by one
OPTIONS = ("--unwinding-assertions", "--slice-formula", "--bounds-check", "--pointer-check")


@dataclass(frozen=True)
class Proof:
    operation: str
    kind: str = ""
    slots: int = 0
    side: int = 0

    @property
    def name(self) -> str:
        return f"{self.operation}-{self.kind}-{self.slots}-{self.side}" if self.kind else self.operation

    @property
    def defines(self) -> list[str]:
        channel = [f"-DKIND=BH_CHANNEL_{self.kind}", f"-DSLOTS={self.slots}", f"-DSIDE={self.side}"] if self.kind else []
        return ["-D__CPROVER__", f"-D{self.operation}", *channel]


ATTACH = Proof("ATTACH")
PEEK, RECEIVE = Proof("PEEK", "RING", 4, 1), Proof("RECEIVE", "MAILBOX", 1, 0)
WRITE, READ = Proof("WRITE", "LATEST", 4, 0), Proof("READ", "LATEST", 6, 1)
PROOFS = (
    ATTACH,
    *(Proof(one, "RING", 4, 0) for one in ("RESERVE", "COMMIT", "SEND", "PUBLISH")),
    PEEK,
    Proof("RELEASE", "RING", 4, 1),
    *(Proof("MAIL", "MAILBOX", 1, side) for side in (0, 1)),
    *(Proof("RECEIVE", "MAILBOX", 1, side) for side in (0, 1)),
    WRITE,
    Proof("WRITE", "LATEST", 6, 0),
    Proof("READ", "LATEST", 4, 1),
    READ,
)
MISTAKES = (
    (ATTACH, Mutation("any size", ENDS, "if (page_offset != area[0] || bytes != area[0] + BH_PAGE_BYTES + area[1])", "if (page_offset != area[0])", "")),
    (ATTACH, Mutation("a page beyond the end", ENDS, " || page_offset > bytes - BH_PAGE_BYTES)", ")", "")),
    (ATTACH, Mutation("a latest value for any number", ENDS, " && slots <= bh_latest_slots(BH_CHANNEL_MOST_READERS);", ";", "")),
    (PEEK, Mutation("any message is plain", KINDS, "(found.length >= plain_end) | ", "", "")),
    (PEEK, Mutation("any length", ENDS, "message->length <= end->slot_bytes && ", "", "")),
    (PEEK, Mutation("slots without end", KINDS, "(size_t)(taken & mask) * stride);", "(size_t)taken * stride);", "")),
    (RECEIVE, Mutation("longer than the buffer", KINDS, "if (found.length > capacity) return BH_END_SIZE; bh_copy_from_slot", "bh_copy_from_slot", "")),
    (WRITE, Mutation("any pair is written", KINDS, "reading[0], __ATOMIC_SEQ_CST) & 1) ^ 1;", "reading[0], __ATOMIC_SEQ_CST)) ^ 1;", "")),
    (WRITE, Mutation("longer than a slot", KINDS, "if (length > end->slot_bytes) return BH_END_SIZE; pair", "pair", "")),
    (READ, Mutation("any pair is read", KINDS, "if (pair > end->readers) return bh_end_refuse(end, BH_END_BROKEN);", "", "")),
    (READ, Mutation("any slot is read", KINDS, "(__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST) & 1));", "__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST));", "")),
    (READ, Mutation("longer than a slot", KINDS, "if (valid && found.length <= capacity)", "if (found.length <= capacity)", "")),
    (READ, Mutation("longer than the buffer", KINDS, "if (valid && found.length <= capacity)", "if (valid)", "")),
)  # fmt: skip
MARKS = inputs([*HEADERS, "tests/proof/channel_proof.c"], [__file__])
ROWS = [pytest.param(one, id=one.name, marks=MARKS) for one in PROOFS]
WRONG = [pytest.param(proof, mistake, id=f"{proof.name}-{mistake.what}", marks=MARKS) for proof, mistake in MISTAKES]
pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def _cbmc() -> None:
    try:
        ensure_cbmc(silent)
    except BulkheadError as missing:
        pytest.skip(str(missing))


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command(program), *arguments], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)


def checked(proof: Proof, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """CBMC's verdict: its status is 0 where everything is proved, 10 where something is not. Headers in `folder` come before the shipping ones."""
    made = str(folder / "made.gb")
    done = run("goto-cc", *proof.defines, *more, f"-I{folder}", "-I.", "--function", "prove", "tests/proof/channel_proof.c", "-o", made)
    assert done.returncode == 0, done.stdout + done.stderr
    return run("cbmc", made, "--unwind", "75", "--unwindset", f"bh_end_attach.0:{ATTACHING}", *OPTIONS)


def failures(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.endswith("FAILURE")]


@pytest.mark.parametrize("proof", ROWS)
def test_it_is_so(proof: Proof, tmp_path: Path) -> None:
    done = checked(proof, tmp_path)
    assert done.returncode == 0, "\n".join(failures(done)) or done.stderr


@pytest.mark.parametrize("proof", ROWS)
def test_some_state_reaches_the_end(proof: Proof, tmp_path: Path) -> None:
    """Else assumptions that contradict each other would prove anything."""
    done = checked(proof, tmp_path, "-DNOT_PROVED")
    assert done.returncode == 10
    (failure,) = failures(done)
    assert "the end is reached" in failure


@pytest.mark.parametrize(("proof", "mistake"), WRONG)
def test_a_missing_check_is_noticed(proof: Proof, mistake: Mutation, tmp_path: Path) -> None:
    (tmp_path / "abi").mkdir()
    for header in HEADERS:
        shutil.copy(ROOT / header, tmp_path / header)
    (tmp_path / mistake.file).write_text(mistake.text())
    done = checked(proof, tmp_path)
    assert done.returncode == 10
    assert failures(done)
