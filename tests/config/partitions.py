# SPDX-License-Identifier: Apache-2.0
"""Random partition files: a model, its text, and its tree as dtc would make it, so that thousands need no compiler.

Most are good or nearly so: everything is dealt out first, then a fault or two is put in. Memory is often dealt out to the last unit, around
what is pinned.
"""

import copy
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

from bhtool.config.plan import Location
from bhtool.config.tree import Node, Property

UNIT = 2 << 20
CORES = ("cpu0", "cpu1", "cpu2", "cpu3")
UARTS = ("uart0", "uart1")
NAMES = ("engine", "brakes", "sensor", "gateway", "linux", "logger", "planner", "camera", "spare")
NATIVE, KERNELS = ("sandbox-kernel.elf", "large.elf"), ("vmlinuz",)
UNPROTECTED = (("memory",), ("ipi",), ("irq", "ipi"), ("irq",), ("msr",))


@dataclass(frozen=True)
class Board:
    """What the board tree says of memory: dts/boards."""

    start: int
    end: int
    reserved: tuple[tuple[int, int], ...]  # (start, end)


ARM = Board(0x40000000, 0xC0000000, ((0x40000000, 0x40050000),))
BOARDS = {
    "qemu-aarch64": ARM,
    "qemu-aarch64-gicv2": ARM,
    "qemu-armv7": ARM,
    "qemu-svm": Board(0, 0x80000000, ((0, 0x140000), (0x7F000000, 0x80000000))),
    "bochs-vtx": Board(0, 0x80000000, ((0, 0x140000), (0x7FE00000, 0x80000000))),
}
PCS = ("qemu-svm", "bochs-vtx")


@dataclass(frozen=True)
class Region:
    label: str
    size: int
    start: int | None = None


@dataclass(frozen=True)
class Health:
    on_fault: str = ""
    max_restarts: int | None = None
    timeout: int | None = None
    notify: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sandbox:
    """References are labels; a sandbox's is its name."""

    name: str
    cores: tuple[str, ...] = ()
    region: str = ""
    rest: bool = False
    linux: bool = False
    image: str = NATIVE[0]
    initrd: str = ""
    access: tuple[str, ...] = ()
    console: str = ""  # "log", "none", a label, or nothing
    may_kick: tuple[str, ...] = ()
    log_access: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    trusted_idle: bool = False
    unprotected: tuple[str, ...] = ()
    health: Health | None = None

    @property
    def restarts(self) -> bool:
        return self.health is not None and self.health.on_fault == "restart"


@dataclass(frozen=True)
class File:
    platform: str
    regions: tuple[Region, ...]
    sandboxes: tuple[Sandbox, ...]
    idle: tuple[str, ...]

    @property
    def board(self) -> Board:
        return BOARDS[self.platform]

    def region_of(self, one: Sandbox) -> Region | None:
        return next((region for region in self.regions if region.label == one.region), None)


