# SPDX-License-Identifier: Apache-2.0
"""`bulkhead explain` has a word for every code there is, and the tables it reads as text are those the rest of the tool and the monitor use."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool import abi, paths
from bhtool.codes import contract, header, properties, reasons, rules
from bhtool.codes.catalogue import catalogue, find, has_more, similar
from bhtool.codes.reference import render
from bhtool.codes.whys import WHYS
from bhtool.config import channels
from bhtool.config import properties as facts_of
from bhtool.config.rules import RULES
from bhtool.errors import Status
from bhtool.machine.memory import REASONS
from bhtool.terminal.status import STYLES

ENUMS = ["bh_exit_reason", "bh_state", "bh_call", "bh_result"]
TABLES = {
    "bh_exit_reason": reasons.entries,
    "bh_state": contract.states,
    "bh_call": contract.calls,
    "bh_result": contract.results,
}
LIGHT = "import sys; import bhtool.cli; from bhtool.verbs import explain; explain.catalogue(); print(*sys.modules)"


@pytest.mark.parametrize("enum", ENUMS)
def test_the_header_read_as_text_is_what_the_compiler_reads(enum: str) -> None:
    assert {value: name for name, value in header.enumerators(enum).items()} == abi.enumerators(enum)


@pytest.mark.parametrize("enum", ENUMS)
def test_every_enumerator_is_explained(enum: str) -> None:
    found = {one.number: one.aliases for one in TABLES[enum]()}
    wanted = {value: name for value, name in abi.enumerators(enum).items() if name != reasons.COUNT}
    assert found.keys() == wanted.keys()
    for value, name in wanted.items():
        assert name in found[value]


def test_every_word_of_a_crash_record_is_explained() -> None:
    assert list(reasons.BY_NAME) == list(REASONS.values())


def test_rules_read_as_text_are_the_rules() -> None:
    assert rules.literal_rules() == [(rule.id, rule.holds, rule.remedy) for rule in RULES]
    assert WHYS.keys() <= {rule.id for rule in RULES}


def test_every_state_that_run_shows_is_explained() -> None:
    assert {one.name for one in contract.all_states()} == set(STYLES)


def test_a_rule_that_is_gone_is_not_used_again() -> None:
    assert not {one.name for one in rules.RETIRED} & {rule.id for rule in RULES}


def test_every_status_is_explained() -> None:
    assert {one.number for one in contract.statuses()} == set(Status)


def test_every_invariant_is_explained() -> None:
    wanted = re.findall(r"^\| (BH-I\S+) \|", (paths.ROOT / "docs" / "invariants.md").read_text(), re.MULTILINE)
    assert [one.name for one in catalogue() if one.kind == "invariant"] == wanted


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("BH-R047", ["BH-R047"]),
        ("R047", ["BH-R047"]),
        ("r047:", ["BH-R047"]),
        ("W020", ["BH-W020"]),
        ("bh-i1.memory", ["BH-I1.memory"]),
        ("memory", ["memory"]),
        ("BH_EXIT_MEMORY", ["memory"]),
        ("-2", ["DENIED"]),
        ("0xfffffffe", ["DENIED"]),
        ("0xfffffffffffffffe", ["DENIED"]),
        ("bh_e_denied", ["DENIED"]),
        ("0xc6000003", ["KICK"]),
        ("3321888771", ["KICK"]),
        ("0x86000003", ["KICK"]),
        ("PARKED", ["parked"]),
        ("panicked", ["panicked"]),
        ("BH-R057", ["BH-R057"]),
        ("READY", ["ready", "READY"]),
        ("kick", ["kick", "KICK"]),
        ("3", ["port", "parked", "status 3"]),
        ("status 3", ["status 3"]),
        ("deadline-us", ["deadline-us"]),
        ("deadline_us", ["deadline-us"]),
        ("channel", ["channel"]),
        ("bulkhead,channel-v1", ["channel"]),
        ("vcpu", ["VCPU"]),
        ("mailbox", ["mailbox"]),
        ("latest value", ["latest"]),
        ("memory-region", ["memory-region"]),
        ("health", ["health", "health"]),  # a property of a sandbox, and the node that it is
        ("R999", []),
        ("", []),
        ("0x", []),
    ],
)
def test_a_code_is_found_in_every_form(code: str, names: list[str]) -> None:
    assert [one.name for one in find(code)] == names


def test_every_property_is_explained() -> None:
    """Each kind of node has its table in the page, and nothing of a row is lost."""
    facts = (facts_of.DOMAINS, facts_of.SANDBOX, facts_of.HEALTH, facts_of.VCPU, facts_of.CHANNEL, facts_of.REGION)
    assert [one.name for one in properties.entries() if one.kind == "node of a partition file"] == [
        one.name for one in properties.KINDS.values()
    ]
    for kind, known in zip(properties.KINDS.values(), facts, strict=True):
        found = {one.name: one for one in properties.entries() if one.kind == f"property of {kind.of}"}
        assert found.keys() == known.keys()
        for name, fact in known.items():
            assert f"Form: {fact.form}." in found[name].means
            assert "Required." in found[name].means or f"Default: {fact.default}." in found[name].means
            assert found[name].example == fact.example
            assert bool(found[name].remedies) == bool(fact.rules)
    assert [one.name for one in properties.entries() if one.kind == "kind of a channel"] == list(channels.KINDS)


def test_a_node_names_its_properties() -> None:
    (channel,) = find("channel")
    assert "`deadline-us`" in channel.means
    assert channel.means.endswith("Required: `from` and `to`.")


@pytest.mark.parametrize(
    ("code", "meant"),
    [("deadline-ms", "deadline-us"), ("memroy", "memory"), ("PRAKED", "parked"), ("denide", "DENIED"), ("BH-R74", "BH-R074"[:4])],
)
def test_what_was_meant_is_suggested(code: str, meant: str) -> None:
    assert any(name.startswith(meant) for name in similar(code))


def test_the_page_is_current() -> None:
    current = (paths.ROOT / "docs" / "codes.md").read_text()
    assert current == render(), "make it anew: python -m bhtool.codes.reference > ../docs/codes.md, from tools/"


def test_it_needs_neither_compiler_nor_libfdt() -> None:
    """So it answers on a fresh clone, where neither is installed yet."""
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(paths.ROOT / "tools")}
    )
    assert not {"bhtool.abi", "libfdt", "cffi"} & set(done.stdout.split())


@pytest.mark.parametrize("code", [["BH-R063"], ["-2"], ["status", "3"], ["memory", "hang"]])
def test_it_says_what_to_do(inside: Callable[..., int], capsys: pytest.CaptureFixture[str], code: list[str]) -> None:
    assert inside("explain", *code) == Status.GOOD
    shown = capsys.readouterr().out
    assert shown.strip()
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_without_a_code_everything_is_listed(inside: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert inside("explain") == Status.GOOD
    shown = capsys.readouterr().out
    assert all(one.name in shown for one in catalogue())
    kinds = shown.splitlines()[0]
    assert kinds.startswith("Codes there are: ")
    assert all(one.kind in kinds for one in catalogue())


@pytest.mark.parametrize(("code", "hint"), [("memroy", "did you mean memory"), ("R999", "BH-R001 to"), ("\x1b[31mx", "without a code")])
def test_an_unknown_code_is_refused_with_a_hint(
    inside: Callable[..., int], capsys: pytest.CaptureFixture[str], code: str, hint: str
) -> None:
    assert inside("explain", code) == Status.FAILED
    said = capsys.readouterr().err
    assert hint in said.replace("\n", " ")
    assert "\x1b" not in said


def test_check_points_to_it_once(inside: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """For rules of which there is more to say, each named once."""
    broken = (
        (paths.PARTITIONS / "native.dts")
        .read_text()
        .replace("cores = <&cpu1>", "cores = <&cpu0>")
        .replace("cores = <&cpu2>", "cores = <&cpu0>")
    )
    (tmp_path / "broken.dts").write_text(broken)
    assert inside("check", str(tmp_path / "broken.dts")) == Status.FAILED
    said = capsys.readouterr().err
    assert said.count("BH-R021:") == 2
    assert said.count("tools/bulkhead explain BH-R021") == 1
    assert has_more("BH-R021")
