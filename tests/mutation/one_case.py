# SPDX-License-Identifier: Apache-2.0
"""One row of the table of emulated cases, in the source tree this file lies in: `python -m tests.mutation.one_case PLATFORM CASE`.

Ends with status 0 if the case passes and CASE_FAILS if it fails, having said why. Anything else: it could not be tried.
"""

import dataclasses
import sys
import tempfile
from pathlib import Path

from bhtool.platforms import load

from tests.emulated.case import Case
from tests.emulated.observe import judge, observe
from tests.emulated.scene import stage
from tests.emulated.table import CASES

CASE_FAILS = 10
LIMIT_BEATS = 2000  # two emulated seconds: more than any case named by a mutation takes
LIMIT_SECONDS = 60.0  # of the host, for a machine in which nobody beats


def find(platform: str, name: str) -> Case:
    (case,) = (one for one in CASES if one.name == name and platform in one.platforms)
    return dataclasses.replace(case, limit_beats=LIMIT_BEATS, limit_seconds=LIMIT_SECONDS)


def main() -> int:
    platform, case = load(sys.argv[1]), find(*sys.argv[1:])
    with tempfile.TemporaryDirectory() as directory:
        scene = stage(platform, case, Path(directory))
        seen = observe(platform, case, scene)
    wrong = judge(case, seen)
    print("\n".join([*wrong, seen.state()]))
    return CASE_FAILS if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
