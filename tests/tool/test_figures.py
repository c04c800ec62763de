# SPDX-License-Identifier: Apache-2.0
"""`bulkhead figures`: documents say what the stored results say."""

from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.bench.result import Result, Row
from bhtool.documents.figures import COLUMNS, DOCUMENTS, Figures, outdated, rewritten
from bhtool.documents.results import Stored, store, stored
from bhtool.errors import BulkheadError

ROWS = [Row.of("one", "instructions", [1234]).at_most(2000), Row.of("many", "exits", [7, 5])]
DOCUMENT = Result("boot", "qemu-svm", ROWS).as_dict() | {"commit": "abc"}
TEMPLATE = '<!-- figures\n| x | {{ figure("boot", "qemu-svm", "%s") }} |\n-->\n%s<!-- /figures -->\n'


def figures() -> Figures:
    return Figures(Stored("boot", platform, DOCUMENT) for platform in COLUMNS)


def test_documents_say_what_the_results_say() -> None:
    differ = [path.name for path in outdated(DOCUMENTS, Figures(stored()))]
    assert not differ, f"{differ} differ from docs/results: run `tools/bulkhead figures`"


def test_every_template_is_closed() -> None:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        assert text.count("<!-- figures\n") == text.count("<!-- /figures -->"), path


def test_a_figure_that_differs_is_rewritten_and_nothing_else() -> None:
    old = "before\n" + TEMPLATE % ("one", "| x | 99 |\n") + "after\n"
    new = "before\n" + TEMPLATE % ("one", "| x | 1,234 |\n") + "after\n"
    assert rewritten(old, figures()) == new
    assert rewritten(new, figures()) == new


def test_an_outdated_document_is_found(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(TEMPLATE % ("many", "| x | 5 to 7 |\n"))
    bad.write_text(TEMPLATE % ("many", "| x | 5 to 8 |\n"))
    assert list(outdated([good, bad], figures())) == [bad]


def test_what_was_not_measured_is_named() -> None:
    with pytest.raises(BulkheadError, match="no row `other`; there are `one`, `many`"):
        figures().figure("boot", "qemu-svm", "other")
    with pytest.raises(BulkheadError, match="bench timer --platform qemu-svm --store"):
        figures().figure("timer", "qemu-svm", "one")


def test_a_row_beside_what_it_is_compared_with() -> None:
    """Its greatest sample counts."""
    row = replace(Row.of("many", "ns", [700, 998]).at_most(1000), reference=1000)
    compared = Figures(Stored("boot", platform, Result("boot", platform, [row]).as_dict()) for platform in COLUMNS)
    assert compared.reference("boot", "qemu-svm", "many") == "1,000"
    assert compared.shares("boot", "many", vmx="-") == "0.998 | 0.998 | 0.998 | 0.998 | -"
    with pytest.raises(BulkheadError, match="`one` of `boot` on qemu-svm is compared with nothing; measure it anew"):
        figures().reference("boot", "qemu-svm", "one")
    late = Figures([Stored("boot", name, Result("boot", name, [replace(row, max=1001, met=False)]).as_dict()) for name in COLUMNS])
    assert late.shares("boot", "many").startswith("1.001: missed | ")


def test_a_row_over_all_platforms_and_a_whole_table() -> None:
    assert figures().cells("boot", "one", vmx="cannot be had") == "1,234 | 1,234 | 1,234 | 1,234 | cannot be had"
    table = figures().table("boot").splitlines()
    assert table[2] == "| one | 1,234 | 1,234 | 1,234 | 1,234 | 1,234 | at most 2000 |"
    assert table[3] == "| many | 5 to 7 | 5 to 7 | 5 to 7 | 5 to 7 | 5 to 7 |  |"


def test_the_worst_sample_the_median_and_a_missed_target() -> None:
    slow = Row.of("slow", "instructions", [3, 9, 400]).at_most(300)
    missed = Figures(Stored("storm", platform, Result("storm", platform, [slow]).as_dict()) for platform in COLUMNS)
    assert missed.greatest("storm", "slow", vmx="-") == "400: missed | 400: missed | 400: missed | 400: missed | -"
    assert missed.figure("storm", "qemu-svm", "slow") == "3 to 400: missed"
    assert missed.ends("storm", "qemu-svm", "slow") == "3 | 9 | 400"


def test_kinds_are_told_from_their_total_and_from_others() -> None:
    rows = [
        Row.of(name, "exits", [count])
        for name, count in (("boots: avoidable", 5), ("boots: port", 3), ("boots: device", 2), ("load: port", 7))
    ]
    found = Figures(Stored("exits", platform, Result("exits", platform, rows).as_dict()) for platform in COLUMNS)
    assert found.kinds("exits", "boots", "boots: avoidable", vmx="-") == " | ".join(["port 3, device 2"] * 4 + ["-"])
    assert found.kinds("exits", "idle", "") == " | ".join(["none"] * 5)


def test_rows_of_one_name_are_told_by_their_units() -> None:
    rows = [Row.of("load", unit, [count]) for unit, count in (("interrupts", 5), ("processes", 3))]
    found = Stored("exits", "qemu-svm", Result("exits", "qemu-svm", rows).as_dict())
    assert list(found.rows) == ["load, interrupts", "load, processes"]


def test_what_is_stored_comes_back_with_its_commit(tmp_path: Path) -> None:
    store("boot", "qemu-svm", DOCUMENT, tmp_path)
    (tmp_path / "long-test.json").write_text('{"commit": "abc", "failed": []}')  # of no benchmark
    (found,) = stored(tmp_path)
    assert (found.bench, found.platform, found.rows["one"]["max"]) == ("boot", "qemu-svm", 1234)
    assert len(found.document["commit"].split()[0]) == 12


@pytest.mark.parametrize(("counts", "says"), [((28, 1000), "each platform is to have 1,000"), ((1000, 1000), ""), ((), "1,000")])
def test_a_page_says_itself_that_faults_were_few(counts: tuple[int, ...], says: str) -> None:
    found = Figures(Stored("faults", platform, {"faults": count}) for platform, count in zip(COLUMNS, counts, strict=False)).few_faults()
    assert says in found
    assert bool(found) == bool(says)


def test_io_is_a_line_for_each_size_with_shares_of_what_there_is_alone() -> None:
    rows = [
        Row.of("UDP send, 64: alone", "kB/s", [1000]),
        Row.of("UDP send, 64: sandbox", "kB/s", [940]),
        Row.of("UDP send, 64: alone", "instructions", [500]),
        Row.of("UDP send, 64: sandbox", "instructions", [625]),
        Row.of("UDP send: sandbox", "exits", [0]).at_most(0),
    ]
    rows[1] = replace(rows[1], target="median at least 95 % of alone", met=False)
    figures = Figures([Stored("io", "qemu-svm", Result("io", "qemu-svm", rows).as_dict())])
    assert figures.platforms("io") == ["qemu-svm"]
    assert figures.io("qemu-svm").splitlines()[2] == "| UDP send, 64 | 1,000 |  | 940 (94.0 %): missed |  | 500 |  | 625 (80 %) |  | 0 |"
