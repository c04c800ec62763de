# SPDX-License-Identifier: Apache-2.0
"""What channels carried, as their pages and the counters of their ends (abi/channel.h) tell it. A counter is its end's to write: it is told, not believed."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from bhtool import abi
from bhtool.config.plan import ChannelPlan, Plan
from bhtool.machine.memory import Memory
from bhtool.terminal.screen import table_of

STATES = {value: name.removeprefix("BH_CHANNEL_").lower() for value, name in abi.enumerators("bh_channel_state").items()}
LIVES = STATES[abi.lib.BH_CHANNEL_LIVES]


@dataclass(frozen=True)
class Side:
    """One end of a channel."""

    sandbox: str
    state: str
    epoch: int
    sent: int | None  # messages in the present connection; None: it takes part in none, or
    taken: int | None  # it says nothing, as readers of a latest value


@dataclass(frozen=True)
class Use:
    name: str
    kind: str
    ends: tuple[Side, Side]


def _sides(memory: Memory, plan: Plan, channel: ChannelPlan) -> tuple[Side, Side] | None:
    """None until the monitor has made the page."""
    page = abi.view("bh_channel", memory.read(channel.page, abi.sizeof("bh_channel")))
    if page.magic != abi.lib.BH_CHANNEL_MAGIC:
        return None
    areas = (channel.hpa, channel.page + abi.lib.BH_PAGE_BYTES)
    epochs = tuple(int(page.end[side].epoch) for side in (0, 1))

    def side_of(side: int) -> Side:
        control = abi.view("bh_channel_control", memory.read(areas[side], abi.sizeof("bh_channel_control")))
        takes_part = 0 not in epochs and (control.epoch, control.peer) == (epochs[side], epochs[1 - side])
        sends, takes = side == 0 or channel.kind == "mailbox", channel.kind == "mailbox" or (side == 1 and channel.kind == "ring")
        return Side(
            plan.sandboxes[channel.ends[side]].name,
            STATES.get(page.end[side].state, "unknown"),
            epochs[side],
            int(control.sent) if takes_part and sends else None,
            int(control.taken) if takes_part and takes else None,
        )

    return side_of(0), side_of(1)


def channel_use(memory: Memory, plan: Plan) -> list[Use]:
    found = ((channel, _sides(memory, plan, channel)) for channel in plan.channels)
    return [Use(channel.name, channel.kind, sides) for channel, sides in found if sides]


# ---- For people and for scripts ----------------------------------------------------------------------------------------------------


def _count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def channel_table(found: list[Use]) -> Table:
    table = table_of("channels", "channel", "kind", "from", "life", "sent", "to", "life", "taken", "answers")
    for number in (3, 4, 6, 7, 8):
        table.columns[number].justify = "right"
    for one in found:
        first, second = one.ends
        names = [side.sandbox if side.state == LIVES else f"{side.sandbox}\n({side.state})" for side in one.ends]
        left = (names[0], str(first.epoch), _count(first.sent))
        table.add_row(one.name, one.kind, *left, names[1], str(second.epoch), _count(second.taken), _count(second.sent))
    table.caption = (
        "life: how often an end has begun, or opened the channel; with each a new connection begins, and its counters at 0\n"
        "sent, taken, answers: messages of this connection, as its ends say; -: that end takes no part in it, or does not count"
    )
    return table


def channels_json(found: list[Use]) -> list[dict[str, Any]]:
    return [{"name": one.name, "kind": one.kind, "from": _side_json(one.ends[0]), "to": _side_json(one.ends[1])} for one in found]


def _side_json(side: Side) -> dict[str, Any]:
    return {"sandbox": side.sandbox, "state": side.state, "epoch": side.epoch, "sent": side.sent, "taken": side.taken}
