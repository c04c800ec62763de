# SPDX-License-Identifier: Apache-2.0
"""Whether a partition file is good, by docs/configuration.md and docs/guest.md alone: nothing of the tool is used.

A row a rule: what it says of a file. True: the file breaks it, and must be refused. False: it does not, so the tool must not say so. None: the
documents leave it open, as they do not say how many bytes a monitor takes, only that 320 KiB are enough; or another mistake hides it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from tests.config.partitions import CORES, PCS, UARTS, UNIT, File, Region, Sandbox, free_units

Verdict = bool | None
LINUX_LEAST = 32  # units: 64 MiB
POOL, PAGE = 320 << 10, 4096
GIC_V2 = ("qemu-aarch64-gicv2", "qemu-armv7")
ELVES = ("sandbox-kernel.elf", "large.elf", "other.elf")
FILES = (*ELVES, "vmlinuz", "rootfs.cpio.gz", "text")


def either(*verdicts: Verdict) -> Verdict:
    if any(one is True for one in verdicts):
        return True
    return None if any(one is None for one in verdicts) else False


def unless(hidden: Verdict, verdict: Verdict) -> Verdict:
    """What cannot be said while something else is wrong."""
    return None if hidden is not False and verdict is False else verdict


# ---- cores --------------------------------------------------------------------------------------------------------------------


def names_no_core(file: File) -> Verdict:
    return any(core not in CORES for one in file.sandboxes for core in one.cores) or any(core not in CORES for core in file.idle)


def core_twice(file: File) -> Verdict:
    named = [core for one in file.sandboxes for core in one.cores if core in CORES]
    idle = [core for core in file.idle if core in CORES]
    if len(set(named)) < len(named) or set(named) & set(idle):
        return True
    return None if len(set(idle)) < len(idle) else False


def left_cores(file: File) -> list[str]:
    named = {core for one in file.sandboxes for core in one.cores} | set(file.idle)
    return [core for core in CORES if core not in named]


def takers(file: File) -> list[Sandbox]:
    return [one for one in file.sandboxes if one.rest]


def without_core(file: File) -> Verdict:
    bare = [one for one in file.sandboxes if not any(core in CORES for core in one.cores)]
    if any(not one.rest and not one.cores for one in bare):
        return True
    if any(one.rest and not one.cores for one in bare):
        return None if len(takers(file)) > 1 or names_no_core(file) or core_twice(file) is not False else not left_cores(file)
    return None if bare else False


def core_unowned(file: File) -> Verdict:
    taken = any(one.rest and not one.cores for one in file.sandboxes)
    return bool(left_cores(file)) and not taken


# ---- memory -------------------------------------------------------------------------------------------------------------------


def used(file: File) -> list[tuple[Sandbox, Region]]:
    return [(one, region) for one in file.sandboxes if (region := file.region_of(one))]


def pins(file: File) -> list[tuple[int, int]]:
    return [(one.start, one.start + one.size) for one in file.regions if one.start is not None]


def overlaps(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def no_region(file: File) -> Verdict:
    return any(one.region and not file.region_of(one) for one in file.sandboxes)


def region_twice(file: File) -> Verdict:
    labels = [region.label for _, region in used(file)]
    return len(set(labels)) < len(labels)


def no_memory(file: File) -> Verdict:
    return any(not one.region and not one.rest for one in file.sandboxes)


def odd_size(file: File) -> Verdict:
    return any(one.size % UNIT or not one.size or (one.start or 0) % UNIT for one in file.regions)


def outside_ram(file: File) -> Verdict:
    return any(start < file.board.start or end > file.board.end for start, end in pins(file))


def over_firmware(file: File) -> Verdict:
    return any(overlaps(pin, held) for pin in pins(file) for held in file.board.reserved)


def pins_overlap(file: File) -> Verdict:
    spans = pins(file)
    return any(overlaps(one, other) for n, one in enumerate(spans) for other in spans[:n])


def linux_small(file: File) -> Verdict:
    return any(one.linux and region.size < LINUX_LEAST * UNIT for one, region in used(file))


def over_window(file: File) -> Verdict:
    """guest.md: on a PC RAM begins at 0, and the window is at 0xfd00_0000."""
    return file.platform in PCS and any(region.size > 0xFD000000 for _, region in used(file))


def rest_takers(file: File) -> list[Sandbox]:
    return [one for one in takers(file) if not one.region]


def image_units(file: File, one: Sandbox) -> int:
    """What its software needs: an ELF of 64 bytes or of 3 MiB where guest.md says that it is linked, Linux what the rule asks for."""
    if one.linux:
        return LINUX_LEAST
    linked, size = (2 << 20 if file.platform in PCS else 0x80000), (3 << 20 if one.image == "large.elf" else 64)
    return -(-(linked + size) // UNIT)


def fits(units: Sequence[int], items: Sequence[int]) -> bool:
    """Whether the items can be dealt out to the stretches, all counted in units: every way is tried."""
    asked = tuple(sorted(items, reverse=True))

    @cache
    def deal(at: int, room: tuple[int, ...]) -> bool:
        if at == len(asked):
            return True
        if sum(room) < sum(asked[at:]):
            return False
        tried = {n: one for n, one in enumerate(room) if one >= asked[at]}
        distinct = {one: n for n, one in tried.items()}.values()
        return any(deal(at + 1, tuple(sorted((*room[:n], room[n] - asked[at], *room[n + 1 :])))) for n in distinct)

    return deal(0, tuple(sorted(units)))


def memory_wrong(file: File) -> bool:
    rules = (no_region, region_twice, no_memory, odd_size, outside_ram, over_firmware, pins_overlap)
    return any(rule(file) is not False for rule in rules) or len(takers(file)) > 1


def full(file: File) -> Verdict:
    """Sure to fit if it does with all a monitor may take, and each copy of a restart in units of its own; sure not to if RAM alone does not."""
    if memory_wrong(file):
        return None
    units = free_units(file.board, pins(file))
    ram = [region.size // UNIT for _, region in used(file) if region.start is None]
    copies = [2 if one.image == "large.elf" else 1 for one in file.sandboxes if one.restarts]
    monitors = [1] * -(-(len(file.sandboxes) * POOL + PAGE) // (6 * POOL))
    rest = sum(image_units(file, one) for one in rest_takers(file))
    if not fits(units, ram) or sum(units) - sum(ram) < rest:
        return True
    everything = [*ram, *copies, *monitors]
    return False if fits(units, everything) and sum(units) - sum(everything) >= rest else None


def region_unused(file: File) -> Verdict:
    labels = {region.label for _, region in used(file)}
    return any(one.label not in labels for one in file.regions)


# ---- devices and consoles -----------------------------------------------------------------------------------------------------


def no_device(file: File) -> Verdict:
    return any(label not in UARTS for one in file.sandboxes for label in one.access)


def device_twice(file: File) -> Verdict:
    named = [label for one in file.sandboxes for label in set(one.access) if label in UARTS]
    if len(set(named)) < len(named):
        return True
    return None if any(len(set(one.access)) < len(one.access) for one in file.sandboxes) else False


def uart_console(one: Sandbox) -> bool:
    return one.console not in ("", "log", "none")


def console_foreign(file: File) -> Verdict:
    named = {label for one in file.sandboxes for label in one.access}

    def foreign(one: Sandbox) -> Verdict:
        if not uart_console(one) or one.console in one.access:
            return False
        if one.console not in UARTS:
            return None
        return unless(len(takers(file)) > 1, not (one.rest and one.console not in named))

    return either(*map(foreign, file.sandboxes))


def console_no_uart(file: File) -> Verdict:
    return any(uart_console(one) and one.console not in UARTS for one in file.sandboxes)


def console_kind(file: File) -> Verdict:
    return any(one.console in ("", "log") if one.linux else one.console == "none" for one in file.sandboxes)


# ---- software -----------------------------------------------------------------------------------------------------------------


def initrd_native(file: File) -> Verdict:
    return any(one.initrd and not one.linux for one in file.sandboxes)


def no_file(file: File) -> Verdict:
    return any(name and name not in FILES for one in file.sandboxes for name in (one.image, one.initrd if one.linux else ""))


def wrong_kind(file: File) -> Verdict:
    return any(one.image in FILES and (one.image != "vmlinuz" if one.linux else one.image not in ELVES) for one in file.sandboxes)


def wrong_machine(file: File) -> Verdict:
    return any(not one.linux and one.image == "other.elf" for one in file.sandboxes)


def image_outside(file: File) -> Verdict:
    native = [(one, region) for one, region in used(file) if not one.linux and one.image in ELVES[:2]]
    return any(region.size < image_units(file, one) * UNIT for one, region in native)


# ---- references ---------------------------------------------------------------------------------------------------------------


def refers_wrongly(name: str) -> Callable[[File], Verdict]:
    """A list of other sandboxes, each once."""

    def rule(file: File) -> Verdict:
        names = {one.name for one in file.sandboxes}
        lists = [(one.name, getattr(one, name)) for one in file.sandboxes]
        return any(len(set(held)) < len(held) or own in held or not set(held) <= names for own, held in lists)

    return rule


# ---- health -------------------------------------------------------------------------------------------------------------------


def watched(file: File) -> list[Sandbox]:
    return [one for one in file.sandboxes if one.health and one.health.timeout is not None]


def nobody_watches(file: File) -> Verdict:
    wrong = any(not any(one.name in other.may_kick for other in file.sandboxes if other is not one) for one in watched(file))
    zero = any(one.health and one.health.timeout == 0 for one in file.sandboxes)  # which R083 refuses
    return None if wrong and zero else wrong


def restarts_unbounded(file: File) -> Verdict:
    return any(one.restarts and one.health and not 1 <= (one.health.max_restarts or 0) <= 1_000_000 for one in file.sandboxes)


def linux_beats(file: File) -> Verdict:
    return any(one.linux for one in watched(file))


def odd_timeout(file: File) -> Verdict:
    return any(one.health and not 100 <= (one.health.timeout or 0) <= 10_000_000 for one in watched(file))


def tells_of_none(file: File) -> Verdict:
    return any(one.health and one.health.max_restarts is not None and not one.restarts for one in file.sandboxes)


def notices(file: File) -> list[tuple[Sandbox, Sandbox | None]]:
    told = {one.name: one for one in file.sandboxes}
    return [(one, told.get(name)) for one in file.sandboxes if one.health for name in one.health.notify]


def notifies_nobody(file: File) -> Verdict:
    twice = any(one.health and len(set(one.health.notify)) < len(one.health.notify) for one in file.sandboxes)
    return twice or any(other is None or other is one for one, other in notices(file))


def not_accepted(file: File) -> Verdict:
    open_ones = any(other is one for one, other in notices(file))
    wrong = any(other and other is not one and one.name not in other.accepts for one, other in notices(file))
    return unless(open_ones, wrong)


def linux_is_told(file: File) -> Verdict:
    open_ones = any(other is one for one, other in notices(file))
    return unless(open_ones, any(other and other is not one and other.linux for one, other in notices(file)))


# ---- protections --------------------------------------------------------------------------------------------------------------


def irq_alone(file: File) -> Verdict:
    return file.platform in GIC_V2 and any("irq" in one.unprotected and "ipi" not in one.unprotected for one in file.sandboxes)


def ipi_of_many(file: File) -> Verdict:
    if file.platform not in PCS:
        return False
    open_ones = [one for one in file.sandboxes if "ipi" in one.unprotected]
    if any(one.rest and not one.cores for one in open_ones):
        return None
    return any(len(one.cores) > 1 for one in open_ones)


def unprotected(file: File) -> Verdict:
    return any(one.unprotected for one in file.sandboxes)


def may_be_wide(file: File) -> Verdict:
    """What is open takes rows and tables, and nobody says how many."""
    return None if unprotected(file) else False


@dataclass(frozen=True)
class Row:
    """What the tool may say where `broken` is not False: one of these rules."""

    rules: tuple[str, ...]
    broken: Callable[[File], Verdict]


def row(broken: Callable[[File], Verdict], *numbers: str) -> Row:
    return Row(tuple(f"BH-{number}" for number in numbers), broken)


ERRORS = (
    row(lambda file: len(file.sandboxes) > 8, "R010"),
    row(lambda file: any(len(one.name) > 31 for one in file.sandboxes), "R011"),
    row(lambda file: not file.sandboxes, "R014"),
    row(lambda file: len(takers(file)) > 1, "R015"),
    row(names_no_core, "R020"),
    row(core_twice, "R021"),
    row(without_core, "R023"),
    row(no_region, "R030"),
    row(region_twice, "R031"),
    row(no_memory, "R032"),
    row(odd_size, "R033"),
    row(outside_ram, "R034"),
    row(over_firmware, "R035"),
    row(pins_overlap, "R036"),
    row(full, "R037", "R038", "R063", "R065", "R084"),
    row(linux_small, "R038"),
    row(over_window, "R039"),
    row(no_device, "R040"),
    row(device_twice, "R041"),
    row(console_foreign, "R050"),
    row(console_no_uart, "R051"),
    row(console_kind, "R052"),
    row(refers_wrongly("may_kick"), "R053"),
    row(refers_wrongly("log_access"), "R054"),
    row(refers_wrongly("accepts"), "R058"),
    row(initrd_native, "R055"),
    row(no_file, "R060"),
    row(wrong_kind, "R061"),
    row(wrong_machine, "R062"),
    row(image_outside, "R063"),
    row(may_be_wide, "R070", "R071", "R072"),
    row(nobody_watches, "R080"),
    row(restarts_unbounded, "R081"),
    row(linux_beats, "R082"),
    row(odd_timeout, "R083"),
    row(tells_of_none, "R085"),
    row(notifies_nobody, "R086"),
    row(not_accepted, "R087"),
    row(linux_is_told, "R088"),
    row(irq_alone, "R091"),
    row(ipi_of_many, "R092"),
)
WARNINGS = (row(core_unowned, "W020"), row(region_unused, "W030"), row(unprotected, "W090"))


@dataclass(frozen=True)
class Judgement:
    must: frozenset[str]  # of each row that is broken, its rules: one of the rows' must be told
    may: frozenset[str]

    @property
    def good(self) -> Verdict:
        if self.must:
            return False
        return None if self.may else True


def judge(file: File, rows: Sequence[Row]) -> Judgement:
    verdicts = [(each, each.broken(file)) for each in rows]
    must = frozenset(rule for each, verdict in verdicts if verdict is True for rule in each.rules)
    return Judgement(must, must | {rule for each, verdict in verdicts if verdict is None for rule in each.rules})
