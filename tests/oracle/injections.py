# SPDX-License-Identifier: Apache-2.0
"""One wrong entry of every kind, put into the snapshot of a machine that runs tests/emulated/oracle.dts, and what must be said of it.

`east` is the sandbox whose confinement is spoilt; it owns a UART on every machine. East and west restart.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bhtool.config.span import Span
from bhtool.oracle import svm, vmx
from bhtool.oracle.judge import Examined, Verdict
from bhtool.oracle.policy import POOL_CRASH
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.walk import Entry, Root, span

VICTIM, NEIGHBOUR = "east", "west"
ADDRESS = 0x000FFFFFFFFFF000
PAGE, LARGE, HUGE = range(3)
UNUSED = 1 << 55  # a bit no format here gives a meaning in use
DEVICE: Mapping[str, tuple[int, int]] = {  # (mask, value) of a leaf's memory type
    "EPT": (0x38, 0),
    "NPT": (0x18, 0x18),
    "VMSAv8-64 stage 2": (0x3C, 0x04),
    "LPAE stage 2": (0x3C, 0x04),
}
EXECUTE: Mapping[str, tuple[int, int]] = {
    "EPT": (4, 4),
    "NPT": (1 << 63, 0),
    "VMSAv8-64 stage 2": (1 << 54, 0),
    "LPAE stage 2": (1 << 54, 0),
}


@dataclass(frozen=True)
class Bench:
    """A snapshot in which everything is right."""

    snapshot: Snapshot
    verdict: Verdict

    def one(self, name: str = VICTIM) -> Examined:
        return next(one for one in self.verdict.sandboxes if one.policy.sandbox == name)

    @property
    def format(self) -> str:
        root = self.one().confinement.root
        assert root is not None
        return root.format.name

    def gpa(self, grant: str) -> int:
        return next(one.gpa for one in self.one().policy.grants if one.name == grant)

    def entry(self, gpa: int, level: int, name: str = VICTIM) -> int:
        """Where the entry of that level lies."""
        return self._entry(self.one(name).confinement.root, gpa, level)

    def _entry(self, root: Root | None, gpa: int, level: int) -> int:
        assert root is not None
        table = root.hpa
        for above in range(root.levels - 1, level, -1):
            found: Entry = root.format.decode(self.snapshot.word(self._slot(table, gpa, above)), above)
            assert found.kind == "table"
            table = found.hpa
        return self._slot(table, gpa, level)

    @staticmethod
    def _slot(table: int, gpa: int, level: int) -> int:
        return table + 8 * (gpa // span(level) % 512)

    def word(self, gpa: int, level: int = PAGE, name: str = VICTIM) -> int:
        return self.snapshot.word(self.entry(gpa, level, name))

    def put(self, gpa: int, word: int, level: int = PAGE) -> Snapshot:
        return self.snapshot.changing(self.entry(gpa, level), word)

    def monitor(self, va: int, change: Callable[[int], int]) -> Snapshot:
        """The leaf, or hole in a table of pages, that the victim's monitor has there, changed."""
        one = self.one()
        leaf = next((leaf for leaf in one.monitor.leaves if leaf.gpa <= va < leaf.gpa + leaf.size), None)
        level = next(level for level in range(3) if span(level) == leaf.size) if leaf else PAGE
        at = self._entry(one.confinement.monitor, va, level)
        return self.snapshot.changing(at, change(self.snapshot.word(at)))

    def reach(self, name: str) -> int:
        return next(one.gpa for one in self.one().policy.reach if one.name == name)

    def code(self) -> int:
        return next(leaf.gpa for leaf in self.one().monitor.leaves if "x" in leaf.access)

    def map_bit(self, frames: tuple[int, ...], bit: int) -> Snapshot:
        """One bit of a permission map turned over."""
        address = frames[bit // 8 // FRAME] + bit // 8 % FRAME & ~7
        return self.snapshot.changing(address, self.snapshot.word(address) ^ 1 << bit % 64)

    def control(self, offset: int, change: Callable[[int], int], name: str = VICTIM) -> Snapshot:
        """A word of the control structure changed."""
        address = next(iter(self.one(name).confinement.frames)) + offset
        return self.snapshot.changing(address & ~7, change(self.snapshot.word(address & ~7)))

    def register(self, name: str, change: Callable[[int], int]) -> Snapshot:
        """ARM: a register of the victim's core changed; `name` without its suffix."""
        (core,) = self.one().policy.cores
        found = dict(self.snapshot.registers[core])
        key = next(one for one in found if one.startswith(name))
        found[key] = change(found[key])
        return replace(self.snapshot, registers={**self.snapshot.registers, core: found})

    def window_leaf(self, hpa: int) -> Snapshot:
        """After the information page: a leaf like the log's, to another frame."""
        return self.put(self.gpa("statistics") + 0x2000, self.word(self.gpa("log")) & ~ADDRESS | hpa)

    def copy(self, name: str = VICTIM) -> Span:
        found = self.one(name).policy.copy
        assert found is not None
        return found

    def ram(self, name: str) -> int:
        return next(one.hpa for one in self.one(name).policy.grants if one.name == "RAM")


def masked(word: int, bits: tuple[int, int]) -> int:
    mask, value = bits
    return word & ~mask | value


def widened(bench: Bench) -> Snapshot:
    stats, log = bench.gpa("statistics"), bench.gpa("log")
    return bench.put(stats, bench.word(log) & ~ADDRESS | bench.word(stats) & ADDRESS)


def whole_gigabyte(bench: Bench) -> Snapshot:
    ram = bench.gpa("RAM")
    leaf = bench.word(ram, LARGE)
    return bench.put(ram, leaf & ~ADDRESS | leaf & ADDRESS & -span(HUGE), HUGE)


def beyond_ram(bench: Bench) -> Snapshot:
    """One large leaf more than granted, to the frames after them, which are west's."""
    end = bench.gpa("RAM") + (16 << 20)
    return bench.put(end, bench.word(end - span(LARGE), LARGE) + span(LARGE), LARGE)


def shared_table(bench: Bench) -> Snapshot:
    ram = bench.gpa("RAM")
    return bench.put(ram, bench.word(ram, HUGE, NEIGHBOUR), HUGE)


def to_the_root(bench: Bench) -> Snapshot:
    ram, root = bench.gpa("RAM"), bench.one().confinement.root
    assert root is not None
    return bench.put(ram, bench.word(ram, HUGE) & ~ADDRESS | root.hpa, HUGE)


def table_nowhere(bench: Bench) -> Snapshot:
    return bench.put(bench.gpa("RAM"), bench.word(bench.gpa("RAM"), HUGE) & ~ADDRESS | 0xF0000000, HUGE)


def own_root(bench: Bench) -> Snapshot:
    root = bench.one().confinement.root
    assert root is not None
    return bench.window_leaf(root.hpa)


def register_bit(bench: Bench, number: int, write: bool) -> Snapshot:
    """The bit of a register in the map's first range (0 to 0x1fff), by each vendor's layout."""
    maps = bench.one().confinement.maps
    assert maps is not None
    bit = 2 * number + write if bench.format == "NPT" else number + write * 8 * 0x800
    return bench.map_bit(maps.registers, bit)


def port_bit(bench: Bench, port: int) -> Snapshot:
    maps = bench.one().confinement.maps
    assert maps is not None
    return bench.map_bit(maps.ports, port)


@dataclass(frozen=True)
class Injection:
    what: str
    change: Callable[[Bench], Snapshot]
    shows: str  # pattern of one finding

    def found(self, findings: list[str]) -> bool:
        return any(re.search(self.shows, one) for one in findings)


EVERYWHERE = (
    Injection(
        "extra leaf to a neighbour's RAM",
        lambda b: b.window_leaf(b.ram(NEIGHBOUR)),
        "^east: memory 0x[0-9a-f]+2000: reaches .*, which west reaches, too",
    ),
    Injection("extra leaf that nobody granted", lambda b: b.window_leaf(b.ram(NEIGHBOUR)), "^east: memory .*2000: mapped .*not granted"),
    Injection(
        "leaf to the crash record",
        lambda b: b.window_leaf(b.one().policy.pool.start + POOL_CRASH),
        "^east: memory .*, crash record of east",
    ),
    Injection("leaf to its own boot snapshot", lambda b: b.window_leaf(b.copy().start), "^east: memory .*, boot snapshot of east"),
    Injection(
        "leaf to the end of a neighbour's boot snapshot",
        lambda b: b.window_leaf(b.copy(NEIGHBOUR).end - FRAME),
        "^east: memory .*, boot snapshot of west",
    ),
    Injection("leaf to the sandbox's own root", own_root, "^east: memory .*, monitor of east"),
    Injection("leaf to the board's reserved memory", lambda b: b.window_leaf(b.snapshot.base), "^east: memory .*, reserved by the board"),
    Injection("wider permission", widened, "^east: memory .*: statistics is open for rw, granted for r$"),
    Injection(
        "the log can be executed",
        lambda b: b.put(b.gpa("log"), masked(b.word(b.gpa("log")), EXECUTE[b.format])),
        "^east: memory .*: log is open for rwx, granted for rw$",
    ),
    Injection(
        "wrong memory type",
        lambda b: b.put(b.gpa("RAM"), masked(b.word(b.gpa("RAM"), LARGE), DEVICE[b.format]), LARGE),
        "^east: memory .*: RAM has memory type device, should have ram",
    ),
    Injection("missing page", lambda b: b.put(b.gpa("statistics"), 0), "^east: memory .*: statistics is granted .*, but not mapped"),
    Injection(
        "wrong output address",
        lambda b: b.put(b.gpa("log"), b.word(b.gpa("log")) + FRAME),
        "^east: memory .*: log leads to 0x([0-9a-f]+)[0-9a-f]{2}000 instead of 0x\\1[0-9a-f]{2}000",
    ),
    Injection(
        "unused bit of a leaf", lambda b: b.put(b.gpa("log"), b.word(b.gpa("log")) | UNUSED), "^east: table .*0x80000000000000, which must"
    ),
    Injection(
        "unused bit of a table",
        lambda b: b.put(b.gpa("log"), b.word(b.gpa("log"), HUGE) | UNUSED, HUGE),
        "^east: table .*0x80000000000000, which must",
    ),
    Injection("hole that is not empty", lambda b: b.put(b.gpa("log") - FRAME, UNUSED), "^east: table .*0x80000000000000, which must"),
    Injection("large leaf that covers too much", whole_gigabyte, "^east: memory .*: mapped to .*, but not granted"),
    Injection("large leaf over monitors", whole_gigabyte, "^east: memory .*, monitor of north"),
    Injection("one large leaf too many", beyond_ram, "^east: memory .*: reaches .*, which west reaches, too"),
    Injection("two roots share a table", shared_table, "^east: table .*: table is also west's table"),
    Injection("another's table", shared_table, "^east: control .*: table is not in its monitor's pool"),
    Injection("table that is its own root", to_the_root, "^east: table .*: table .* is reached by two entries"),
    Injection("table that is nowhere", table_nowhere, "^east: table .*: table 0xf0000000 is not in RAM"),
)

ON_PCS = (
    Injection("foreign port", lambda b: port_bit(b, 0x70), "^east: port 0x70: to 0x70: may be used, but is not granted"),
    Injection("missing port", lambda b: port_bit(b, 0x2F8), "^east: port 0x2f8: to 0x2f8: is granted, but cannot be used"),
    Injection("last port", lambda b: port_bit(b, 0xFFFF), "^east: port 0xffff: to 0xffff: may be used"),
    Injection("command register", lambda b: register_bit(b, 0x830, True), "^east: register 0x830: .*may be written, but"),
    Injection("clock can be set", lambda b: register_bit(b, 0x10, True), "^east: register 0x10: .*may be written, but"),
    Injection("APIC base can be read", lambda b: register_bit(b, 0x1B, False), "^east: register 0x1b: .*may be read, but"),
    Injection("clock cannot be read", lambda b: register_bit(b, 0x10, False), "^east: register 0x10: .*cannot be read"),
)


def exchange(offset: int) -> Callable[[Bench], Snapshot]:
    """The neighbour's word of the control structure instead of its own."""

    def change(bench: Bench) -> Snapshot:
        theirs = bench.snapshot.word(next(iter(bench.one(NEIGHBOUR).confinement.frames)) + offset)
        return bench.control(offset, lambda _: theirs)

    return change


ON_SVM = (
    Injection("access beyond the last port", lambda b: port_bit(b, 0x10000), "^east: port 0x10000: .*may be used beyond the last one"),
    Injection(
        "no user bit",
        lambda b: b.put(b.gpa("log"), b.word(b.gpa("log")) & ~4),
        "^east: memory .*: log is open for nothing, granted for rw",
    ),
    Injection("MSRs do not exit", lambda b: b.control(svm.INTERCEPTS_3, lambda w: w & ~(1 << 32 + 28)), "^east: control .*MSR_PROT"),
    Injection("CLGI does not exit", lambda b: b.control(svm.INTERCEPTS_4, lambda w: w & ~(1 << 5)), "^east: control .*CLGI"),
    Injection("another's root", exchange(svm.N_CR3), "^east: table .*: table is also west's table"),
    Injection("another's port map", exchange(svm.IOPM_BASE), "^east: table .*: port map is also west's port map"),
    Injection("another's ASID", exchange(svm.ASID), "^east: control .*: tag 4 is also west's"),
    Injection("no flush", lambda b: b.control(svm.ASID, lambda w: w & 0xFFFFFFFF), "^east: control .*: 1 blocks flush the TLB"),
    Injection("no nested paging", lambda b: b.control(svm.NP_ENABLE, lambda _: 0), "^east: control .*: 2 frames .* look like a VMCB"),
)
ON_VMX = (
    Injection(
        "write without read",
        lambda b: b.put(b.gpa("log"), b.word(b.gpa("log")) & ~1),
        "^east: table .*: entry may be written and not read",
    ),
    Injection(
        "MSRs do not exit by the map", lambda b: b.control(vmx.offset(vmx.PROCESSOR), lambda w: w & ~(1 << 28)), "^east: .*use MSR bitmaps"
    ),
    Injection("NMIs do not exit", lambda b: b.control(vmx.offset(vmx.PIN), lambda w: w & ~(1 << 3)), "^east: control .*NMI exiting"),
    Injection("NMIs are not virtual", lambda b: b.control(vmx.offset(vmx.PIN), lambda w: w & ~(1 << 5)), "^east: control .*virtual NMIs"),
    Injection("EFER stays the guest's", lambda b: b.control(vmx.offset(vmx.EXIT), lambda w: w & ~(1 << 21)), "^east: .*load IA32_EFER"),
    Injection("NE is the guest's", lambda b: b.control(vmx.offset(vmx.CR0_MASK), lambda w: w & ~(1 << 5)), "^east: .*CR0 .*mask .*NE"),
    Injection("MCE is the guest's", lambda b: b.control(vmx.offset(vmx.CR4_MASK), lambda w: w & ~(1 << 6)), "^east: .*CR4 .*mask .*MCE"),
    Injection("VMXE is the guest's", lambda b: b.control(vmx.offset(vmx.CR4_MASK), lambda w: w & ~(1 << 13)), "^east: .*CR4 .*mask .*VMXE"),
    Injection("CET is the guest's", lambda b: b.control(vmx.offset(vmx.CR4_MASK), lambda w: w & ~(1 << 23)), "^east: .*CR4 .*mask .*CET"),
    Injection("another's root", exchange(vmx.offset(vmx.EPTP)), "^east: table .*: table is also west's table"),
    Injection("another's register map", exchange(vmx.offset(vmx.MSR_BITMAP)), "^east: table .*: register map is also west's"),
    Injection("uncached tables", lambda b: b.control(vmx.offset(vmx.EPTP), lambda w: w & ~7), "^east: control .*EPT pointer"),
)


def cleared(register: str, bit: int, name: str) -> Injection:
    """ARM: a bit that must be set."""
    return Injection(
        f"{register} without {name}", lambda b: b.register(register, lambda w: w & ~(1 << bit)), f"^east: control .* have {name}\\b"
    )


def added(register: str, bit: int, name: str) -> Injection:
    """ARM: a bit that must be clear."""
    return Injection(f"{register} with {name}", lambda b: b.register(register, lambda w: w | 1 << bit), f"^east: control .* has {name}\\b")


ON_ARM = (
    cleared("HCR", 1, "SWIO"),
    cleared("HCR", 5, "AMO"),
    cleared("HCR", 20, "TIDCP"),
    cleared("HCR", 21, "TAC"),
    added("HCR", 12, "DC"),
    added("HCR", 27, "TGE"),
    cleared("CPTR", 20, "TTA"),
    *(cleared("MDCR", bit, name) for bit, name in ((10, "TDOSA"), (11, "TDRA"))),
    Injection(
        "access flag clear",
        lambda b: b.put(b.gpa("log"), b.word(b.gpa("log")) & ~(1 << 10)),
        "^east: table .*: entry .*lacks its access flag",
    ),
    Injection("stage 2 off", lambda b: b.register("HCR", lambda w: w & ~1), "^east: control .*VM"),
    Injection("SMC does not trap", lambda b: b.register("HCR", lambda w: w & ~(1 << 19)), "^east: control .*TSC"),
    Injection("another's VMID", lambda b: b.register("VTTBR", lambda w: w & ADDRESS & ~(0xF << 48) | 4 << 48), "^east: control .*tag 4 is"),
    Injection(
        "another's root",
        lambda b: b.register("VTTBR", lambda w: w & ~0xFFFFFFFF | next(iter(b.one(NEIGHBOUR).tree.tables))),
        "^east: table .*: table is also west's table",
    ),
)
ON_AARCH64 = (
    cleared("HCR", 31, "RW"),
    *(added("HCR", bit, name) for bit, name in ((34, "E2H"), (39, "TME"), (42, "NV"), (47, "FIEN"), (56, "ATA"))),
    *(cleared("CPTR", bit, name) for bit, name in ((8, "TZ"), (12, "TSM"), (30, "TAM"))),
    *(cleared("MDCR", bit, name) for bit, name in ((14, "TPMS"), (17, "HPMD"), (19, "TTRF"), (23, "HCCD"), (27, "TDCC"))),
)
# Of a monitor's own tables. ARM ARM D8.3: bits 4:2 memory type, 7 read-only, 54 execute never.
ON_EL2 = (
    Injection(
        "a monitor maps another's pool",
        lambda b: b.monitor(b.one(NEIGHBOUR).policy.pool.start, lambda _: b.one(NEIGHBOUR).policy.pool.start | 0x0040000000000743),
        "^east: monitor .*: mapped to .* \\(rw\\), but not granted",
    ),
    Injection(
        "a monitor without kick mailboxes",
        lambda b: b.monitor(b.reach("kick mailboxes"), lambda _: 0),
        "^east: monitor .*: kick mailboxes is .* not mapped",
    ),
    Injection(
        "a distributor like RAM",
        lambda b: b.monitor(b.reach("distributor"), lambda w: w & ~0x1C),
        "^east: monitor .*: distributor has memory type",
    ),
    Injection(
        "a boot snapshot that its monitor may write",
        lambda b: b.monitor(b.copy().start, lambda w: w & ~(1 << 7)),
        "^east: monitor .*: boot snapshot is open for rw, granted for r$",
    ),
    Injection(
        "a monitor's RAM of its sandbox leads to another's",
        lambda b: b.monitor(b.reach("RAM of its sandbox"), lambda w: w & ~ADDRESS | b.ram(NEIGHBOUR)),
        "^east: monitor .*: RAM of its sandbox leads to",
    ),
    Injection(
        "a kicker without its victim's root",
        lambda b: b.monitor(next(iter(b.one("south").tree.tables)), lambda _: 0),
        "^east: monitor .*: root of south is granted .*, but not mapped",
    ),
    Injection(
        "a root of one who is not to be kicked",
        lambda b: b.monitor(
            next(iter(b.one(NEIGHBOUR).tree.tables)), lambda _: next(iter(b.one(NEIGHBOUR).tree.tables)) | 0x0040000000000743
        ),
        "^east: monitor .*: mapped to .* \\(rw\\), but not granted",
    ),
    Injection(
        "code that its monitor may write", lambda b: b.monitor(b.code(), lambda w: w & ~(1 << 7)), "^east: monitor .*: may write the code"
    ),
    Injection(
        "a monitor on another's tables",
        lambda b: b.register("TTBR0_EL2", lambda _: next(iter(b.one(NEIGHBOUR).monitor.tables))),
        "^east: monitor .*: a table of its own is not in its pool",
    ),
)
ON_GICV3 = (cleared("HCR", 3, "FMO"),)
ON_ARMV7 = (
    *(cleared("CPTR", number, f"TCP{number}") for number in (*range(10), 12, 13)),
    cleared("MDCR", 9, "TDA"),
    cleared("HSTR", 15, "T15"),
    cleared("HSTR", 17, "TJDBX"),
)
BY_FORMAT = {
    "NPT": (*EVERYWHERE, *ON_PCS, *ON_SVM),
    "EPT": (*EVERYWHERE, *ON_PCS, *ON_VMX),
    "VMSAv8-64 stage 2": (*EVERYWHERE, *ON_ARM, *ON_AARCH64, *ON_EL2),
    "LPAE stage 2": (*EVERYWHERE, *ON_ARM, *ON_ARMV7),
}
