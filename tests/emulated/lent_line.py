# SPDX-License-Identifier: Apache-2.0
"""What becomes of a partition table that gives the line of FERR# away: as no host tool writes one, a good one is changed."""

import dataclasses

from bhtool import abi
from bhtool.config.table import checksum
from bhtool.image.formats import bootable
from bhtool.platforms import Platform

from tests.emulated.case import SVM, Case, Sandbox
from tests.emulated.cases_wires import FERR_PIN, NOBODYS, VECTOR
from tests.emulated.expect import Returned
from tests.emulated.observe import judge, observe
from tests.emulated.scene import Scene, monitor, stage
from tests.emulated.test_refusals import last_words

REFUSED = "an interrupt line is not a device's"
LIMIT_SECONDS = 5.0
LENT = Case(
    "lent-ferr",
    NOBODYS,
    (Sandbox("bystander", 0), Sandbox("attacker", 1, "ticks=400 ferr", beats=False), Sandbox("victim", 2, access=("uart1",))),
    (Returned("attacker", "ferr", 0),),
    (SVM,),
    limit_beats=2000,
    limit_seconds=60.0,
)


def with_line(table: bytes, line: int) -> bytes:
    """Its only line is another, at a vector that its owner does not expect."""
    copy = abi.ffi.new("struct bh_table *")
    abi.ffi.memmove(copy, table, len(table))
    assert copy.line_count == 1
    copy.lines[0].line, copy.lines[0].vector = line, VECTOR
    copy.checksum = checksum(abi.bytes_of(copy))
    return abi.bytes_of(copy)


def lend(platform: Platform) -> list[str]:
    """Nothing, if start-up refuses it; otherwise what comes of it."""
    scene = stage(platform, LENT)
    plan = dataclasses.replace(scene.plan, table=with_line(scene.plan.table, FERR_PIN))
    image = bootable(platform, monitor(platform), plan)
    if REFUSED in last_words(platform, image, limit=LIMIT_SECONDS)[0]:
        return []
    return ["not refused", *judge(LENT, observe(platform, LENT, Scene(plan, scene.places, image)))]
