# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md says what the bindings and rules say."""

from bhtool import paths
from bhtool.config.reference import render


def test_the_page_is_current() -> None:
    current = (paths.ROOT / "docs" / "configuration.md").read_text()
    assert current == render(), "make it anew: python -m bhtool.config.reference > ../docs/configuration.md, from tools/"
