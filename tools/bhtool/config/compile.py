# SPDX-License-Identifier: Apache-2.0
"""The configuration compiler: a partition file in, a Plan out.

    read ──► form ──► machine, domains ──► meaning ──► place ──► grants ──► budget ──► payloads ──► snapshot ──► table
Each stage works only on what the stages before found good; the first that finds an error is the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bhtool.abi import lib
from bhtool.config.acpi import Bus, Port
from bhtool.config.annotated import shown
from bhtool.config.budget import count_tables, judge_budget, judge_pieces
from bhtool.config.channel_places import View, judge_channels, plan_channels, views_of
from bhtool.config.check_allowed import judge_addresses
from bhtool.config.check_initrd import DOUBTFUL, doubts
from bhtool.config.check_iommu import judge_reach
from bhtool.config.check_memory import LINUX_LEAST
from bhtool.config.comments import swallowed_lines
from bhtool.config.domains import Domains, Sandbox, find_domains, read_domains
from bhtool.config.explain import MONITOR, list_holdings
from bhtool.config.flat import PROPERTY
from bhtool.config.form import judge_form
from bhtool.config.grants import grants_of, interrupt_controllers, plan_sandbox
from bhtool.config.initrd import missing_image, read_file, read_initrd
from bhtool.config.linux_arm import linux_arm_payload
from bhtool.config.linux_x86 import linux_x86_payload, pci_console
from bhtool.config.machine import BoardError, Costs, Device, Machine, Wire, read_machine
from bhtool.config.native import native_payload
from bhtool.config.nodes import no_domains
from bhtool.config.numa import judge_crossings
from bhtool.config.payload import NotYet, Payload, PayloadError, Piece, Resolve, Room, refuse_outside, refuse_overlaps
from bhtool.config.pci import bus_count, configuration, with_functions
from bhtool.config.pieces import pieces_in_ram
from bhtool.config.place import NoRoom, Placement, place, takes_largest
from bhtool.config.plan import Diagnostic, Holding, Location, Plan, Platform, SandboxPlan, Segment
from bhtool.config.pool import count_pool, frames_of, own_spans
from bhtool.config.private import read_private
from bhtool.config.rules import BY_ID, SYNTAX, diagnose, judge_meaning
from bhtool.config.source import SourceError, read_source
from bhtool.config.table import make_info, make_table
from bhtool.families.table import FAMILIES
from bhtool.text import size_text

UNSUPPORTED, BOARD, NO_ROOM, NO_SNAPSHOT = "BH-R004", "BH-R007", "BH-R037", "BH-R084"
OUTSIDE_RAM, TOO_BIG, NOT_YET, REACH = "BH-R063", "BH-R065", "BH-W060", "BH-R113"
BY_OWN_ADDRESSES, OVER_CHANNELS, MADE_BY_OTHERS = "BH-R123", "BH-R166", "BH-W152"
LITTLE_FOR_LINUX, NOBODY_HAS, CROSSES = "BH-R038", "BH-W031", "BH-W032"


class Refused(Exception):
    """A stage found errors; those after it have nothing to work on."""


def compile_partition(partition: Path, platform: Platform, resolve: Resolve) -> Plan:
    """Compiles and validates; what is wrong is in errors of the plan, never raised."""
    plan = Plan(platform.board_name, partition)
    try:
        domains = _read(plan, platform, resolve)
        _describe(plan, domains.machine)
        _place_all(plan, domains, platform, resolve)
        _settle_pools(plan, domains, platform)
        plan.table = make_table(plan, domains.machine.cores)
    except Refused:
        pass
    return plan


def survey_partition(partition: Path, platform: Platform) -> tuple[Plan, Domains | None]:
    """Who gets what, and where it lies, before any image is looked at. None: refused, and why is in errors of the plan."""
    plan = Plan(platform.board_name, partition)
    try:
        domains = _read(plan, platform)
        _describe(plan, domains.machine)
        _allocate(plan, domains, platform)
    except Refused:
        return plan, None
    return plan, domains


def _describe(plan: Plan, machine: Machine) -> None:
    """What it says of the machine, whatever is granted."""
    plan.ram = [(span.start, span.size) for span in machine.ram]
    if machine.iommu:
        plan.iommu, plan.iommu_bytes = machine.iommu.kind.number, machine.iommu.kind.table_bytes
        plan.iommu_compatible, plan.iommu_registers = machine.iommu.compatible, machine.iommu.registers.start


def _add(plan: Plan, found: list[Diagnostic]) -> None:
    """Sorts findings into errors and warnings; Refused if there is an error."""
    plan.warnings += [one for one in found if BY_ID[one.rule].is_warning]
    plan.errors += [one for one in found if not BY_ID[one.rule].is_warning]
    if plan.errors:  # whose cause may be
        plan.errors[:0] = [
            diagnose(SYNTAX, Location(shown(one.location.file), one.location.line), one.text) for one in swallowed_lines(plan.file)
        ]
    _stop_on_errors(plan)


def _stop_on_errors(plan: Plan) -> None:
    if plan.errors:
        raise Refused


def _read(plan: Plan, platform: Platform, resolve: Resolve | None = None) -> Domains:
    try:
        source = read_source(plan.file, platform.board)
        _add(plan, source.warnings + judge_form(source.root))
        node = find_domains(source.root)
        if node is None:
            _add(plan, [no_domains(source.root)])
        assert node is not None
        _add(plan, source.changes)
        costs = Costs(platform.switch_ns, platform.top_half_ns)
        machine = replace(read_machine(source.root, FAMILIES[platform.arch]), private=read_private(plan.platform), costs=costs)
        domains = read_domains(node, with_functions(machine))
    except SourceError as error:
        _add(plan, error.diagnostics)
        raise Refused from error
    except BoardError as error:
        _add(plan, [diagnose(BOARD, error.location, error.text)])
        raise Refused from error
    _add(plan, _judged(domains, resolve))
    return domains


def _judged(domains: Domains, resolve: Resolve | None) -> list[Diagnostic]:
    """With `resolve` a misspelt image of who has VCPUs comes first: that it is not the tool's own would otherwise be told instead."""
    if not resolve:
        return judge_meaning(domains)
    native = [one for one in domains.sandboxes if one.vcpus and not one.is_linux]
    misspelt = [(one, error) for one in native if (error := missing_image(resolve, one))]
    told = [diagnose(error.rule, one.where(error.property), error.text) for one, error in misspelt]
    follows = {(MADE_BY_OTHERS, one.vcpus[0].location.file, one.vcpus[0].location.line) for one, _ in misspelt}
    return told + [one for one in judge_meaning(domains) if (one.rule, one.file, one.line) not in follows]


