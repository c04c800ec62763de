# SPDX-License-Identifier: Apache-2.0
"""Lines of source, by the backends they belong to."""

from pathlib import Path

import pytest
from bhtool import paths
from bhtool.documents.lines import Lines, above_hal, belongs, split


def source(folder: Path, name: str, lines: int) -> Path:
    file = folder / name
    file.write_text("/* what\n * it is */\n\n" + "int x; /* why */\n" * lines)
    return file


def test_lines_are_split_by_who_has_them(tmp_path: Path) -> None:
    own, some, common = source(tmp_path, "own.c", 1), source(tmp_path, "some.c", 20), source(tmp_path, "common.c", 300)
    sources = {"one": frozenset({own, some, common}), "two": frozenset({some, common}), "three": frozenset({common})}
    assert split(sources) == {"one": Lines(1, 20, 300), "two": Lines(0, 20, 300), "three": Lines(0, 0, 300)}
    assert split(sources)["one"].together == 321
    assert split({"two": sources["two"]}) == {"two": Lines(320, 0, 0)}, "alone it shares nothing"
    assert split({"one": sources["one"], "two": sources["two"]})["one"] == Lines(1, 0, 320)


def test_of_two_vendors_in_one_image_each_has_its_own() -> None:
    assert belongs(Path("hal/x86/svm/svm.c"), "svm")
    assert not belongs(Path("hal/x86/svm/svm.c"), "vmx")
    assert belongs(Path("hal/x86/core.c"), "vmx")
    assert not belongs(Path("kernel/core/main.c"), "vmx")


@pytest.mark.parametrize(
    "line",
    [
        "/* as VT-x wants it */",
        "\tcore->vmcb = 0;",
        "x = HCR_EL2;",
        "/* on ARM */",
        "GICD_CTLR;",
        "enum { BAR_WIDE = 4 };",
        "mask = function->bar_mask[n];",
    ],
)
def test_a_vendor_above_hal_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    (tmp_path / "monitor").mkdir()
    (tmp_path / "monitor" / "run.c").write_text(f"int armed; /* BH_REGION_BAR */\n{line}\narch_barrier();\n")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert above_hal() == (3, [f"monitor/run.c:2: {line.strip()}"])
