# SPDX-License-Identifier: Apache-2.0
"""BH-I9.said. Each line of docs/not-isolated.md has an ID and says how to verify it; a partition file relies on what its machine and its sandboxes have."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.codes.assumptions import DOCUMENT, assumptions, read
from bhtool.codes.catalogue import find
from bhtool.config.assumptions import RELIES, always, relied_on
from bhtool.config.plan import Plan, Translated
from bhtool.platforms import load

SVM, GICV2, GICV3 = "qemu-svm", "qemu-aarch64-gicv2", "qemu-aarch64"
TRANSLATED = Translated("iommu", "")
COLUMNS = 80  # of a line of `check --assumptions`
Compile = Callable[[Path, str], Plan]


def relied(compile_on: Compile, partition: str, platform: str, **changes: object) -> set[str]:
    """By a partition file of the tree; `changes` to its first sandbox."""
    plan = compile_on(paths.PARTITIONS / partition, platform)
    first = replace(plan.sandboxes[0], **changes)  # type: ignore[arg-type]
    return {one.id for one in relied_on(replace(plan, sandboxes=[first, *plan.sandboxes[1:]]), load(platform))}


def test_every_line_is_an_assumption_with_a_way_to_verify_it() -> None:
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("- ")]
    found = assumptions()
    assert [line.removeprefix("- **")[:6] for line in lines] == [one.id for one in found]
    assert len({one.id for one in found}) == len(found)
    assert all(one.verify.endswith(".") for one in found)
    assert all(one.title and len(f"BH-A00      {one.title}") <= COLUMNS for one in found)


def test_each_is_relied_on_by_somebody() -> None:
    assert list(RELIES) == [one.id for one in assumptions()]


@pytest.mark.parametrize("missing", ["*To verify:* look.", "BH-A02: "])
def test_a_line_that_lacks_something_is_noticed(missing: str) -> None:
    text = "- **BH-A01: One.** So it is.\n  *To verify:* look.\n- **BH-A02: Two.** So it is.\n  *To verify:* look.\n"
    assert [one.id for one in read(text)] == ["BH-A01", "BH-A02"]
    at = text.rindex(missing)
    assert [one.id for one in read(text[:at] + text[at + len(missing) :])] == ["BH-A01"]


ROWS = [  # assumption; a partition file that relies on it, its platform, what its first sandbox has besides; one that does not
    ("BH-A01", ("mixed.dts", SVM, {"unprotected": ["msr"]}), ("mixed.dts", SVM, {})),
    ("BH-A03", ("mixed.dts", SVM, {}), ("mixed.dts", GICV3, {})),
    ("BH-A04", ("mixed.dts", GICV3, {}), ("mixed.dts", SVM, {})),
    ("BH-A09", ("restart.dts", SVM, {"functions": [None], "restarts": True}), ("mixed.dts", SVM, {"functions": [None]})),
    ("BH-A29", ("mixed.dts", SVM, {"devices": {"nic0": TRANSLATED}}), ("mixed.dts", SVM, {})),
    ("BH-A30", ("mixed.dts", GICV3, {"devices": {"nic0": TRANSLATED}}), ("mixed.dts", GICV3, {})),
    ("BH-A31", ("mixed.dts", SVM, {}), ("mixed.dts", GICV3, {})),
    ("BH-A11", ("mixed.dts", GICV2, {}), ("mixed.dts", SVM, {})),
    ("BH-A14", ("mixed.dts", GICV3, {"trusted_idle": True}), ("mixed.dts", SVM, {"trusted_idle": True})),
    ("BH-A15", ("mixed.dts", SVM, {"restarts": True}), ("mixed.dts", SVM, {})),
    ("BH-A16", ("mixed.dts", SVM, {"restarts": True}), ("mixed.dts", SVM, {})),
    ("BH-A17", ("mixed.dts", GICV2, {"may_kick": [1]}), ("mixed.dts", GICV3, {"may_kick": [1]})),
    ("BH-A18", ("mixed.dts", GICV2, {"restarts": True, "cores": [0, 3]}), ("mixed.dts", GICV2, {"cores": [0, 3]})),
    ("BH-A21", ("mixed.dts", SVM, {"heartbeat_timeout_us": 5000}), ("mixed.dts", SVM, {})),
    ("BH-A22", ("mixed.dts", SVM, {}), ("mixed.dts", GICV3, {})),
    ("BH-A23", ("mixed.dts", SVM, {"cores": [0, 3]}), ("mixed.dts", SVM, {})),
    ("BH-A24", ("mixed.dts", GICV3, {"may_kick": [0], "cores": [0, 3]}), ("mixed.dts", GICV3, {"may_kick": [1], "cores": [0, 3]})),
    ("BH-A08", ("mixed.dts", SVM, {"functions": [None]}), ("mixed.dts", SVM, {})),
]
OF_A_PC = {"BH-A19", "BH-A25", "BH-A28"}
OF_SEVERAL = {"BH-A02", "BH-A10", "BH-A12", "BH-A26", "BH-A27"}


@pytest.mark.parametrize(("id", "relies", "does_not"), ROWS, ids=[row[0] for row in ROWS])
def test_who_relies_on_it(
    compile_on: Compile, id: str, relies: tuple[str, str, dict[str, object]], does_not: tuple[str, str, dict[str, object]]
) -> None:
    assert id in relied(compile_on, relies[0], relies[1], **relies[2])
    assert id not in relied(compile_on, does_not[0], does_not[1], **does_not[2])


def test_who_relies_on_what_several_share(compile_on: Compile) -> None:
    plan, platform = compile_on(paths.PARTITIONS / "mixed.dts", GICV3), load(GICV3)
    alone = {one.id for one in relied_on(replace(plan, sandboxes=plan.sandboxes[:1]), platform)}
    assert {one.id for one in relied_on(plan, platform)} - alone >= OF_SEVERAL
    assert relied(compile_on, "mixed.dts", SVM) >= OF_A_PC
    assert not relied(compile_on, "mixed.dts", GICV3) & OF_A_PC


def test_every_line_is_looked_at_here() -> None:
    looked_at = {row[0] for row in ROWS} | OF_A_PC | OF_SEVERAL | {id for id, one in RELIES.items() if one is always}
    assert looked_at == set(RELIES)


def test_explain_knows_them() -> None:
    entry = find("bh-a13")[0]
    assert entry.kind == "assumption"
    assert entry.remedies[0].startswith("repeat the tests")