def _place_all(plan: Plan, domains: Domains, platform: Platform, resolve: Resolve) -> None:
    """What a restart copies back is known once payloads are: if there is no room left for it, all is placed anew, with room for it."""
    copies, warnings = [0] * len(domains.sandboxes), plan.warnings
    while True:
        plan.segments, plan.holdings, plan.warnings = [], [], [*warnings]
        placement = _allocate(plan, domains, platform, copies)
        for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True):
            _load(plan, domains, sandbox, one, platform.arch, resolve)
        _stop_on_errors(plan)
        needed = _count_copies(plan)
        if _keep_snapshots(plan, placement, copies):
            return
        assert any(need > size for need, size in zip(needed, copies, strict=True))  # else each has its room
        copies = [max(pair) for pair in zip(needed, copies, strict=True)]


def _allocate(plan: Plan, domains: Domains, platform: Platform, copies: Sequence[int] = ()) -> Placement:
    """Where everything lies and who may touch it; what is left."""
    try:
        placement = _lay_out(plan, domains, platform, copies)
    except NoRoom as full:
        _add(plan, [_no_room(full, any(copies))])
        raise Refused from full
    _add(plan, list(_judge_rest(plan, domains, placement)))
    _add(plan, [diagnose(CROSSES, one.location, one.text) for one in judge_crossings(domains, plan.sandboxes)])
    _add(plan, [diagnose(REACH, one.location, one.text) for one in judge_reach(domains, plan.sandboxes)])
    _add(plan, [diagnose(BY_OWN_ADDRESSES, one.location, one.text) for one in judge_addresses(domains, plan.sandboxes)])
    _add(plan, [diagnose(OVER_CHANNELS, one.location, one.text) for one in judge_channels(domains, plan.sandboxes)])
    grants = {one.index: grants_of(domains, sandbox, one) for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True)}
    _add(plan, list(judge_budget(plan, grants)))
    for one in plan.sandboxes:
        page = make_info(one, grants[one.index], domains.machine.costs)
        plan.segments.append(Segment(f"{one.name}: information page", one.pool_hpa + lib.BH_POOL_INFO, page))
    return placement


