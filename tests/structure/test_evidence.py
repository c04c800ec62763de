# SPDX-License-Identifier: Apache-2.0
"""Requirements and tests fit: what is claimed has a test that names it, and what must be evidence names something. No test has to run for that."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.evidence import claims as made
from bhtool.evidence.claims import Claim
from bhtool.evidence.page import invariants
from bhtool.evidence.requirements import Catalogue, load
from bhtool.evidence.static import MUST_CLAIM, complaints

from tests.claims import CLAIMS
from tests.structure.test_layers import ROOT, tracked

ID = re.compile(r"BH-I\d(?:\.[a-z]+)?")
CODE = ["abi", "arch", "hal", "monitor", "tools"]
CATALOGUE = load()
pytestmark = pytest.mark.xdist_group("evidence")  # one worker collects
INVARIANTS = [id for id in CATALOGUE.requirements if id.startswith("BH-I")]


@pytest.fixture(scope="module")
def claims(request: pytest.FixtureRequest) -> list[Claim]:
    """This run has collected all of them, or they are collected once more, by themselves."""
    here = request.config.stash[CLAIMS]
    folders = {claim.test.split("/")[1] for claim in here}
    whole = folders >= {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("test_*.py"))} and not request.config.getoption(
        "keyword"
    )
    return [*made.in_c(), *(here if whole and not any("::" in one for one in request.config.args) else made.collected())]


def used(folders: list[str]) -> dict[str, set[Path]]:
    found: dict[str, set[Path]] = {}
    for path in tracked(*folders):
        if path.suffix in {".c", ".h", ".S", ".py", ".lds", ".yaml"}:
            for name in ID.findall(path.read_text()):
                found.setdefault(name, set()).add(path)
    return found


@pytest.mark.parametrize("name", INVARIANTS)
def test_invariant_is_enforced(name: str) -> None:
    assert name in used(CODE), f"{name}: no code carries it"


def test_no_other_invariant_is_named_in_code() -> None:
    named = {name: sorted(map(str, paths)) for name, paths in used(CODE).items() if "." in name and name not in INVARIANTS}
    assert not named, named


def test_the_page_is_made_from_the_table() -> None:
    page = (ROOT / "docs" / "invariants.md").read_text()
    assert page == invariants(CATALOGUE), "make it anew: python -m bhtool.evidence.page > ../docs/invariants.md, from tools/"


def test_requirements_and_tests_fit(claims: list[Claim]) -> None:
    found = complaints(CATALOGUE, claims)
    assert not found, "\n".join(found)


def test_every_folder_of_tests_is_looked_at(claims: list[Claim]) -> None:
    folders = {claim.test.split("/")[1].split("::")[0] for claim in claims}
    assert folders == {*MUST_CLAIM, "structure", "tool"}, "decide whether tests of a new folder must be evidence: bhtool/evidence/static.py"


def without(claims: list[Claim], name: str) -> list[Claim]:
    return [replace(claim, requirements=tuple(one for one in claim.requirements if one != name)) for claim in claims]


@pytest.mark.parametrize("name", ["BH-I1.ipi", "BH-F2.notice", "BH-R021", "BH-I8.bounded"])
def test_a_requirement_without_a_test_is_noticed(claims: list[Claim], name: str) -> None:
    said = complaints(CATALOGUE, without(claims, name))
    assert f"{name}: no test shows it on {CATALOGUE.requirements[name].platforms[0]}" in said


def test_a_requirement_without_a_test_on_one_platform_is_noticed(claims: list[Claim]) -> None:
    elsewhere = [claim for claim in claims if claim.place != "bochs-vtx"]
    assert "BH-I4.kick: no test shows it on bochs-vtx" in complaints(CATALOGUE, elsewhere)


def test_a_requirement_of_long_tests_alone_is_noticed(claims: list[Claim]) -> None:
    late = [replace(claim, long=True) if "BH-I1.port" in claim.requirements else claim for claim in claims]
    assert "BH-I1.port: only long tests show it on qemu-svm" in complaints(CATALOGUE, late)


@pytest.mark.parametrize("folder", ["config", "emulated", "image", "mutation", "oracle"])
def test_a_test_that_shows_nothing_is_noticed(claims: list[Claim], folder: str) -> None:
    one = Claim(f"tests/{folder}/test_new.py::test_new", ())
    assert complaints(CATALOGUE, [*claims, one]) == [f"{one.test} shows no requirement"]


def test_a_name_that_is_no_requirement_is_noticed(claims: list[Claim]) -> None:
    one = Claim("tests/tool/test_new.py::test_new", ("BH-I1.telepathy",))
    assert complaints(CATALOGUE, [*claims, one]) == [f"{one.test} shows BH-I1.telepathy, which is no requirement"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"document": "benchmarks.md#no-such-heading"}, "docs/benchmarks.md has no heading no-such-heading"),
        ({"document": ""}, "its analysis has no document, none"),
        ({"parent": "BH-P9"}, "BH-P9 is no parent"),
        ({"method": "test", "tests": ("tests/none::*",)}, "no test shows it on host"),
    ],
    ids=["heading", "document", "parent", "pattern"],
)
def test_an_analysis_without_a_place_is_noticed(claims: list[Claim], change: dict[str, object], says: str) -> None:
    broken = replace(CATALOGUE.requirements["BH-P4.timer"], **change)  # type: ignore[arg-type]
    catalogue = Catalogue(CATALOGUE.parents, {**CATALOGUE.requirements, broken.id: broken})
    assert f"{broken.id}: {says}" in complaints(catalogue, claims)
