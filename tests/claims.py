# SPDX-License-Identifier: Apache-2.0
"""What each test is evidence for: requirements of docs/requirements.toml, by their IDs.

The nearest of these counts: marks `evidence` of the test, its parameters or its module; the test's docstring; its module's docstring.
"""

import re
from collections.abc import Iterable

import pytest
from bhtool.evidence.claims import ID, MARK, Claim

CLAIMS = pytest.StashKey[list[Claim]]()  # of the configuration: of all that was collected, whether it runs or not


def evidence(*names: str) -> pytest.MarkDecorator:
    """Marks a test by the requirements that it is evidence for."""
    return getattr(pytest.mark, MARK)(*names)  # type: ignore[no-any-return]


def named_in(text: str | None) -> tuple[str, ...]:
    """IDs of requirements in a text, each once."""
    return tuple(dict.fromkeys(re.findall(ID, text or "")))


def of_marks(marks: Iterable[pytest.Mark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for mark in marks for name in mark.args))


def requirements_of(item: pytest.Item) -> tuple[str, ...]:
    test = getattr(item, "obj", None)
    module = getattr(item, "module", None)
    marked = of_marks(item.iter_markers(MARK))
    return marked or named_in(getattr(test, "__doc__", None)) or named_in(getattr(module, "__doc__", None))


def platform_of(item: pytest.Item) -> str | None:
    """The platform a test is about: of its `platform` parameter, or its mark."""
    callspec = getattr(item, "callspec", None)
    value = callspec.params.get("platform") if callspec else None
    mark = item.get_closest_marker("platform")
    if value is None and mark:
        value = mark.args[0]
    return None if value is None else str(getattr(value, "name", value))


def claim_of(item: pytest.Item) -> Claim:
    """The test's name is the same whatever runs it: without the group that xdist adds."""
    file = item.path.relative_to(item.config.rootpath).as_posix()
    is_long = item.get_closest_marker("long") is not None
    return Claim(f"{file}::{item.name}", requirements_of(item), platform_of(item), is_long)