def _no_room(full: NoRoom, with_copies: bool) -> Diagnostic:
    """With copies: all but them has had room."""
    free = ", ".join(f"{span} ({size_text(span.size)})" for span in full.free) or "none"
    amounts = f"{size_text(full.asked)} are asked for in all, and free of firmware, the monitor and pinned regions are {free}"
    if with_copies:
        text = f"there is no room for all that restarts copy back, as for the {size_text(full.size)} of `{full.owner.name}`: {amounts}"
        return diagnose(NO_SNAPSHOT, full.owner.location, text)
    if full.want.kind == "iommu":
        text = f"there is no room for the {size_text(full.size)} of the IOMMU's tables: {amounts}"
        return diagnose(NO_ROOM, full.owner.where("memory-region"), text)
    whose = f"{'channel ' if full.want.kind == 'channel' else ''}`{full.owner.name}`"
    text = f"there is no room for the {size_text(full.size)} of {whose}: {amounts}"
    return diagnose(NO_ROOM, full.owner.where("memory-region"), text)


def _judge_rest(plan: Plan, domains: Domains, placement: Placement) -> Iterator[Diagnostic]:
    """What is left may be nothing, or too little for Linux, or more than its sandbox can have."""
    for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True):
        if not takes_largest(domains, sandbox):
            continue
        where = sandbox.where("takes-the-rest")
        if not one.ram_size:
            yield diagnose(NO_ROOM, where, f"`{sandbox.name}` takes the rest, and others leave no 2 MiB of RAM")
        elif sandbox.is_linux and one.ram_size < LINUX_LEAST:
            yield diagnose(LITTLE_FOR_LINUX, where, f"`{sandbox.name}` runs Linux in the {size_text(one.ram_size)} that others leave")
        if placement.given_up:
            text = f"`{sandbox.name}` takes the rest, {size_text(one.ram_size)}, but nobody has {size_text(placement.given_up)}"
            yield diagnose(NOBODY_HAS, where, f"{text}: they do not fit between its addresses, or into the partition table")


def _lay_out(plan: Plan, domains: Domains, platform: Platform, copies: Sequence[int]) -> Placement:
    """How many tables a pool holds depends on where everything lies, so places are tried with pools that grow until they suffice. A
    sandbox that takes the rest has no more stretches of it than the partition table has rows."""
    sizes, stretches = [lib.BH_POOL_ARENA] * len(domains.sandboxes), lib.BH_MAX_REGIONS
    while True:
        placement = place(domains, sizes, copies, stretches)
        plan.shared_hpa, plan.iommu_hpa = placement.shared, placement.iommu
        plan.channels = plan_channels(domains, placement)
        plan.sandboxes = [plan_sandbox(domains, placement, sandbox) for sandbox in domains.sandboxes]
        for one in plan.sandboxes:
            count_tables(one, platform.arch, domains.machine.iommu)
        _settle_pools(plan, domains, platform)
        needed = [min(one.pool_size, lib.BH_MAX_POOL_BYTES) for one in plan.sandboxes]
        most = max(len(one.ram) for one in plan.sandboxes)
        too_many = sum(len(one.all_regions) for one in plan.sandboxes) - lib.BH_MAX_REGIONS
        if too_many > 0 and most > 1:
            stretches = max(1, most - too_many)
            continue
        if all(need <= size for need, size in zip(needed, sizes, strict=True)):
            return placement
        sizes = [max(pair) for pair in zip(needed, sizes, strict=True)]


