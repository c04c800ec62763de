# SPDX-License-Identifier: Apache-2.0
"""A copy of the source tree to break, with what has been built of it already: only what a mistake touches is compiled again."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bhtool.image.build import build_platform
from bhtool.platforms import load

from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.mutation import ROOT
from tests.mutation.one_case import ENDED

REGENERATE = re.compile(r"^ command = \S+ --internal regenerate .*$", re.MULTILINE)


def sources() -> list[str]:
    """Every file of the project, committed or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]


def copy_sources(copy: Path) -> None:
    """With their times, by which Ninja knows what is up to date."""
    for name in sources():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    budget = copy / "arch" / "resident_budget.lds"  # a mistake may make a monitor larger than it should be
    budget.write_text(re.sub(r"\d+;", "16384;", budget.read_text()))


def copy_build(built: Path, copy: Path) -> None:
    """A build directory whose rules mean the copy. Meson is not to be asked there: it would remember where it was set up."""
    target = copy / built.relative_to(ROOT)
    shutil.copytree(built, target, copy_function=shutil.copy2)
    rules = target / "build.ninja"
    rules.write_text(REGENERATE.sub(" command = false", rules.read_text().replace(f"{ROOT}/", f"{copy}/")))


@dataclass
class Tree:
    """The copy, and the process in it that tries cases there."""

    path: Path
    cases: subprocess.Popen[str]
    built: set[Path] = field(default_factory=set)

    def run_case(self, platform: str, case: str) -> tuple[int, str]:
        """Builds what is out of date and runs the case: its status, and what it said."""
        self.adopt(platform)
        assert self.cases.stdin is not None
        assert self.cases.stdout is not None
        print(platform, case, file=self.cases.stdin, flush=True)
        said: list[str] = []
        for line in self.cases.stdout:
            if line.startswith(ENDED):
                return int(line.removeprefix(ENDED)), "".join(said)
            said.append(line)
        return self.cases.wait(), "".join(said)

    def adopt(self, platform: str) -> None:
        """Takes over what has been built for the platform, once, and before a mistake: what is built later would be newer than the mistake."""
        build = load(platform).build
        if build not in self.built:
            self.built.add(build)
            build_platform(load(platform), lambda _: None)
            copy_build(build, self.path)

    @contextmanager
    def with_mistake(self, mutation: MachineMutation) -> Iterator[None]:
        self.adopt(mutation.platform)
        sound: dict[Path, str] = {}
        try:
            for one in (mutation, *mutation.beside):
                file = self.path / one.file
                sound.setdefault(file, file.read_text())
                file.write_text(one.text(self.path))
            yield
        finally:
            for file, text in sound.items():
                file.write_text(text)


@contextmanager
def broken_tree(copy: Path) -> Iterator[Tree]:
    copy_sources(copy)
    environment = os.environ | {"PYTHONPATH": f"{copy}:{copy / 'tools'}"}
    environment.pop("PYTHONPYCACHEPREFIX", None)  # what is compiled of the copy goes with it
    command = [sys.executable, "-m", "tests.mutation.one_case"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=copy, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as cases:
        yield Tree(copy, cases)
