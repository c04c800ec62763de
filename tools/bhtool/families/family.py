# SPDX-License-Identifier: Apache-2.0
"""What there is to know of a CPU family. Each field is a fact of processors, of the backends for them, or of what boots on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Interrupts:
    """Lines and interrupt controllers, as board trees describe them."""

    controller: Literal["gic", "apic", "other"]  # other: monitors filter none yet, and sandboxes are granted none
    stretches: int  # of registers that the main controller has at least
    lines: range  # that devices may have
    has_vectors: bool  # a line comes with a vector that a core chooses; else with the line's own number
    private_line: str  # why nobody is given a line that is no device's
    sent_by_writes: bool  # what cores write to some addresses is an interrupt, but for the monitor's tables
    greatest_core_id: int
    start_by_ipi: bool  # a core that may send every interrupt starts and stops the cores of its own sandbox below its monitor


@dataclass(frozen=True)
class PoolFrames:
    """What a backend takes of a pool besides translation tables and the private copy of the monitor."""

    sandbox: int
    core: int


@dataclass(frozen=True, kw_only=True)
class Monitor:
    ram_unit: int  # start-up maps RAM as memory in such pieces, whatever else is device memory to it
    image_address: int  # monitor.lds; of a board that does not say where its own is
    copy_frames: int  # text, constants, data of a private copy
    backends: Mapping[str, PoolFrames]  # by the names that platforms give them
    table_spans: tuple[int, ...]  # what each level's table of stage 2 covers, root first; the root is one page
    kicks_by_poison: bool  # a kicker maps its victim's root page
    reads_guests: bool  # a monitor decodes its guest's instructions, and so maps its RAM
    exits_to_sleep: bool  # of a sandbox that somebody may kick, unless it is `trusted-idle`
    exits_to_identify: bool  # a program that asks what processor it has always exits


@dataclass(frozen=True, kw_only=True)
class Programs:
    """What runs in sandboxes."""

    elf_machine: int
    link_offset: int  # from the start of RAM to the lowest address a program may be linked at: docs/guest.md
    stack_offset: int | None  # from the start of RAM to the initial stack's top; None: it lies in the entry area, with the first tables
    entered_wide: bool  # in 64-bit mode, which a Multiboot kernel does not expect
    takes_flat: bool  # binaries without a header
    sdk: str  # clang's options for programs that keep to the entry contract
    sdk_address: int
    linux: Literal["tree", "zero-page", "none"]  # how Linux is told what it has; none: no Linux boots yet
    linux_kernel: Literal["Image", "zImage", "bzImage", "none"]  # what is entered
    linux_packed: bool  # Debian's kernel may be gzip'ed, and is booted unpacked
    linux_flavour: str = ""  # a word that Debian's packages of kernels for it have in their names; empty: none has
    linux_size: tuple[int, str] | None  # where a kernel says how much memory it takes, as `struct` reads it
    linux_console_is_pci: bool  # its console may be a UART on PCI
    address_end: int  # of guest-physical addresses
    sandbox_kernel: bool = True  # kernel/, its programs and the SDK are built for it
    zephyr_unfit: str = ""  # why none of Zephyr's boards fits a sandbox; empty: one does where there is a GICv3
    freertos_port: str = ""  # FreeRTOS' port where there is a GICv2; empty: there is none


@dataclass(frozen=True, kw_only=True)
class Frames:
    """How stack frames are linked, and what calls look like. A frame begins with the caller's frame pointer; the return address follows it."""

    word: int
    pointer: Callable[[Sequence[int]], int]  # number of the frame pointer in a crash record's registers
    link: int | None  # number of the link register
    is_call: Callable[[bytes], bool]  # the eight bytes before a return address


@dataclass(frozen=True, kw_only=True)
class Registers:
    """Of a crash record, and as gdb has them."""

    names: tuple[str, ...]  # in the order of each backend's hal_core_record
    recorded: tuple[str, ...]  # the first of them by gdb's names
    controls: Mapping[str, int]  # numbers of those that translate addresses; empty: QEMU or nobody translates
    stack_of_user: int | None  # number of the stack pointer that EL0 and EL1t have
    packet: tuple[tuple[str, int], ...]  # the first of gdb's `g` packet: name and bytes
    pc: str
    sp: str
    gdb: str  # the architecture's name
    call_span: int  # how far an instruction reaches at most
    instruction_step: int  # instructions begin at multiples of it
    breakpoint_bytes: int
    in_guest: Callable[[int], bool] | None  # by the status register; None: it does not say, and addresses decide
    frames: Frames


@dataclass(frozen=True, kw_only=True)
class Images:
    """Bootable files for real machines."""

    form: Literal["iso", "fit"]
    uboot: str = ""  # the architecture as U-Boot calls it
    uboot_end: int = 0  # the last address it may use


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Where hostile programs of the sandbox kernel stand, and what they can reach."""

    address_bits: int  # what first stages can address
    reported: int  # addresses that a monitor is told of
    ram_mib: int  # as little as holds kernel and queue: it is scrubbed at every restart
    queue_offset: int  # in RAM: above the kernel
    graft: int  # graft_start() of probe/mapping.c: the leaf of 1 GiB


@dataclass(frozen=True, kw_only=True)
class Counting:
    """How benchmarks read an emulator."""

    options: tuple[str, ...] = ()  # that make guests' counter count nanoseconds
    sleeps_at_start: bool = False  # firmware and start-up sleep, so that the clock says more than was executed
    cost_share: float = 1  # of the limits
    has_peers: bool = False  # other kernels' figures for threads were counted on it
    bao_boot: int | None = None  # instructions, measured in the same way on the same machine


@dataclass(frozen=True, kw_only=True)
class Family:
    name: str  # of its folders, and `arch` of its platforms
    title: str
    has_ports: bool  # an I/O space besides memory
    interrupts: Interrupts
    monitor: Monitor
    programs: Programs
    registers: Registers
    images: Images
    campaign: Campaign
    counting: Counting
