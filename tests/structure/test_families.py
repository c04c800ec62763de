# SPDX-License-Identifier: Apache-2.0
"""A CPU family is a row of meson.build and the folders that it names: no other build file of the machines asks for one, or against one."""

import re

import pytest
from bhtool.families.table import FAMILIES

from tests.structure.test_layers import ROOT, tracked

ROW = re.compile(r"^  '(\w+)': \{\n((?:    .*\n)+)  \},$", re.MULTILINE)
FIELD = re.compile(r"^    '(\w+)': (.*),$", re.MULTILINE)
SHARED = {"arch": set[str](), "hal": {"iommu", "pci", "pt"}}  # what is no family's
HOST = ROOT / "tests" / "meson.build"  # unit tests take their sources from every family

Families = dict[str, dict[str, list[str]]]


def families() -> Families:
    """The rows, by the build system's name for the processor: every field as the words in it."""
    text = (ROOT / "meson.build").read_text()
    return {name: {field: re.findall(r"'([^']+)'", value) for field, value in FIELD.findall(row)} for name, row in ROW.findall(text)}


def folders(family: dict[str, list[str]]) -> list[str]:
    return [f"arch/{family['arch'][0]}", f"hal/{family['hal'][0]}", *(f"kernel/arch/{one}" for one in family["kernel"])]


def questions(text: str, known: Families) -> list[str]:
    """Families named by a build file."""
    names = {name for key, family in known.items() for name in (key, *family["name"], *family["arch"], *family["hal"])}
    return [word for line in text.splitlines() for word in re.findall(r"'([^']+)'", line.split("#")[0]) if word in names]


def test_rows_are_read() -> None:
    found = families()
    assert {family["name"][0] for family in found.values()} == set(FAMILIES), "the tool has a row for each"
    assert len({frozenset(family) for family in found.values()}) == 1, "every row has the same fields"


@pytest.mark.parametrize("name", families())
def test_what_a_row_names_is_there(name: str) -> None:
    family = families()[name]
    files = [f"{folder}/meson.build" for folder in folders(family)]
    files += [f"arch/{family['arch'][0]}/monitor.lds", *(f"kernel/arch/{one}/kernel.lds" for one in family["kernel"][:1])]
    files += [f"hal/pt/formats_{family['formats'][0]}_boot.c", f"tools/cross/{family['name'][0]}.ini"]
    files += [f"hal/{family['hal'][0]}/{vendor}/meson.build" for vendor in family["vendors"]]
    assert not [file for file in files if not (ROOT / file).is_file()]


@pytest.mark.parametrize("layer", SHARED)
def test_every_folder_is_a_familys_or_shared(layer: str) -> None:
    there = {path.relative_to(ROOT / layer).parts[0] for path in tracked(layer) if path.parent != ROOT / layer}
    assert there - SHARED[layer] == {name for family in families().values() for name in family[layer]}


def test_no_other_build_file_names_a_family() -> None:
    known = families()
    own = {ROOT / folder for family in known.values() for folder in folders(family)}
    shared = [path for path in tracked() if path.name == "meson.build" and path not in {ROOT / "meson.build", HOST}]
    shared = [path for path in shared if own.isdisjoint(path.parents)]
    asked = {str(path.relative_to(ROOT)): questions(path.read_text(), known) for path in shared}
    assert len(asked) > 5
    assert not {path: words for path, words in asked.items() if words}


@pytest.mark.parametrize("line", ["if arch != 'x86_64'", "subdir('arm')", "address = {'aarch64': 1}[arch]"])
def test_a_question_is_found(line: str) -> None:
    assert questions(f"# SPDX\n{line}\n", families())
    assert not questions("# not 'arm'\nsubdir('pt')\n", families())
