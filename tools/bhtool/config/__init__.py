# SPDX-License-Identifier: Apache-2.0
"""The configuration compiler: from a partition file to everything a machine needs to be split that way: `compile_partition` in bhtool.config.compile.

That module needs a compiler and libfdt, which this one must not ask for: whoever only starts a folder or looks at platforms may have neither yet.
"""

from bhtool.config.plan import Diagnostic, Location, Plan, Platform, SandboxPlan, Segment

__all__ = ["Diagnostic", "Location", "Plan", "Platform", "SandboxPlan", "Segment"]
