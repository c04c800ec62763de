# SPDX-License-Identifier: Apache-2.0
"""Why a sandbox entered its monitor: as a count, and as the reason of a crash record. One row for each enumerator of enum bh_exit_reason.

docs/codes.md is made of this table, `bulkhead explain` and crash records print it.
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.codes.entry import Entry
from bhtool.codes.header import enumerators

PREFIX = "BH_EXIT_"
COUNT = "BH_EXIT_REASONS"
NO_CRASH = "It never ends the sandbox."


@dataclass(frozen=True)
class Reason:
    name: str
    counts: str  # what an exit of this reason is
    crash: str  # when it ends the sandbox
    did: str = ""  # in a crash record's first line; empty: an access, which the record itself describes
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    example: str = ""


REASONS = (
    Reason(
        "kick",
        "Another monitor asked for attention, or another core of the same sandbox did: to look at a heartbeat, to start or stop a core.",
        NO_CRASH,
        "a kick",
        remedies=("nothing; whom `may-kick` names, and how often that one kicks, decides how many there are",),
    ),
    Reason(
        "memory",
        "An access that stage 2 does not allow: the address is not granted, or not for reading, writing or executing.",
        "It ends the sandbox, which is parked, or restarted if it may.",
        causes=(
            "a pointer that is wild, or null (on ARM nothing lies at address 0; on a PC RAM does)",
            "an exception of its own without vectors: on AArch64 the fetch is at 0x200 (0x280: an interrupt), on ARMv7 at 0x4 to 0x1c",
            "a driver for a device that `access` does not list",
            "an address of the bare board where the sandbox has none: guest-physical RAM starts at 0x40000000 on ARM, at 0 on a PC",
            "RAM that is smaller than the program believes, or a stack that has grown out of it",
            "a write to a page that is read only: statistics, the information page, another's log",
        ),
        remedies=(
            "read the line of the record that says whose the address is, and whether a grant is missing",
            "a device: add it to `access`; RAM: make the `memory-region` larger",
            "an exception of its own: set vectors (VBAR) first; the record says where it came from and what it was",
            "otherwise look at the function and line of `pc`, or stop there with `tools/bulkhead debug`",
        ),
        example=(
            "south │ parked: write of 8 bytes at memory 0x70000000, value 0x0\n"
            "south │   0x70000000 is nothing on this machine that a sandbox can have; `access` of `south` (my.dts:34) does not grant it"
        ),
    ),
    Reason(
        "device",
        "An access to a device register that is filtered: interrupt distributor, redistributors, I/O APIC, PCI configuration.",
        "It ends the sandbox if the register has no such width or alignment, or if a line is sent to a core that is not the sandbox's.",
        causes=(
            "on a PC, an I/O APIC or ECAM access by an instruction that is no plain MOV of a register (a compiler's `and`, `or` or `xchg` in place)",
            "an access of 1, 2 or 8 bytes to a register of 4",
            "on a PC, an I/O APIC entry with a destination, vector or delivery mode outside the grant",
        ),
        remedies=("access such registers through a function that loads and stores one aligned 32-bit word",),
    ),
    Reason(
        "port",
        "An access to an I/O port that is not granted. Linux finds an empty bus there; PCI configuration ports are filtered.",
        "It ends a native sandbox, and Linux only by a string instruction (INS, OUTS).",
        causes=(
            "a driver for a device that `access` does not list",
            "code of the bare PC: the 8259 (0x20, 0xa0), the timer (0x40), CMOS (0x70), delays by port 0x80, reset by 0x64 or 0xcf9",
        ),
        remedies=("add the device to `access`, or leave that driver out; docs/registers-x86_64.md lists the ports",),
    ),
    Reason(
        "register",
        "An access to an MSR or a system register that is filtered.",
        "It does not end the sandbox: what it may not have gives it the exception of a machine without it (#GP, #UD, Undefined).",
        causes=("on GICv3, a kernel that masks by ICC_PMR_EL1 at each critical section: an exit each",),
        remedies=("docs/registers-*.md list every register; mask by PSTATE.I rather than by priority where exits count",),
    ),
    Reason(
        "ipi",
        "An interrupt that the sandbox sends to a core: one exit each.",
        "It ends the sandbox if it names a core that is not the sandbox's, an SMI, or on ARM the SGI that is the monitor's (15).",
        "an inter-processor interrupt outside its grant",
        causes=(
            "core numbers taken from the bare board: send to `hardware_id` of struct bh_info, boot core first",
            "a broadcast to a list of cores that are not all the sandbox's",
            "an interrupt to a core that was not given in `cores`",
        ),
        remedies=('give the sandbox that core, or send to its own only; docs/guest.md, "Several cores"',),
    ),
    Reason(
        "call",
        "A hypercall of the entry contract.",
        "It does not end the sandbox: what may not be called returns a negative number (enum bh_result).",
        "a hypercall no sandbox may make",
        remedies=("look at the result: `tools/bulkhead explain -2`",),
    ),
    Reason(
        "firmware",
        "A firmware call: PSCI, by HVC or SMC.",
        "It does not end the sandbox, unless that asks for it (SYSTEM_OFF): unknown functions return -1.",
        "a firmware call no sandbox may make",
    ),
    Reason("identify", "CPUID. Linux executes it now and then, most of it while it boots.", NO_CRASH, "CPUID"),
    Reason(
        "idle",
        "On ARM, WFI where another sandbox may kick this one: one exit for each idle entry, none under load.",
        NO_CRASH,
        "WFI",
        remedies=("`trusted-idle` in the partition file takes these exits away, for a promise (docs/not-isolated.md)",),
    ),
    Reason(
        "long",
        "On a PC, an instruction that takes long (WBINVD, INVD: skipped) or an exception that could repeat for ever (#DB, #AC).",
        "It ends the sandbox if a #DB or #AC is raised by its own delivery.",
        "an exception that would be delivered for ever",
        causes=("an IDT or a handler's stack on which a data breakpoint stands, or which lies misaligned with AC checks on",),
        remedies=("look at the handler of vector 1 or 17 and its stack",),
    ),
    Reason(
        "forbidden",
        "An instruction that a sandbox does not have: VMRUN, MONITOR, RDPMC, HVC or SMC with a strange number.",
        "It does not end the sandbox, which takes an undefined-instruction exception.",
        "an instruction sandboxes do not have",
        remedies=("leave it out; CPUID and the ID registers show what there is",),
    ),
    Reason(
        "reset",
        "On a PC, the core shut itself down: a triple fault, or an INIT.",
        "It ends the sandbox, which is parked, or restarted if it may.",
        "a reset, such as a triple fault",
        causes=(
            "an exception before the program has loaded its IDT: the first page fault or division error becomes a triple fault",
            "a handler without a stack: RSP points out of RAM",
            "page tables of its own that do not map the code that loads them",
        ),
        remedies=(
            "load an IDT first of all, whose handlers print",
            "`tools/bulkhead debug SANDBOX` stops at its first instruction; step from there",
        ),
    ),
    Reason(
        "error",
        "The machine reported something that no table of the monitor knows: an external abort, a failed entry, a trap of the monitor itself.",
        "It ends the sandbox; one whose monitor trapped never begins again.",
        "something the monitor has no word for",
        causes=("an external abort: a device that answers no access of that kind", "hardware that a board tree describes wrongly"),
        remedies=(
            "read the machine's words of the record: syndrome (ARM), exit code or exit reason (PC), as the processor's manual lists them",
        ),
    ),
    Reason(
        "hang",
        "No exit: the sandbox was kicked, and its heartbeat had not moved for `heartbeat-timeout-us`.",
        "It ends the sandbox, which is parked, or restarted if it may.",
        "nothing: it missed its heartbeat",
        causes=(
            "an endless loop or a deadlock; `pc` is where the kick found it, which may be anywhere in the loop",
            "interrupts masked for longer than the timeout",
            "a timeout shorter than the slowest path from beat to beat",
        ),
        remedies=("look at function, line and callers in the record; or make `heartbeat-timeout-us` longer",),
    ),
)
BY_NAME = {reason.name: reason for reason in REASONS}


def entries() -> list[Entry]:
    numbers = enumerators("bh_exit_reason")
    return [_entry(reason, numbers[PREFIX + reason.name.upper()]) for reason in REASONS]


def _entry(one: Reason, number: int) -> Entry:
    aliases = (PREFIX + one.name.upper(),)
    return Entry("exit and crash reason", one.name, f"{one.counts} {one.crash}", number, aliases, one.causes, one.remedies, one.example)
