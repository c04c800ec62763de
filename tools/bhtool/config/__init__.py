# SPDX-License-Identifier: Apache-2.0
"""The configuration compiler: from a partition file to everything a machine needs to be split that way."""

from bhtool.config.compile import compile_partition
from bhtool.config.plan import Diagnostic, Location, Plan, Platform, SandboxPlan, Segment

__all__ = ["Diagnostic", "Location", "Plan", "Platform", "SandboxPlan", "Segment", "compile_partition"]
