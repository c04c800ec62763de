# SPDX-License-Identifier: Apache-2.0
"""What a case expects to see. Each expectation gives its verdict on what has been seen so far: None, or what is wrong.

Awaited ones decide when a run is over; the others are judged then. Texts may name places of the plan, as arguments may.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from tests import register_documents as documents

if TYPE_CHECKING:
    from tests.emulated.observe import Observation


class Expectation(Protocol):
    awaited: ClassVar[bool]
    ends: ClassVar[bool]  # the sandbox ends by it

    @property
    def sandbox(self) -> str: ...

    def verdict(self, seen: "Observation") -> str | None: ...


@dataclass(frozen=True)
class Says:
    """A line of its console matches."""

    sandbox: str
    pattern: str
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        pattern = re.compile(seen.places.fill(self.pattern))
        if any(pattern.search(line) for line in seen.lines[self.sandbox]):
            return None
        return f"{self.sandbox} never said {pattern.pattern!r}"


@dataclass(frozen=True)
class NeverSays:
    """No line of its console matches, to the end."""

    sandbox: str
    pattern: str
    awaited: ClassVar[bool] = False
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        found = [line for line in seen.lines[self.sandbox] if re.search(self.pattern, line)]
        return f"{self.sandbox} said {', '.join(map(repr, dict.fromkeys(found)))}" if found else None


@dataclass(frozen=True)
class Refused:
    """Every attempt of this command was answered with an exception whose name matches."""

    sandbox: str
    command: str
    by: str
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        command = seen.places.fill(self.command)
        answer = seen.answers(self.sandbox).get(command)
        if answer is None:
            return f"{self.sandbox} never finished {command!r}"
        if re.match(rf"refused: {self.by}", answer):
            return None
        return f"{self.sandbox}: {command!r} was not refused by {self.by!r}: {answer}"


@dataclass(frozen=True)
class Returned:
    """An attempt of this command came back, with this value if one is given."""

    sandbox: str
    command: str
    value: int | None = None
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        command = seen.places.fill(self.command)
        answer = seen.answers(self.sandbox).get(command)
        if answer is None:
            return f"{self.sandbox} never finished {command!r}"
        wanted = "returned " if self.value is None else f"returned {self.value:#x}"
        if answer == wanted or (self.value is None and answer.startswith(wanted)):
            return None
        return f"{self.sandbox}: {command!r} gave {answer!r}, not {wanted!r}"


@dataclass(frozen=True)
class Parked:
    """Parked, with a crash record that says why and where. An empty field is not compared."""

    sandbox: str
    reason: str
    access: str = ""
    address: str = ""
    value: str = ""
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = True

    def verdict(self, seen: "Observation") -> str | None:
        watch = seen.watches[self.sandbox]
        crash = watch.crash
        if crash is None or watch.state != "parked":
            return f"{self.sandbox} was not parked: {watch.state}, last said {seen.lines[self.sandbox][-1:]}"
        wanted = {"reason": self.reason, "access": self.access}
        wanted |= {name: hex(int(seen.places.fill(text), 0)) for name, text in (("address", self.address), ("value", self.value)) if text}
        found = {"reason": crash.reason, "access": crash.access, "address": hex(crash.address), "value": hex(crash.value)}
        wrong = [f"{name} {found[name]}, not {text}" for name, text in wanted.items() if text and text.strip() and found[name] != text]
        return f"crash record of {self.sandbox}: {'; '.join(wrong)} (pc {crash.pc:#x})" if wrong else None


@dataclass(frozen=True)
class Off:
    """Ended of its own will, without a crash record."""

    sandbox: str
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = True

    def verdict(self, seen: "Observation") -> str | None:
        watch = seen.watches[self.sandbox]
        return None if watch.state == "off" and watch.crash is None else f"{self.sandbox} is {watch.state}, not off"


@dataclass(frozen=True)
class ExitsAtLeast:
    """Its monitor has counted so many exits of this reason."""

    sandbox: str
    reason: str
    count: int
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        stats = seen.watches[self.sandbox].stats
        found = stats.exits[self.reason] if stats else 0
        return None if found >= self.count else f"{self.sandbox}: {found} exits by {self.reason}, not {self.count}"


@dataclass(frozen=True)
class NoExits:
    """Since it was ready its monitor has counted nothing but these reasons."""

    sandbox: str
    besides: tuple[str, ...] = ()
    awaited: ClassVar[bool] = False
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        watch = seen.watches[self.sandbox]
        if not watch.ready:
            return f"{self.sandbox} was never ready"
        found = {reason: count for reason, count in watch.exits_steady().items() if count and reason not in self.besides}
        return f"{self.sandbox}: exits in steady state: {found}" if found else None


@dataclass(frozen=True)
class SteadyExits:
    """Since it was ready its monitor has counted exactly so many exits of this reason, all cores together."""

    sandbox: str
    reason: str
    count: int
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        found = seen.watches[self.sandbox].exits_steady().get(self.reason, 0)
        return None if found == self.count else f"{self.sandbox}: {found} exits by {self.reason} since it was ready, not {self.count}"


@dataclass(frozen=True)
class CoreExits:
    """Since it was started one core of the sandbox, its n-th, has had exactly so many exits of this reason."""

    sandbox: str
    slot: int
    reason: str
    count: int
    awaited: ClassVar[bool] = False
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        stats = seen.watches[self.sandbox].stats
        found = stats.core_exits[self.slot][self.reason] if stats else 0
        who = f"{self.sandbox}, core {self.slot} of its own"
        return None if found == self.count else f"{who}: {found} exits by {self.reason}, not {self.count}"


@dataclass(frozen=True)
class Restarted:
    """It has begun again exactly so many times."""

    sandbox: str
    count: int
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        found = seen.watches[self.sandbox].restarts
        return None if found == self.count else f"{self.sandbox} was restarted {found} times, not {self.count}"


@dataclass(frozen=True)
class Kicked:
    """Its monitor has acknowledged exactly so many kicks."""

    sandbox: str
    count: int
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        stats = seen.watches[self.sandbox].stats
        found = stats.kicks if stats else 0
        return None if found == self.count else f"{self.sandbox}: {found} kicks acknowledged, not {self.count}"


@dataclass(frozen=True)
class LikeNew:
    """All that can be seen of it from outside is of this machine's run: no crash record, one life, its own lines, exits that can be."""

    sandbox: str
    most_exits: int = 100000
    awaited: ClassVar[bool] = False
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        watch, stats = seen.watches[self.sandbox], seen.watches[self.sandbox].stats
        if watch.crash or stats is None:
            return f"{self.sandbox} shows {watch.crash or 'no statistics'}"
        if stats.restarts or stats.restart_ticks or stats.longest_restart_ticks:
            return f"{self.sandbox} shows restarts: {stats}"
        if sum(stats.exits.values()) > self.most_exits:
            return f"{self.sandbox} shows exits that were not: {stats.exits}"
        own = re.compile(rf"{self.sandbox}: |\.+$")  # dots: characters of uart-irqs
        foreign = [line for line in seen.lines[self.sandbox] if not own.match(line)]
        return f"{self.sandbox} shows foreign lines: {foreign[:3]}" if foreign else None


