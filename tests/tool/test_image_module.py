# SPDX-License-Identifier: Apache-2.0
"""The boot module, spread out as its table says, puts exactly the segments of the plan into memory: whatever their places."""

from dataclasses import replace
from pathlib import Path

import pytest
from bhtool import abi
from bhtool.config.pieces import PAGE
from bhtool.config.plan import Location, Plan, Region, SandboxPlan, Segment
from bhtool.config.table import checksum, checksum_words
from bhtool.errors import BulkheadError
from bhtool.image.module import with_module
from hypothesis import given, settings
from hypothesis import strategies as st

HERE = Location("fake.dts", 1)
RAM, RAM_BYTES = (0x50000000, 0x51000000), 0x1000000
POOLS = (0x40100000, 0x40180000)
INFO = abi.lib.BH_POOL_INFO
EMPTY_TABLE = abi.bytes_of(abi.new("bh_table"))

# Where a segment starts in its sandbox's RAM, in eighths of a page, and how many bytes it has.
Layout = dict[int, int]
layouts = st.dictionaries(st.integers(0, 200), st.integers(1, 3 * PAGE), max_size=12)


def sandbox(index: int) -> SandboxPlan:
    one = SandboxPlan(f"s{index}", index, "native", HERE, HERE, [index], [index], "log", "x", "", 0, RAM[index], RAM_BYTES, POOLS[index])
    one.regions = [Region("ram", "ram", 0, RAM[index], RAM_BYTES, "rwx")]
    return one


def plan_of(layout: Layout) -> Plan:
    """Half of the segments are the second sandbox's; what would overlap its neighbour is cut."""
    segments = [Segment("info", POOLS[index] + INFO, bytes([index + 1]) * 100) for index in (0, 1)]
    places = sorted(layout)
    for here, after in zip(places, [*places[1:], 10000], strict=False):
        size = min(layout[here], (after - here) * PAGE // 8)
        segments.append(Segment("payload", RAM[here > 100] + here * PAGE // 8, bytes([here % 255 + 1]) * size))
    return Plan("any", Path("any.dts"), [sandbox(0), sandbox(1)], table=EMPTY_TABLE, segments=segments)


@settings(max_examples=200, deadline=None)
@given(layouts)
def test_the_module_holds_the_segments(layout: Layout) -> None:
    plan = plan_of(layout)
    bare, module = with_module(plan)
    table = abi.view("bh_table", bare.table)
    memory = {}
    for row in list(table.copies)[: table.copy_count]:
        for offset in range(0, row.size, PAGE):
            memory[row.target + offset] = module[row.offset + offset :][:PAGE]
        assert RAM[row.sandbox] <= row.target < RAM[row.sandbox] + RAM_BYTES or row.target == POOLS[row.sandbox] + INFO
    for segment in plan.segments:
        for at, byte in enumerate(segment.data, segment.hpa):
            assert memory[at // PAGE * PAGE][at % PAGE] == byte
    assert sum(len(page) - page.count(0) for page in memory.values()) == sum(len(segment.data) for segment in plan.segments)


def test_table_and_module_belong_together() -> None:
    bare, module = with_module(plan_of({0: 10, 8: 5000}))
    table = abi.view("bh_table", bare.table)
    assert bare.segments == []
    assert (table.module_bytes, table.module_checksum) == (len(module), checksum_words(module))
    assert table.checksum == checksum(bare.table)


def test_too_many_pieces_are_refused() -> None:
    scattered = [Segment("payload", RAM[0] + 2 * n * PAGE, b"x") for n in range(abi.lib.BH_MAX_COPIES + 1)]
    with pytest.raises(BulkheadError, match="a boot module holds 64"):
        with_module(replace(plan_of({}), segments=scattered))
