# SPDX-License-Identifier: Apache-2.0
"""herd7, which decides what models of weak memory allow, as Debian unstable packages it: no release has it yet."""

from bhtool.provision.unpacked import Unpacked

HERD = Unpacked("herd7", "herd", "sid", ("herdtools7", "libc6", "libgmp10"), ("herd7",))  # 43 MB to download