def _settle_pools(plan: Plan, domains: Domains, platform: Platform) -> None:
    """What each monitor takes, as far as it is known."""
    for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True):
        spans = list(own_spans(domains.machine, sandbox, one, plan))
        one.pool_size = count_pool(one, spans, platform.arch, platform.backend)
        one.core_bytes = frames_of(platform.arch, platform.backend).core * lib.BH_PAGE_BYTES
    copies = [held for held in plan.holdings if held.what.startswith("boot snapshot of")]
    plan.holdings = list_holdings(domains, plan) + copies


def _load(plan: Plan, domains: Domains, sandbox: Sandbox, one: SandboxPlan, arch: str, resolve: Resolve) -> None:
    """One sandbox's software as segments of machine memory. Errors are noted, so that every sandbox gets its turn."""
    try:
        payload = _payload(domains, sandbox, one, arch, resolve)
        refuse_outside(payload, _room(one), TOO_BIG if sandbox.is_linux else OUTSIDE_RAM)
        refuse_overlaps(payload)
    except PayloadError as error:
        plan.errors.append(diagnose(error.rule, sandbox.where(error.property), error.text))
        return
    except NotYet as absent:
        text = f"`{absent}` of `{sandbox.name}` is not built or fetched yet, so where it lies was not judged"
        plan.warnings.append(diagnose(NOT_YET, sandbox.where(absent.property), text))
        return
    plan.warnings += [diagnose(DOUBTFUL, sandbox.where("initrd"), text) for text in payload.doubts]
    one.entry, one.arg, one.stack, one.entry_area = payload.entry, payload.arg, payload.stack, payload.entry_area
    one.clock_text = next(one.in_machine(payload.clock_text, 1))[0] if payload.clock_text else 0
    plan.segments += [segment for piece in payload.pieces for segment in _segments(one, piece)]


def _segments(one: SandboxPlan, piece: Piece) -> Iterator[Segment]:
    """Where the machine has what the sandbox sees in one piece."""
    done = 0
    for hpa, size in one.in_machine(piece.gpa, len(piece.data)):
        yield Segment(f"{one.name}: {piece.name}", hpa, piece.data[done : done + size])
        done += size


def _count_copies(plan: Plan) -> list[int]:
    """What restarts copy back, and how many bytes of it each sandbox has."""
    for one in plan.sandboxes:
        one.pieces = [(piece.start, len(piece.data)) for piece in pieces_in_ram(plan, one)] if one.restarts else []
    _add(plan, list(judge_pieces(plan)))
    return [one.snapshot_size for one in plan.sandboxes]


def _keep_snapshots(plan: Plan, placement: Placement, reserved: list[int]) -> bool:
    """Room for what start-up keeps of a payload, where no sandbox comes near: what is reserved, or what is left. False: there is none."""
    for one, held in zip(plan.sandboxes, reserved, strict=True):
        if not one.pieces:
            continue
        enough = one.snapshot_size <= held
        start = placement.copies[one.index] if enough else placement.free.take(one.snapshot_size, lib.BH_PAGE_BYTES)
        if start is None:
            return False
        one.snapshot_hpa = start
        plan.holdings.append(Holding("memory", start, one.snapshot_size, f"boot snapshot of `{one.name}`", MONITOR, None))
    return True


def _room(plan: SandboxPlan) -> Room:
    return Room(plan.ram_gpa, plan.ram_size)


