# SPDX-License-Identifier: Apache-2.0
"""From sources, Debian's packages and a partition file to bytes that a machine starts with.

build, payloads ─► names ─► stages ◄─ formats ◄─ iso | fit | loadable: `stages` is what verbs call, with a plan as bhtool.config makes it.
"""
