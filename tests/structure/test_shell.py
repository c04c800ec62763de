# SPDX-License-Identifier: Apache-2.0
"""Every command of the sandbox kernel has its line of `help`, and its row in docs/guest.md; none of these is of a command that there is not."""

import re

from tests.structure.test_layers import ROOT

COMMANDS = re.compile(r'^\t\{ "([a-z-]+)", \d+, run_\w+ \},$', re.MULTILINE)
LINES = re.compile(r'^\t\{ "([a-z-]+)", "', re.MULTILINE)
NAMED = re.compile(r"`([a-z-]+)(?:=[^`]*)?`")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table() -> str:
    """The rows of the entry contract's last table."""
    section = read("docs/guest.md").partition("## The kernel that comes with it")[2]
    return "".join(f"{line.split('|')[1]}\n" for line in section.splitlines() if line.startswith("| `"))


def test_every_command_has_a_line_of_help() -> None:
    commands = COMMANDS.findall(read("kernel/core/commands.c"))
    assert len(commands) > 25
    assert sorted(LINES.findall(read("kernel/core/shell_help.c"))) == sorted(commands)


def test_every_command_has_a_row() -> None:
    assert sorted(set(NAMED.findall(table()))) == sorted(COMMANDS.findall(read("kernel/core/commands.c")))
