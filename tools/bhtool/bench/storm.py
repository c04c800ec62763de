# SPDX-License-Identifier: Apache-2.0
"""`bulkhead bench timer --storm`: how late the timer comes while its sandbox does nothing but exit."""

from bhtool.bench.costs import storm_rows
from bhtool.bench.result import Result
from bhtool.image.payloads import Report
from bhtool.platforms import Platform


def run(platform: Platform, report: Report) -> Result:
    return Result("storm", platform.name, storm_rows(platform, report))
