# SPDX-License-Identifier: Apache-2.0
"""What is wrong before any test has run: a requirement that nothing shows, a test that shows none, a name that nobody has."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from bhtool import paths
from bhtool.evidence.claims import Claim
from bhtool.evidence.requirements import Catalogue, Requirement

MUST_CLAIM = (
    "config",
    "emulated",
    "image",
    "litmus",
    "meson.build",
    "mutation",
    "oracle",
    "proof",
)  # of tests/: each test there is evidence for something
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def named(requirement: Requirement, claims: Iterable[Claim]) -> list[Claim]:
    """The tests that are evidence for it: they name it, or it names them."""
    return [
        claim for claim in claims if requirement.id in claim.requirements or any(fnmatchcase(claim.test, one) for one in requirement.tests)
    ]


def must_claim(claim: Claim) -> bool:
    return re.split(r"[/:]", claim.test)[1] in MUST_CLAIM


def anchors(text: str) -> set[str]:
    """Of a Markdown text's headings, as its readers make them."""
    plain = (re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)) for heading in HEADING.findall(text))
    return {heading.strip().lower().replace(" ", "-") for heading in plain}


def _of_document(one: Requirement) -> Iterator[str]:
    name, _, anchor = one.document.partition("#")
    file = paths.ROOT / "docs" / name
    if not name or not file.is_file():
        yield f"{one.id}: its {one.method} has no document, {one.document or 'none'}"
    elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
        yield f"{one.id}: docs/{name} has no heading {anchor}"


def _of_requirement(one: Requirement, claims: list[Claim]) -> Iterator[str]:
    found = named(one, claims)
    if one.method != "test":
        yield from _of_document(one)
        return
    if one.long and not all(claim.long for claim in found):
        yield f"{one.id}: tests that are not long show it, too: it is not `long`"
    for platform in one.platforms:
        there = [claim for claim in found if claim.place == platform]
        if not there:
            yield f"{one.id}: no test shows it on {platform}"
        elif not one.long and all(claim.long for claim in there):
            yield f"{one.id}: only long tests show it on {platform}"
    for pattern in one.tests:
        if not any(fnmatchcase(claim.test, pattern) for claim in claims):
            yield f"{one.id}: no test is called {pattern}"


def complaints(catalogue: Catalogue, claims: list[Claim]) -> list[str]:
    """Each a sentence; none: everything fits."""
    found = [
        f"{claim.test} shows {id}, which is no requirement"
        for claim in claims
        for id in claim.requirements
        if id not in catalogue.requirements
    ]
    by_name = {id for one in catalogue.requirements.values() for pattern in one.tests for id in _matching(pattern, claims)}
    found += [
        f"{claim.test} shows no requirement"
        for claim in claims
        if must_claim(claim) and not claim.requirements and claim.test not in by_name
    ]
    for one in catalogue.requirements.values():
        if one.parent not in catalogue.parents:
            found.append(f"{one.id}: {one.parent} is no parent")
        found += _of_requirement(one, claims)
    return found + [f"{parent} has no requirement" for parent in catalogue.parents if not catalogue.children(parent)]


def _matching(pattern: str, claims: Iterable[Claim]) -> list[str]:
    return [claim.test for claim in claims if fnmatchcase(claim.test, pattern)]
