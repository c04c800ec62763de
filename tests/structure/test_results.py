# SPDX-License-Identifier: Apache-2.0
"""Stored results have the form that others read."""

from bhtool.testing.change import LONG_RESULT
from bhtool.testing.result import complaints, read


def test_the_stored_whole_run_has_its_form() -> None:
    """None is stored before the first."""
    assert not LONG_RESULT.exists() or not complaints(read())
