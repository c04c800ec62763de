# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux, BH-F6.messages. `bulkhead bench samples`: what becomes of what the sensor, control and Linux say."""

from pathlib import Path

import pytest
from bhtool.bench import samples
from bhtool.bench.result import Row
from bhtool.bench.samples import CONTROL, LINUX, SENSOR, Heard
from bhtool.cli import loaded
from bhtool.config.plan import ChannelDelay, ChannelPlan
from bhtool.errors import BulkheadError, Status
from bhtool.machine.session import LineEvent
from bhtool.paths import PARTITIONS
from bhtool.verbs import bench as verb
from click.testing import CliRunner

SENT = ("sent 2000", "kept back, as the channel was full, 7", "connections 2")
LIFE = ("taken 980", "not as a source sends them 0", "damaged 0", "connections 1", "ns from sent to taken, at most 900")
SUNK = "epochs 2, taken 1900, lost 0, doubled 0, damaged 0, wrong 0"
BOUND, SLOTS, RESTARTS = 1000, 16, 2


def line(sandbox: str, text: str) -> LineEvent:
    return LineEvent(sandbox, f"{sandbox}: samples: {text}")


def heard(life: tuple[str, ...] = LIFE, sunk: str = SUNK) -> Heard:
    found = Heard()
    for _ in range(RESTARTS):
        for text in life:
            found.hear(line(CONTROL, text))
        found.crashed()
    for text in SENT:
        found.hear(line(SENSOR, text))
    found.hear(LineEvent(LINUX, "epochs 1, taken 5, lost 0, doubled 0, damaged 0, wrong 0"))
    found.hear(LineEvent(LINUX, sunk))
    found.hear(line(CONTROL, "speed: sent 5"))  # of another program
    return found


CHANNEL = ChannelPlan("samples", "ring", (0, 1), SLOTS, 64, (4096, 4096), 0, ChannelDelay(0, 0, BOUND, BOUND, ()))


def rows_of(found: Heard, exits: int = 0) -> dict[str, Row]:
    return {row.name: row for row in samples.rows(found, exits, CHANNEL)}


def test_all_is_counted() -> None:
    rows = rows_of(heard())
    assert not [name for name, row in rows.items() if row.met is False]
    assert (rows["taken by control"].max, rows["sent, and lost at restarts"].max) == (1960, 40)
    assert (rows["restarts of control"].max, rows["kept back, as the channel was full"].max) == (RESTARTS, 7)
    assert (rows["taken by Linux"].max, rows["from sent to taken"].max) == (1900, 900)


@pytest.mark.parametrize(
    ("life", "sunk", "exits", "missed"),
    [
        (LIFE, SUNK, 1, "exits of the sensor"),
        (LIFE, SUNK.replace("lost 0", "lost 1"), 0, "lost there within an epoch"),
        (LIFE, SUNK.replace("doubled 0", "doubled 1"), 0, "doubled there within an epoch"),
        (LIFE, SUNK.replace("damaged 0", "damaged 1"), 0, "damaged there within an epoch"),
        (LIFE, SUNK.replace("wrong 0", "wrong 1"), 0, "wrong there within an epoch"),
        (LIFE, SUNK.replace("taken 1900", "taken 0"), 0, "taken by Linux"),
        (("taken 979", *LIFE[1:]), SUNK, 0, "sent, and lost at restarts"),  # two more than may be on their way
        ((LIFE[0], "not as a source sends them 1", *LIFE[2:]), SUNK, 0, "of them not as sent"),
        ((*LIFE[:2], "damaged 1", *LIFE[3:]), SUNK, 0, "damaged"),
        ((*LIFE[:3], "connections 2", LIFE[4]), SUNK, 0, "connections of a life"),
        ((*LIFE[:4], f"ns from sent to taken, at most {BOUND + 1}"), SUNK, 0, "from sent to taken"),
    ],
)
def test_each_fault_misses_its_target(life: tuple[str, ...], sunk: str, exits: int, missed: str) -> None:
    rows = rows_of(heard(life, sunk), exits)
    assert [name for name, row in rows.items() if row.met is False] == [missed]


def test_a_life_that_has_not_said_anything_took_nothing() -> None:
    """Control crashes once more while it is still starting."""
    found = heard()
    found.crashed()
    assert rows_of(found)["sent, and lost at restarts"].max == 40


@pytest.mark.parametrize("missing", range(1, len(LIFE)))
def test_a_life_that_says_not_all_is_an_error(missing: int) -> None:
    with pytest.raises(BulkheadError, match="has not said"):
        rows_of(heard((*LIFE[:missing], *LIFE[missing + 1 :])))


def test_more_than_were_sent_is_an_error() -> None:
    with pytest.raises(BulkheadError, match="2,002 samples, and 2,000 were sent"):
        rows_of(heard(("taken 1001", *LIFE[1:])))


def test_a_linux_that_is_still_booting_is_an_error() -> None:
    found = heard()
    found.linux = {}
    with pytest.raises(BulkheadError, match="more --seconds"):
        rows_of(found)


def test_the_file_is_the_example_s_with_a_control_that_dies(tmp_path: Path) -> None:
    text = samples.write_partition(tmp_path, 25).read_text()
    assert f'#include "{PARTITIONS / "channels.dts"}"' in text
    assert '&sensor { bootargs = "wait=25000 stop=samples vcpus"; };' in text
    assert 'bootargs = "wait=10000 vcpus crash";' in text


def test_seconds_go_with_nothing_else() -> None:
    found = CliRunner().invoke(loaded("bench"), ["sched", "--seconds", "20"])
    assert found.exit_code == Status.USAGE
    assert "--seconds goes with samples" in found.output


def test_who_asks_for_everything_does_not_wait_for_it() -> None:
    assert set(verb.ALONE) <= set(verb.BENCHES)
