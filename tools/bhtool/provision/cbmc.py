# SPDX-License-Identifier: Apache-2.0
"""CBMC, a model checker for C, as Debian 13 packages it."""

from bhtool.provision.unpacked import Unpacked

CBMC = Unpacked(
    "CBMC",
    "cbmc",
    "trixie",
    ("cbmc", "minisat", "libc6", "libstdc++6", "libgcc-s1", "zlib1g"),  # 30 MB to download
    ("cbmc", "goto-cc", "goto-instrument"),
)
command, ensure_cbmc = CBMC.command, CBMC.ensure
