# SPDX-License-Identifier: Apache-2.0
"""The families there are, by the names that platforms call them."""

from bhtool.families.arm import AARCH64, ARMV7
from bhtool.families.family import Family
from bhtool.families.x86_64 import X86_64

FAMILIES: dict[str, Family] = {one.name: one for one in (AARCH64, ARMV7, X86_64)}
