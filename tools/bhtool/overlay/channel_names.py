# SPDX-License-Identifier: Apache-2.0
"""Channels of each sandbox as constants for C and Python: a name that there is not is no constant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.channels import KIND_NUMBERS
from bhtool.config.plan import ChannelKind, Plan
from bhtool.errors import BulkheadError
from bhtool.overlay.forms import TEMPLATES

SUFFIXES = (".h", ".py")


@dataclass(frozen=True)
class NamedChannel:
    """A channel as one end has it."""

    word: str  # in constants
    name: str
    kind: ChannelKind
    end: int
    peer: str
    slots: int
    slot_bytes: int
    number: int  # as its monitor counts them
    readers: int
    on_request: bool
    ring_gap_us: int  # between two rings of this end; 0: it may not ring
    rung_gap_us: int  # of the other

    @property
    def kind_number(self) -> int:
        return KIND_NUMBERS[self.kind]


def word_of(name: str) -> str:
    """A name of the device tree as a part of an identifier."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _apart(names: Iterable[str], what: str, where: str) -> None:
    """Refuses two names that are one word."""
    first: dict[str, str] = {}
    for name in names:
        word = word_of(name).upper()
        if word in first:
            raise BulkheadError(f"{where}: {what} `{first[word]}` and `{name}` would both be called {word}; rename one of them")
        first[word] = name


def channels_by_sandbox(plan: Plan) -> dict[str, list[NamedChannel]]:
    """Of those that have any. Raises BulkheadError where names cannot be told apart, and where there is no channel."""
    where = plan.file.name
    _apart((one.name for one in plan.channels), "channels", where)
    found: dict[str, list[NamedChannel]] = {}
    for one in plan.channels:
        for end, index in enumerate(one.ends):
            own = found.setdefault(plan.sandboxes[index].name, [])
            peer = plan.sandboxes[one.ends[1 - end]].name
            shape = one.kind, end, peer, one.slots, one.slot_bytes
            rings = one.gap_us[end], one.gap_us[1 - end]
            own.append(NamedChannel(word_of(one.name).upper(), one.name, *shape, len(own), one.readers, one.on_request, *rings))
    if not found:
        raise BulkheadError(f'{where} has no channels; a child of `domains` with compatible = "bulkhead,channel-v1" is one')
    _apart(found, "sandboxes", where)
    return found


def files_of(plan: Plan, folder: Path) -> dict[Path, str]:
    """What is to be written, a header and a Python module for each sandbox."""
    files = {}
    for sandbox, channels in channels_by_sandbox(plan).items():
        for suffix in SUFFIXES:
            files[folder / f"{word_of(sandbox)}_channels{suffix}"] = _text(plan.file.name, sandbox, channels, suffix)
    return files


def _text(partition: str, sandbox: str, channels: Sequence[NamedChannel], suffix: str) -> str:
    return TEMPLATES.get_template(f"channels{suffix}.j2").render(partition=partition, sandbox=sandbox, channels=channels)