@dataclass(frozen=True)
class Contained:
    """Nothing that its card has written lies outside its own memory, wherever one looks; and something lies there."""

    sandbox: str
    awaited: ClassVar[bool] = False
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        own = seen.places.sandboxes[self.sandbox]
        beyond = [hex(at) for at in seen.traces if not own.ram <= at < own.ram_end]
        if beyond:
            return f"the card of {self.sandbox} has written to {', '.join(beyond)}"
        return None if seen.traces else f"the card of {self.sandbox} has written nothing"


@dataclass(frozen=True)
class Blocked:
    """A record says that this function of the sandbox, and no other, was kept from this. Others have none."""

    sandbox: str
    function: str
    access: str
    address: str
    reason: str
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        address = int(seen.places.fill(self.address), 0)
        kept = {(one.sandbox, one.function, one.record.access, one.record.address, one.record.why.name) for one in seen.dma_faults}
        wanted = (self.sandbox, self.function, self.access, address, self.reason)
        if others := {one for one in kept if one[:2] != wanted[:2]}:
            return f"dma faults of others: {others}"
        return None if wanted in kept else f"no dma fault is recorded of {self.function}: {self.access} {address:#x}; but {kept or 'none'}"


@dataclass(frozen=True)
class Flooded:
    """So many records are of this sandbox's functions: more than the queue holds at once."""

    sandbox: str
    more_than: int
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        count = sum(one.sandbox == self.sandbox for one in seen.dma_faults)
        return None if count > self.more_than else f"{count} dma faults of {self.sandbox} are recorded, no more"


SWEEPS = {
    "rdmsr": ("registers-x86_64.md", "Model-specific registers", "read", False),
    "wrmsr": ("registers-x86_64.md", "Model-specific registers", "write", False),
    "mrs": ("registers-aarch64.md", "Registers", "read", False),
    "msr": ("registers-aarch64.md", "Registers", "write", False),
    "mrc": ("registers-armv7.md", "Registers", "read", False),
    "mcr": ("registers-armv7.md", "Registers", "write", False),
    "mrrc": ("registers-armv7.md", "Registers", "read", True),
    "mcrr": ("registers-armv7.md", "Registers", "write", True),
    "hvc": ("registers-aarch64.md", "Calls", "HVC", False),
    "smc": ("registers-aarch64.md", "Calls", "SMC", False),
    "hvc32": ("registers-armv7.md", "Calls", "HVC", False),
    "smc32": ("registers-armv7.md", "Calls", "SMC", False),
}


@dataclass(frozen=True)
class Swept:
    """A sweep found what its document allows, nothing else, and all that every machine has but for what it left out."""

    sandbox: str
    kind: str
    left_out: tuple[int, ...] = ()
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        lines = [line.partition(f": sweep {self.kind}")[2] for line in seen.lines[self.sandbox]]
        if not any(line.startswith(": ") for line in lines):
            return f"{self.sandbox} never finished sweep={self.kind}"
        found: set[int] = set()
        for first, last in (match.groups() for line in lines if (match := re.match(r" (0x\w+)-(0x\w+)$", line))):
            found.update(range(int(first, 0), int(last, 0) + 1))
        more = sorted(found - documents.allowed(*SWEEPS[self.kind]))
        less = sorted(documents.required(*SWEEPS[self.kind]) - found - set(self.left_out))
        return (
            f"sweep {self.kind}: granted beyond the document {list(map(hex, more))}, missing {list(map(hex, less))}"
            if more or less
            else None
        )
