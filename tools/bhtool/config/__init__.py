# SPDX-License-Identifier: Apache-2.0
"""The configuration compiler: from a partition file to everything a machine needs to be split that way: `compile_partition` in bhtool.config.compile."""
