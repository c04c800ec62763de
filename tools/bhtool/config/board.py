# SPDX-License-Identifier: Apache-2.0
"""A board by itself, without a partition file."""

import functools

from bhtool.config.machine import Machine, read_machine
from bhtool.config.pci import with_functions
from bhtool.config.source import read_source
from bhtool.families.table import FAMILIES
from bhtool.platforms import Platform


@functools.cache
def read_board(platform: Platform) -> Machine:
    """Raises what reading a partition file raises."""
    return with_functions(read_machine(read_source(platform.board, platform.board).root, FAMILIES[platform.arch]))