def _payload(domains: Domains, sandbox: Sandbox, plan: SandboxPlan, arch: str, resolve: Resolve) -> Payload:
    room = _room(plan)
    initrd = read_initrd(resolve, sandbox)  # first: with modules may come another kernel
    image = read_file(resolve, sandbox, "image")
    load = sandbox.load_address
    if load is not None and not domains.machine.family.programs.takes_flat:
        raise PayloadError(UNSUPPORTED, f"a flat binary on a PC (`{PROPERTY}`)", PROPERTY)
    if not sandbox.is_linux:
        return native_payload(image, plan.image, arch, room, domains.machine.window, load)
    payload = _linux_payload(domains, sandbox, plan, image, initrd, load)
    if initrd:
        payload.doubts += doubts(initrd, plan.initrd, image, arch, plan.bootargs, room)
    return payload


def _linux_payload(domains: Domains, sandbox: Sandbox, plan: SandboxPlan, image: bytes, initrd: bytes, load: int | None) -> Payload:
    if domains.machine.family.programs.linux == "none":
        raise PayloadError(UNSUPPORTED, f"Linux on {domains.machine.family.title}")
    channels = tuple(views_of(domains, sandbox))
    if domains.machine.family.programs.linux == "tree":
        controllers = interrupt_controllers(domains.machine, sandbox)
        return linux_arm_payload(image, initrd, plan.image, domains.machine, plan, sandbox.devices, controllers, load, channels)
    uarts = [
        Port(span.start, span.size, _shown(plan, device.wires[:1]))
        for device in _console_first(sandbox)
        if device.is_uart
        for span in device.ports
    ]
    channels = tuple(_with_pin(plan, one) for one in channels)
    cards = [one for one in sandbox.devices if one.is_pci_uart]
    console = next((pci_console(one, len(uarts) + len(cards)) for one in cards if one.node is sandbox.console_node), "")
    bus, room = _bus(sandbox, plan), _room(plan)
    return linux_x86_payload(image, initrd, plan.image, plan.bootargs, plan.hardware_ids, uarts, bus, room, console, channels)


def _console_first(sandbox: Sandbox) -> list[Device]:
    return sorted(sandbox.devices, key=lambda device: device.node is not sandbox.console_node)


def _pins(plan: SandboxPlan) -> dict[int, int]:
    """Lines as Linux sees them: in their order they are pins 1, 3, 4, ... of its own I/O APIC (hal/x86/apic/ioapic_boot.c)."""
    return {line.line: n + 2 if n else 1 for n, line in enumerate(plan.lines)}


def _shown(plan: SandboxPlan, wires: tuple[Wire, ...]) -> tuple[Wire, ...]:
    if "irq" in plan.unprotected:
        return wires
    return tuple(replace(wire, number=_pins(plan)[wire.number]) for wire in wires)


def _with_pin(plan: SandboxPlan, view: View) -> View:
    """Who has the machine's I/O APIC is not rung: its doorbells are in a monitor's alone."""
    return replace(view, line=0 if "irq" in plan.unprotected else _pins(plan).get(view.line, 0))


def _bus(sandbox: Sandbox, plan: SandboxPlan) -> Bus | None:
    """The buses of its PCI functions: a kernel reads them without exits, but for a host whose registers are behind ports."""
    own = [(device, device.function) for device in sandbox.devices if device.function]
    if not own:
        return None
    routes = [
        (function.id >> 3, pin - 1, wire)
        for device, function in own
        for pin, wire in zip(device.node.properties["interrupts"].cells if device.wires else [], _shown(plan, device.wires), strict=False)
    ]
    memory = [bar.span for _, function in own for bar in function.bars if not bar.is_ports]
    ports = [bar.span for _, function in own for bar in function.bars if bar.is_ports]
    return Bus(configuration(own[0][1].host), bus_count(own[0][1].host) - 1, tuple(memory), tuple(ports), tuple(routes))
