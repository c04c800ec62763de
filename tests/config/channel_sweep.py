# SPDX-License-Identifier: Apache-2.0
"""Tables I and II and figure 16 of the papers on channels, with periods divided by 100, over all offsets of both ends' VCPUs: channel_model.py runs them.

`python -m tests.config.channel_sweep` writes what was found to channel_sweep.json. test_channel_sweep.py verifies it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bhtool.config.admission import MainVcpu, Reservations, response_time
from bhtool.config.channel_bounds import Exchange, Supply, bound, polling_bound, request_and_reply, supply

from tests.config.channel_model import Longest, Model, ModelEnd

STORED = Path(__file__).with_suffix(".json")
SLOT = 4096
WARM = 5  # periods before an exchange begins
COPIES = (2, 10, 49)  # us of a slot at each end: a fast processor, one that is not, and the QEMU machines, 16 ns an instruction
# (budget, period) in us: the papers' in units of 10 us.
TABLE_I = [((200, 1000), receiver) for receiver in ((20, 100), (200, 1000), (200, 1300), (200, 2000), (200, 2300))]
TABLE_II = [
    ((200, 500), (200, 500)),
    ((100, 1000), (100, 1000)),
    ((100, 1000), (100, 500)),
    ((100, 1000), (100, 2000)),
    ((50, 1000), (50, 1300)),
    ((100, 2000), (100, 2000)),
]
HIGH, LOW, SHELL = (500, 1000), (400, 1000), (200, 1000)
SIZES = (64, SLOT, 16 * SLOT, 256 * SLOT, 1024 * SLOT)


@dataclass(frozen=True)
class Row:
    """An exchange, and over which offsets it is tried, in us: of the starts while the sender has its budget those a `step` apart, and what could take
    longer between them; of the receiver's phases those a `phase_step` apart. Whoever begins without a budget begins when it comes, so the first such start
    takes longest.
    """

    name: str
    sender: tuple[int, int]
    receiver: tuple[int, int]
    copy: int
    request: int
    reply: int
    step: int
    phase_step: int = 1
    shell: tuple[int, int] | None = None  # before both
    shell_step: int = 0

    @property
    def works(self) -> list[int]:
        """Of one round of the ends in turn."""
        copy = max(1, self.copy * min(self.request, SLOT) // SLOT)
        return [copy, 2 * copy, copy] if self.reply else [copy, copy]

    @property
    def rounds(self) -> int:
        return 1 if self.reply else -(-self.request // SLOT)

    @property
    def exchange(self) -> Exchange:
        copy = self.works[0]
        return request_and_reply(lambda _: copy, lambda _: copy, self.request, self.reply, SLOT, 0)

    @property
    def supplies(self) -> tuple[Supply, Supply]:
        return self._supply(self.sender), self._supply(self.receiver)

    def _supply(self, pair: tuple[int, int]) -> Supply:
        if not self.shell:
            return supply(*pair)
        return supply(*pair, response_time(Reservations((MainVcpu(*self.shell), MainVcpu(*pair))), 1))

    @property
    def starts(self) -> range:
        begin = WARM * self.sender[1]
        return range(begin, begin + self.sender[0] + 1, self.step)

    def ends(self, phase: int, hungry_from: tuple[int, int] = (0, 0)) -> tuple[ModelEnd, ModelEnd]:
        """The shell of each end wants nothing until then, and all it can get from then on."""
        if not self.shell:
            return ModelEnd(*self.sender), ModelEnd(*self.receiver, phase)
        first, second = (((since, 1 << 60),) for since in hungry_from)
        return ModelEnd(*self.sender, 0, self.shell, first), ModelEnd(*self.receiver, phase, self.shell, second)


def rows() -> Iterator[Row]:
    for copy in COPIES:
        for n, (sender, receiver) in enumerate(TABLE_I, 1):
            yield Row(f"table-1-case-{n}-{copy}us", sender, receiver, copy, SLOT, SLOT, 1)
        for n, (sender, receiver) in enumerate(TABLE_II, 1):
            yield Row(f"table-2-case-{n}-{copy}us", sender, receiver, copy, 1024 * SLOT, 0, 5)
    for size in SIZES:
        yield Row(f"figure-16-high-{size}", HIGH, HIGH, 10, size, 0, 5, 1 if size < SIZES[-2] else 5)
        yield Row(f"figure-16-low-{size}", LOW, LOW, 10, size, 0, 50, 50, SHELL, 50 if size < SIZES[-2] else 200)


@dataclass(frozen=True)
class Found:
    name: str
    longest: int
    start: int
    phase: int
    hungry_from: tuple[int, int]
    polling: int  # what was predicted, of ends that poll,
    bound: int  # and of any


def swept(model: Model, row: Row) -> Found:
    longest, hungry_from = Longest(0, 0, 0), (0, 0)
    for since in _shells(row):
        starts = row.starts
        if row.shell:  # it may hold the sender up until its period ends
            starts = range(starts.start, starts.start + row.sender[1], row.step)
        found = model.longest(row.ends(0, since), starts, row.works, row.rounds, row.phase_step)
        if found.span > longest.span:
            longest, hungry_from = found, since
    predicted = polling_bound(row.supplies, row.exchange), bound(row.supplies, row.exchange)
    return Found(row.name, longest.span, longest.start, longest.phase, hungry_from, *predicted)


def _shells(row: Row) -> Iterator[tuple[int, int]]:
    if not row.shell:
        yield 0, 0
        return
    begin = WARM * row.sender[1]
    for first in range(begin, begin + row.sender[1], row.shell_step):
        for second in range(begin, begin + 3 * row.receiver[1], row.shell_step):
            yield first, second


def stored() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(STORED.read_text())
    return found


def _swept_alone(row: Row) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        return swept(Model(Path(folder)), row)


def main() -> None:
    """Rows that are named, or all; others stay as they are stored."""
    named = [row for row in rows() if not sys.argv[1:] or any(one in row.name for one in sys.argv[1:])]
    found = {one["name"]: one for one in stored()} if STORED.exists() else {}
    with ProcessPoolExecutor(2) as pool:
        for one in pool.map(_swept_alone, named):
            found[one.name] = asdict(one)
            print(
                f"{one.name}: {one.longest:,} us, {one.longest / one.polling:.3f} of {one.polling:,}, {one.longest / one.bound:.3f} of {one.bound:,}",
                flush=True,
            )
    ordered = [found[row.name] for row in rows() if row.name in found]
    STORED.write_text("[\n" + ",\n".join(json.dumps(one) for one in ordered) + "\n]\n")


if __name__ == "__main__":
    main()
