# SPDX-License-Identifier: Apache-2.0
"""BH-I3.forms, BH-I7.boot. No sandbox is given a line that others can raise."""

import pytest
from bhtool.platforms import Platform

from tests.emulated.case import SVM
from tests.emulated.lent_line import lend


@pytest.mark.parametrize("platform", [SVM])
def test_line_of_ferr_is_not_given_away(machine_platform: Platform) -> None:
    assert lend(machine_platform) == []
