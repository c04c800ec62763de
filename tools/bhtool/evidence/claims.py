# SPDX-License-Identifier: Apache-2.0
"""Which test is evidence for which requirement: what pytest collects says so itself (tests/claims.py), a test in C in its first comment."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from bhtool import paths
from bhtool.children import owned
from bhtool.errors import BulkheadError, Status
from bhtool.image.build import build_host

ID = r"\bBH-(?:[IFPE]\d\.[a-z]+|[RW]\d{3}\b)"
MARK = "evidence"  # pytest's mark
IN_C = "tests/meson.build"
FIRST_COMMENT = re.compile(r"\A(?:/\* SPDX[^\n]*\n|//[^\n]*\n)?\s*/\*(.*?)\*/", re.DOTALL)
HOST = "host"  # the development machine, among platforms
OF_MACHINES = ("tests/emulated/", "tests/image/", "tests/mutation/")
COLLECT_LIMIT_SECONDS = 600


@dataclass(frozen=True)
class Claim:
    test: str  # FILE::NAME
    requirements: tuple[str, ...]
    platform: str | None = None  # None: it runs on the development machine
    long: bool = False  # runs only with `test --long`, or in its share

    @property
    def place(self) -> str:
        """Where it shows something: on a machine, or in what was built for one; a test of the compiler's work for a machine is one of the host."""
        return self.platform if self.platform and self.test.startswith(OF_MACHINES) else HOST


def write(file: Path, claims: Iterable[Claim]) -> None:
    file.write_text(json.dumps([asdict(claim) for claim in claims]) + "\n", encoding="utf-8")


def read(file: Path) -> list[Claim]:
    rows = json.loads(file.read_text(encoding="utf-8"))
    return [Claim(**{**row, "requirements": tuple(row["requirements"])}) for row in rows]


def ids_of_source(text: str) -> tuple[str, ...]:
    """Those of the first comment of a C file, besides its licence."""
    comment = FIRST_COMMENT.match(text)
    return tuple(dict.fromkeys(re.findall(ID, comment[1]))) if comment else ()


def name_in_c(program: str) -> str:
    return f"{IN_C}::{program}"


def in_c() -> list[Claim]:
    """The tests that Meson runs, as it lists them itself (mesonbuild.com, "IDE integration"). A test's source is the first of its program."""
    information = build_host(lambda _: None) / "meson-info"
    tests, targets = (json.loads((information / f"intro-{what}.json").read_text(encoding="utf-8")) for what in ("tests", "targets"))
    sources = {target["id"]: [one for made in target["target_sources"] for one in made.get("sources", ())] for target in targets}
    return [
        Claim(name_in_c(test["name"]), ids_of_source(Path(sources[test["depends"][0]][0]).read_text(encoding="utf-8"))) for test in tests
    ]


def collected() -> list[Claim]:
    """All that pytest finds, long tests included; none of them runs."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "claims.json"
        command = [sys.executable, "-m", "pytest", "-q", "--collect-only", f"--claims={file}", "tests"]
        environment = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")}
        done = subprocess.run(
            owned(command), cwd=paths.ROOT, env=environment, capture_output=True, text=True, timeout=COLLECT_LIMIT_SECONDS, check=False
        )
        if done.returncode or not file.exists():
            raise BulkheadError(f"the tests cannot be collected:\n{done.stdout[-2000:]}{done.stderr[-2000:]}", Status.FAILED)
        return read(file)


def gather() -> list[Claim]:
    """Every test of this project."""
    return [*in_c(), *collected()]
