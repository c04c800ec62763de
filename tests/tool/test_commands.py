# SPDX-License-Identifier: Apache-2.0
"""What the command says of itself: help, before anything is installed too, versions, completion."""

import os
import subprocess
import sys

import pytest
from bhtool import VERSION, launch, paths
from bhtool.commands import help_of, render
from bhtool.errors import Status
from bhtool.verbs import COMPLETE, EXAMPLES, VERBS
from bhtool.versions import version_text

LAUNCHER = paths.ROOT / "tools" / "bulkhead"


def bulkhead(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, LAUNCHER, *arguments], capture_output=True, text=True, timeout=300, check=True, env=os.environ | environment
    )
    return done.stdout


def test_the_page_is_what_the_tool_says() -> None:
    assert paths.COMMANDS.read_text(encoding="utf-8") == render(), (
        "make it anew: python -m bhtool.commands > ../docs/commands.md, from tools/"
    )


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_without_an_environment(verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The same text, and nothing is installed or made for it."""

    def refuse(*_: object) -> None:
        raise AssertionError("something would be installed")

    monkeypatch.setattr(launch, "venv_ready", lambda: False)
    for name in ("ensure_packages", "ensure_venv", "setup", "become_tool"):
        monkeypatch.setattr(launch, name, refuse)
    with pytest.raises(SystemExit) as ended:
        launch.launch([verb, "--help"] if verb else [])
    assert ended.value.code == Status.GOOD
    assert capsys.readouterr().out.strip() == help_of(verb).strip()


def test_every_verb_has_an_example() -> None:
    assert set(EXAMPLES) == {"", *VERBS}
    for verb, lines in EXAMPLES.items():
        assert lines
        assert all(line.split()[0] == verb for line in lines if verb)
        assert {word for line in lines for word in line.split() if word.endswith(".dts")} <= {"mine/partition.dts"}, (
            "packages have no other"
        )


def test_the_version_is_that_of_the_build() -> None:
    assert bulkhead("--version") == version_text() + "\n"
    assert f"version: '{VERSION}'" in (paths.ROOT / "meson.build").read_text(encoding="utf-8")


def test_a_shell_is_told_how_a_line_goes_on() -> None:
    words = {"COMP_WORDS": "tools/bulkhead\nrun\n--platform\nqemu-a", "COMP_CWORD": "3", COMPLETE: "bash_complete"}
    assert bulkhead(**words).split() == ["plain,qemu-aarch64", "plain,qemu-aarch64-gicv2", "plain,qemu-armv7"]
    assert f"{COMPLETE}=bash_complete" in bulkhead("completion", "bash")
