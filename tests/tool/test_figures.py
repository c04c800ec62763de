# SPDX-License-Identifier: Apache-2.0
"""`bulkhead figures`: documents say what the stored results say."""

from pathlib import Path

import pytest
from bhtool.bench.result import Result, Row
from bhtool.errors import BulkheadError
from bhtool.figures import COLUMNS, DOCUMENTS, Figures, outdated, rewritten
from bhtool.results import Stored, store, stored

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
    old = "before\n" + TEMPLATE % ("one", "| x | 99 |\n") + "behind\n"
    new = "before\n" + TEMPLATE % ("one", "| x | 1,234 |\n") + "behind\n"
    assert rewritten(old, figures()) == new
    assert rewritten(new, figures()) == new


def test_an_outdated_document_is_found(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(TEMPLATE % ("many", "| x | 5 to 7 |\n"))
    bad.write_text(TEMPLATE % ("many", "| x | 5 to 8 |\n"))
    assert list(outdated([good, bad], figures())) == [bad]


def test_what_was_not_measured_is_named() -> None:
    with pytest.raises(BulkheadError, match="no row `other`; there are: one, many"):
        figures().figure("boot", "qemu-svm", "other")
    with pytest.raises(BulkheadError, match="bench timer --platform qemu-svm --store"):
        figures().figure("timer", "qemu-svm", "one")


def test_a_row_over_all_platforms_and_a_whole_table() -> None:
    assert figures().cells("boot", "one", vmx="cannot be had") == "1,234 | 1,234 | 1,234 | 1,234 | cannot be had"
    table = figures().table("boot").splitlines()
    assert table[2] == "| one | 1,234 | 1,234 | 1,234 | 1,234 | 1,234 | at most 2000 |"
    assert table[3] == "| many | 5 to 7 | 5 to 7 | 5 to 7 | 5 to 7 | 5 to 7 |  |"


def test_what_is_stored_comes_back_with_its_commit(tmp_path: Path) -> None:
    store("boot", "qemu-svm", DOCUMENT, tmp_path)
    (found,) = stored(tmp_path)
    assert (found.bench, found.platform, found.rows["one"]["max"]) == ("boot", "qemu-svm", 1234)
    assert len(found.document["commit"].split()[0]) == 12