def free_units(board: Board, pinned: Sequence[tuple[int, int]]) -> list[int]:
    """Whole units of each free stretch, from the lowest on; `pinned` as (start, end)."""
    found, at = [], board.start
    for start, end in sorted([*board.reserved, *pinned, (board.end, board.end)]):
        if start > at:
            found.append(start // UNIT - -(-at // UNIT))
        at = max(at, end)
    return [count for count in found if count > 0]


# ---- a file -------------------------------------------------------------------------------------------------------------------


def random_file(rng: Random, platform: str) -> File:
    count = rng.choice((1, 2, 3, 4, 4, 4))
    names = rng.sample(NAMES, count)
    idle, hands = _cores(rng, count)
    sandboxes = [Sandbox(name, cores) for name, cores in zip(names, hands, strict=True)]
    sandboxes = _software(rng, sandboxes)
    sandboxes = _devices(rng, sandboxes)
    sandboxes, regions = _memory(rng, sandboxes, BOARDS[platform])
    sandboxes = _relations(rng, sandboxes)
    file = File(platform, tuple(regions), tuple(sandboxes), idle)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        file = _with_fault(rng, file)
    return _without_dead_ends(file)


def _without_dead_ends(file: File) -> File:
    """References to sandboxes that a fault took out or renamed: dtc, not the rules, would refuse them."""
    known = {*CORES, *UARTS, *(one.name for one in file.sandboxes), *(one.label for one in file.regions)}

    def alive(labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(label for label in labels if label in known)

    def one(sandbox: Sandbox) -> Sandbox:
        health = sandbox.health and replace(sandbox.health, notify=alive(sandbox.health.notify))
        lists = {name: alive(getattr(sandbox, name)) for name in ("access", "may_kick", "log_access", "accepts")}
        return replace(sandbox, health=health, region="".join(alive((sandbox.region,))), **lists)  # type: ignore[arg-type]

    return replace(file, sandboxes=tuple(map(one, file.sandboxes)))


def _cores(rng: Random, count: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    deck = list(CORES)
    rng.shuffle(deck)
    hands = [[deck.pop()] for _ in range(count)]
    idle: list[str] = []
    for core in deck:
        where = rng.randrange(count + 1)
        (idle if where == count else hands[where]).append(core)
    return tuple(idle), [tuple(hand) for hand in hands]


def _software(rng: Random, sandboxes: list[Sandbox]) -> list[Sandbox]:
    def one(sandbox: Sandbox) -> Sandbox:
        if rng.random() < 0.25:
            initrd = "rootfs.cpio.gz" if rng.random() < 0.7 else ""
            return replace(sandbox, linux=True, image=KERNELS[0], initrd=initrd, console="none")
        return replace(sandbox, image=rng.choice(NATIVE), console=rng.choice(("", "log")))

    found = [one(sandbox) for sandbox in sandboxes]
    if rng.random() < 0.4:
        taker = rng.randrange(len(found))
        found[taker] = replace(found[taker], rest=True)
    return found


def _devices(rng: Random, sandboxes: list[Sandbox]) -> list[Sandbox]:
    found = list(sandboxes)
    for uart in UARTS:
        owner = rng.randrange(len(found) + 1)
        if owner < len(found):
            found[owner] = replace(found[owner], access=(*found[owner].access, uart))
            if rng.random() < 0.6:
                found[owner] = replace(found[owner], console=uart)
    return found


def _memory(rng: Random, sandboxes: list[Sandbox], board: Board) -> tuple[list[Sandbox], list[Region]]:
    """Pins first; then the others share what is left, when it is tight to the last unit."""
    tight = len(sandboxes) > 2 and rng.random() < 0.4
    found: list[Sandbox] = []
    regions: list[Region] = []
    spans: list[tuple[int, int]] = []
    waiting: list[Sandbox] = []
    for number, one in enumerate(sandboxes):
        if one.rest and not tight and rng.random() < 0.7:
            found.append(one)
            continue
        one = replace(one, region=f"{one.name}_ram")
        found.append(one)
        if number == 0 if tight else rng.random() < 0.3:
            start = board.start + UNIT * rng.randrange(1, (board.end - board.start) // UNIT - 600)
            size = UNIT * rng.choice((32, 64, 200, 500))
            if not any(start < end and first < start + size for first, end in (*spans, *board.reserved)):
                spans.append((start, start + size))
                regions.append(Region(one.region, size, start))
                continue
        waiting.append(one)
    stretches = free_units(board, spans)
    sizes = _cut(rng, len(waiting), stretches) if tight else [rng.choice((1, 2, 3, 8, 32, 40, 64, 100, 256)) for _ in waiting]
    regions += [Region(one.region, UNIT * size) for one, size in zip(waiting, sizes, strict=True)]
    rng.shuffle(regions)
    return found, regions


def _cut(rng: Random, count: int, stretches: list[int]) -> list[int]:
    """So many sizes in units, for which some way of laying them uses up all stretches but what monitors and restarts need."""
    room = list(stretches)
    room[rng.randrange(len(room))] -= rng.choice((0, 3, 5, 9, 9))
    hands = [rng.randrange(len(room)) for _ in range(count)]
    hands[: len(room)] = range(min(len(room), count))
    sizes = []
    for k, units in enumerate(room):
        cuts = sorted(rng.randrange(1, max(2, units)) for _ in range(hands.count(k) - 1))
        sizes += [max(1, after - before) for before, after in pairwise([0, *cuts, units])] if k in hands else []
    return sizes


def _relations(rng: Random, sandboxes: list[Sandbox]) -> list[Sandbox]:
    names = [one.name for one in sandboxes]

    def some(one: Sandbox, chance: float) -> tuple[str, ...]:
        return tuple(name for name in names if name != one.name and rng.random() < chance)

    found = [replace(one, may_kick=some(one, 0.2), log_access=some(one, 0.15), trusted_idle=rng.random() < 0.1) for one in sandboxes]
    found = [replace(one, health=_health(rng, one, found)) if rng.random() < 0.45 else one for one in found]
    told = {name: [one.name for one in found if one.health and name in one.health.notify] for name in names}
    found = [replace(one, accepts=tuple(told[one.name])) for one in found]
    if rng.random() < 0.12:
        who = rng.randrange(len(found))
        found[who] = replace(found[who], unprotected=rng.choice(UNPROTECTED))
    return found


def _health(rng: Random, one: Sandbox, everybody: list[Sandbox]) -> Health:
    restart = rng.random() < 0.7
    watched = not one.linux and any(one.name in other.may_kick for other in everybody)
    able = [other.name for other in everybody if other is not one and not other.linux]
    return Health(
        on_fault="restart" if restart else rng.choice(("", "park")),
        max_restarts=rng.choice((1, 3, 1000000)) if restart else None,
        timeout=rng.choice((100, 5000, 10000000)) if watched and rng.random() < 0.5 else None,
        notify=tuple(name for name in able if rng.random() < 0.25),
    )


# ---- faults -------------------------------------------------------------------------------------------------------------------


def _with_fault(rng: Random, file: File) -> File:
    who = rng.randrange(len(file.sandboxes)) if file.sandboxes else 0
    if not file.sandboxes:
        return file
    one = file.sandboxes[who]
    kind = rng.randrange(4)
    if kind == 0 and file.regions:
        return _region_fault(rng, file)
    if kind == 1:
        return _file_fault(rng, file, who)
    changed = _health_fault(rng, file, one) if kind == 2 else _sandbox_fault(rng, file, one)
    return replace(file, sandboxes=tuple(changed if n == who else other for n, other in enumerate(file.sandboxes)))


def _region_fault(rng: Random, file: File) -> File:
    at = rng.randrange(len(file.regions))
    one = file.regions[at]
    start = rng.choice((file.board.start, file.board.end - UNIT, file.board.end, 0x60000000, 0x60100000, file.board.reserved[0][1] & -UNIT))
    faults = (
        replace(one, size=one.size + rng.choice((1, 4096, UNIT // 2))),
        replace(one, size=0),
        replace(one, start=start),
        replace(one, size=rng.choice((UNIT, 16 * UNIT, 31 * UNIT, 1 << 30, 2 << 30, 1 << 33))),
    )
    changed = rng.choice(faults)
    return replace(file, regions=tuple(changed if n == at else other for n, other in enumerate(file.regions)))


def _file_fault(rng: Random, file: File, who: int) -> File:
    sandboxes = file.sandboxes
    faults = (
        replace(file, idle=(*file.idle, rng.choice(CORES))),
        replace(file, idle=file.idle[1:]),
        replace(file, idle=(*file.idle, "uart0")),
        replace(file, sandboxes=sandboxes[:who] + sandboxes[who + 1 :]),
        replace(file, regions=(*file.regions, Region("nobodys_ram", 4 * UNIT))),
        replace(file, sandboxes=(*sandboxes, *(Sandbox(f"more{n}") for n in range(9 - len(sandboxes))))),
        replace(file, sandboxes=tuple(replace(one, rest=True) for one in sandboxes)),
    )
    return rng.choice(faults)


def _sandbox_fault(rng: Random, file: File, one: Sandbox) -> Sandbox:
    anybody = rng.choice([*(other.name for other in file.sandboxes), "cpu0", "uart1"])
    another = rng.choice(file.sandboxes)
    faults = (
        replace(one, cores=()),
        replace(one, cores=(*one.cores, rng.choice(CORES))) if len(one.cores) < 4 else one,
        replace(one, cores=(*one.cores[:-1], rng.choice(("uart0", *CORES)))),
        replace(one, region=""),
        replace(one, region=another.region),
        replace(one, region=rng.choice(("cpu0", "uart0"))),
        replace(one, rest=True),
        replace(one, rest=True, region=""),
        replace(one, linux=not one.linux),
        replace(one, image=rng.choice(("missing.elf", "other.elf", "vmlinuz", "sandbox-kernel.elf", "large.elf", "text"))),
        replace(one, initrd=rng.choice(("rootfs.cpio.gz", "missing.gz"))),
        replace(one, access=(*one.access, rng.choice(("uart0", "uart1", "cpu1", another.name)))),
        replace(one, console=rng.choice(("log", "none", "uart0", "uart1", "cpu2"))),
        replace(one, may_kick=(*one.may_kick, anybody)),
        replace(one, may_kick=()),
        replace(one, log_access=(*one.log_access, anybody)),
        replace(one, accepts=(*one.accepts, anybody)),
        replace(one, accepts=()),
        replace(one, unprotected=rng.choice(UNPROTECTED)),
        replace(one, name="a_name_that_is_longer_than_it_may_be"),
    )
    return rng.choice(faults)


def _health_fault(rng: Random, file: File, one: Sandbox) -> Sandbox:
    anybody = rng.choice([*(other.name for other in file.sandboxes), "cpu0"])
    now = one.health or Health()
    faults = (
        replace(now, on_fault="restart"),
        replace(now, on_fault=""),
        replace(now, max_restarts=rng.choice((0, 1, 1000000, 1000001))),
        replace(now, max_restarts=None),
        replace(now, timeout=rng.choice((0, 99, 100, 10000000, 10000001))),
        replace(now, notify=(anybody,)),
        replace(now, notify=(*now.notify, anybody)),
    )
    return replace(one, health=rng.choice(faults))


# ---- its text, and its tree ---------------------------------------------------------------------------------------------------

Value = str | bytes | tuple[str, ...]  # cells as bytes, text, or references in a tuple that begins with "&"


def _references(labels: tuple[str, ...]) -> Value:
    return ("&", *labels)


def _quad(value: int) -> bytes:
    return struct.pack(">Q", value)


def _cell(value: int) -> bytes:
    return struct.pack(">I", value)


def properties_of(one: Sandbox) -> Iterator[tuple[str, Value]]:
    yield "compatible", "bulkhead,sandbox-v1"
    for name, labels in (
        ("cores", one.cores),
        ("access", one.access),
        ("may-kick", one.may_kick),
        ("log-access", one.log_access),
        ("accepts-notify", one.accepts),
    ):
        if labels:
            yield name, _references(labels)
    if one.region:
        yield "memory-region", _references((one.region,))
    for name, flag in (("takes-the-rest", one.rest), ("trusted-idle", one.trusted_idle)):
        if flag:
            yield name, b""
    if one.linux:
        yield "os,type", "linux"
    yield "image", one.image
    if one.initrd:
        yield "initrd", one.initrd
    if one.console:
        yield "console", one.console if one.console in ("log", "none") else _references((one.console,))
    if one.unprotected:
        yield "unprotected", "\0".join(one.unprotected)


def health_of(health: Health) -> Iterator[tuple[str, Value]]:
    if health.on_fault:
        yield "on-fault", health.on_fault
    if health.max_restarts is not None:
        yield "max-restarts", _cell(health.max_restarts)
    if health.timeout is not None:
        yield "heartbeat-timeout-us", _cell(health.timeout)
    if health.notify:
        yield "notify", _references(health.notify)


def _written(value: Value) -> str:
    if isinstance(value, str):
        return ", ".join(f'"{one}"' for one in value.split("\0"))
    if isinstance(value, tuple):
        return ", ".join(f"<&{label}>" for label in value[1:])
    return "<" + " ".join(f"{cell:#x}" for (cell,) in struct.iter_unpack(">I", value)) + ">"


def _statement(name: str, value: Value) -> str:
    return f"{name};" if value == b"" else f"{name} = {_written(value)};"


def _region_node(region: Region) -> tuple[str, str, bytes]:
    """Its name, and its one property."""
    name = region.label.removesuffix("_ram")
    if region.start is None:
        return name, "size", _quad(region.size)
    return f"{name}@{region.start:x}", "reg", _quad(region.start) + _quad(region.size)


def text_of(file: File) -> str:
    lines = ["#include BOARD_DTSI", "/ {", "reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges;"]
    for region in file.regions:
        node, name, value = _region_node(region)
        lines.append(f"{region.label}: {node} {{ {_statement(name, value)} }};")
    lines += ["};", 'domains { compatible = "bulkhead,partitions-v1";']
    lines += [_statement("idle-cores", _references(file.idle))] if file.idle else []
    for one in file.sandboxes:
        held = " ".join(_statement(*each) for each in properties_of(one))
        health = f" health {{ {' '.join(_statement(*each) for each in health_of(one.health))} }};" if one.health else ""
        lines.append(f"{one.name}: {one.name} {{ {held}{health} }};")
    return "\n".join([*lines, "}; };", ""])


def tree_of(file: File, board: Node) -> Node:
    """What read_source makes of the text. `board` is the board's own tree, with a phandle for every label."""
    root = copy.deepcopy(board)
    phandles = {label: node.phandle for node in root.walk() for label in node.labels}
    labels = [*(region.label for region in file.regions), *(one.name for one in file.sandboxes)]
    phandles |= {label: 1000 + n for n, label in enumerate(labels)}

    def put(parent: Node, name: str, held: Iterator[tuple[str, Value]] | list[tuple[str, Value]], label: str = "") -> Node:
        node = Node(f"{parent.path.rstrip('/')}/{name}", parent, labels=[label] if label else [], location=Location("random.dts", 1))
        for key, value in [*held, *([("phandle", _cell(phandles[label]))] if label else [])]:
            node.properties[key] = Property(key, _data(value, phandles), Location("random.dts", 1), _written(value))
        parent.children[name] = node
        return node

    reserved = put(root, "reserved-memory", [("#address-cells", _cell(2)), ("#size-cells", _cell(2)), ("ranges", b"")])
    for region in file.regions:
        node, name, value = _region_node(region)
        put(reserved, node, [(name, value)], region.label)
    domains = put(
        root, "domains", [("compatible", "bulkhead,partitions-v1"), *([("idle-cores", _references(file.idle))] if file.idle else [])]
    )
    for one in file.sandboxes:
        sandbox = put(domains, one.name, properties_of(one), one.name)
        if one.health:
            put(sandbox, "health", health_of(one.health))
    return root


def _data(value: Value, phandles: dict[str, int]) -> bytes:
    if isinstance(value, str):
        return value.encode() + b"\0"
    if isinstance(value, tuple):
        return b"".join(_cell(phandles[label]) for label in value[1:])
    return value
